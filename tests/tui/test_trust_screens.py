"""Seal, masks, redaction and reports on the screen."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pytest
from textual.events import Key
from textual.widgets import Input

from stashdbg_core.model import RawObject, Recording
from stashdbg_core.redact.rule_file import RuleSet
from stashdbg_core.seal import read_seal, seal_path, seal_recording, verify_with_file, write_seal
from stashdbg_core.session.masked_copy import masked_copy
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import write_recording

KEY = "sk-" + "ant-api03-" + "Ab3x" * 10
HOSTILE = "[/] \x1b]0;PWN\x07 \u202e x"


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)


def tape(recordings, **more) -> Recording:
    made = recordings.Tape("trip")
    for number in range(4):
        made.add("llm", "model-x", {"role": "assistant", "content": f"turn {number}"}, {"messages": []})
        made.add(
            "tool", "parcel", {"city": "Rome", "n": number}, {"id": number, "api_key": KEY, "password": "hunter2-x"}
        )
    made.add("tool", "hostile", HOSTILE, HOSTILE)
    return made.done({"complete": True, **more})


@pytest.fixture
def run_file(recordings, tmp_path: Path) -> Path:
    return write_recording(tape(recordings), tmp_path / "run.json")


@pytest.fixture
def sealed(run_file: Path) -> Path:
    write_seal(seal_recording(open_recording(run_file)), seal_path(run_file))
    return run_file


@pytest.fixture
def broken(sealed: Path) -> Path:
    sealed.write_text(sealed.read_text().replace('"Rome","n":2', '"Roma","n":2'))
    return sealed


@pytest.fixture
def masked(sealed: Path) -> Path:
    copy = masked_copy(open_recording(sealed), RuleSet())
    return copy.write(sealed.with_name("masked.json"), seal=seal_path(sealed)).path


async def quiet(d) -> None:
    """Wait for what dialogs do in threads."""
    for _ in range(3):
        await d.app.workers.wait_for_complete()
        await d.settle()


async def menu(d, letter: str) -> None:
    await d.press("a")
    await d.press(letter)
    await quiet(d)


# The seal


def test_a_sealed_recording_says_so_without_being_asked(drive, sealed):
    async def test(d):
        await quiet(d)
        assert d.status.rstrip().endswith("· sealed")

    drive(test, paths=[sealed])


def test_without_a_seal_nothing_is_claimed(drive, run_file):
    async def test(d):
        await quiet(d)
        assert "seal" not in d.status

    drive(test, paths=[run_file])


def test_a_broken_event_is_marked_with_its_verdict(drive, broken):
    async def test(d):
        await quiet(d)
        assert "BROKEN at event 5: value edited" in d.status
        marked = [line for line in d.lines() if "seal broken: value edited" in line and "parcel" in line]
        assert len(marked) == 1
        assert "✗5" in marked[0]
        await d.press("colon", "5", "enter")
        assert d.status.startswith(" event 5 ·")
        assert d.status.count("value edited") == 1
        assert "✗ brok" in d.text()
        await d.press("2")
        assert "✗ brok" not in d.text()

    drive(test, paths=[broken], size=(120, 30))


def test_a_masked_copy_shows_masks_and_what_is_not_covered(drive, masked):
    async def test(d):
        await quiet(d)
        assert "sealed, 4 fields redacted and not covered" in d.status
        await d.press("j", "2")
        assert "input not covered" in d.status
        row = next(y for y, strip in enumerate(d.app.screen._compositor.render_strips()) if "password:" in strip.text)
        styles = {s.text: s.style for s in d.app.screen._compositor.render_strips()[row] if "REDACTED" in s.text}
        assert styles
        assert all(style.bold and style.italic for style in styles.values())
        assert any("░1" in line for line in d.lines())

    drive(test, paths=[masked], size=(130, 30))


@pytest.mark.parametrize("content", [b"", b"{}", b"\x00\xff", b'{"stash":"seal","version":9,"algorithm":"md5"}'])
def test_a_seal_file_that_is_none_is_told_and_harms_nothing(drive, run_file, content):
    async def test(d):
        seal_path(run_file).write_bytes(content)
        d.screen.check_seal()
        await quiet(d)
        assert ("seal" in d.status) == bool(content)
        await d.press("j")
        assert d.position == 1

    drive(test, paths=[run_file])


def test_verify_lists_what_is_broken_and_jumps_there(drive, broken):
    async def test(d):
        await quiet(d)
        await menu(d, "v")
        assert "value edited: the value of event 5 is not what" in d.text()
        await d.press("enter")
        assert d.position == 5
        assert d.app.screen is d.screen

    drive(test, paths=[broken])


def test_verify_compares_a_root_kept_elsewhere(drive, sealed):
    async def test(d):
        await quiet(d)
        await menu(d, "v")
        root = read_seal(seal_path(sealed)).root.hex()
        field = d.app.screen.query_one("#check-expect", Input)
        cases = {root: "(as expected)", "0" * 64: "another root than expected", "x": "is not a root"}
        for typed, expected in cases.items():
            field.value = typed
            field.focus()
            await d.press("enter")
            await quiet(d)
            assert expected in " ".join(d.text().split())
        await d.press("escape")
        assert d.app.screen is d.screen

    drive(test, paths=[sealed], size=(120, 36))


def test_sealing_asks_first_writes_beside_and_shows_the_root(drive, run_file):
    async def test(d):
        await menu(d, "s")
        assert "run.seal.json" in d.text()
        assert not seal_path(run_file).exists()
        await d.press("enter")
        await quiet(d)
        root = read_seal(seal_path(run_file)).root.hex()
        assert root in "".join(d.text().split()).replace("│", "")
        await d.press("escape")
        await quiet(d)
        assert d.status.rstrip().endswith("· sealed")
        assert verify_with_file(open_recording(run_file), seal_path(run_file)).valid

    drive(test, paths=[run_file])


def test_leaving_the_dialog_writes_nothing(drive, run_file):
    async def test(d):
        await menu(d, "s")
        await d.press("escape")
        await menu(d, "r")
        await d.press("escape")
        await menu(d, "x")
        await d.press("escape")
        await d.press("a", "escape")
        assert d.app.screen is d.screen
        assert [path.name for path in run_file.parent.iterdir() if path.is_file()] == ["run.json"]

    drive(test, paths=[run_file])


def test_a_seal_that_is_there_is_replaced_only_when_ticked(drive, sealed):
    async def test(d):
        before = seal_path(sealed).read_bytes()
        await menu(d, "s")
        await d.press("enter")
        await quiet(d)
        assert "is there already" in " ".join(d.text().split())
        assert seal_path(sealed).read_bytes() == before
        await d.press("tab", "space")
        d.app.screen.query_one("#seal-key").focus()
        await d.press("enter")
        await quiet(d)
        await d.press("escape")
        await quiet(d)
        assert d.status.rstrip().endswith("· sealed")
        assert seal_path(sealed).read_bytes() != before

    drive(test, paths=[sealed])


def test_what_is_damaged_is_not_sealed(drive, broken):
    async def test(d):
        before = seal_path(broken).read_bytes()
        await menu(d, "s")
        await d.press("tab", "space", "shift+tab", "enter")
        await quiet(d)
        assert "this cannot be sealed: the value of event 5 is damaged" in " ".join(d.text().split())
        assert seal_path(broken).read_bytes() == before

    drive(test, paths=[broken], size=(120, 36))


def test_a_seal_is_signed_with_a_key_and_a_missing_key_is_said(drive, run_file, tmp_path):
    key = tmp_path / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True, stdin=subprocess.DEVNULL
    )

    async def test(d):
        await menu(d, "s")
        field = d.app.screen.query_one("#seal-key", Input)
        field.value = str(tmp_path / "absent")
        await d.press("enter")
        await quiet(d)
        assert "no such key" in d.text()
        assert not seal_path(run_file).exists()
        field.value = str(key)
        await d.press("enter")
        await quiet(d)
        assert "signed and sealed" in d.text()
        assert read_seal(seal_path(run_file)).signature is not None

    drive(test, paths=[run_file])


def test_what_has_no_file_of_its_own_says_why_it_cannot_be_sealed(drive, agent):
    async def test(d):
        await menu(d, "s")
        assert d.app.screen is d.screen
        assert "this recording has no file" in d.status

    drive(test, recording=agent)


def test_letters_typed_right_after_the_menu_reach_it(drive, run_file):
    async def test(d):
        d.app.post_message(Key("a", "a"))
        d.app.post_message(Key("s", "s"))
        await quiet(d)
        assert type(d.app.screen).__name__ == "SealDialog"

    drive(test, paths=[run_file])


# Masking


def test_redacting_scans_writes_a_copy_and_opens_it(drive, sealed):
    async def test(d):
        before = sealed.read_bytes()
        await menu(d, "r")
        text = d.text()
        assert "8 places in 4 events: 4 anthropic-key, 4 password" in text
        assert "/password" in text
        assert KEY not in text
        await d.press("enter")
        await quiet(d)
        copy = sealed.with_name("run.masked.json")
        assert KEY not in copy.read_text()
        assert verify_with_file(open_recording(copy), seal_path(copy)).verdict == "redacted"
        assert sealed.read_bytes() == before
        assert "A scan of it finds nothing more." in d.text()
        d.app.screen.query_one("#do-open").press()
        await quiet(d)
        assert d.screen.session.recording.path == copy
        assert "4 fields redacted" in d.status

    drive(test, paths=[sealed])


def test_a_copy_never_replaces_a_file(drive, run_file):
    async def test(d):
        await menu(d, "r")
        d.app.screen.query_one("#redact-path", Input).value = str(run_file)
        before = run_file.read_bytes()
        await d.press("enter")
        await quiet(d)
        assert "there is a file of that name" in d.text()
        assert run_file.read_bytes() == before

    drive(test, paths=[run_file])


def test_a_value_with_secrets_is_written_only_when_asked_again(drive, run_file, tmp_path):
    async def test(d):
        target = tmp_path / "value.json"
        await d.press("j", "2", "colon")
        d.screen.prompt.query_one(Input).value = f"write {target}"
        await d.press("enter")
        await quiet(d)
        assert "it holds 1 anthropic-key, 1 password" in d.text()
        assert not target.exists()
        await d.press("escape")
        assert not target.exists()
        await d.press("1", "colon")
        d.screen.prompt.query_one(Input).value = f"write {target}"
        await d.press("enter")
        await quiet(d)
        assert json.loads(target.read_text()) == {"city": "Rome", "n": 0}

    drive(test, paths=[run_file])


# Reports


def test_a_report_is_chosen_read_and_written(drive, run_file):
    async def test(d):
        await menu(d, "x")
        text = d.text()
        assert "[x] conv-1" in text
        assert "of 20 MB" in text
        assert "masked; nothing else looks like a secret" in text
        await d.press("j", "space")
        await quiet(d)
        assert "[ ] file-transcript" in d.text()
        assert "transcript.txt" not in d.text()
        await d.press("e")
        await d.press("enter")
        assert "needs a title" in d.text()
        await d.type("Parcel")
        d.app.screen.query_one("#report-steps", Input).value = f"run it with {KEY}"
        await d.press("enter")
        await quiet(d)
        (archive,) = run_file.parent.glob("*-parcel.zip")
        assert "✓ written" in d.text()
        with zipfile.ZipFile(archive) as opened:
            names = opened.namelist()
            assert names[0] == "manifest.json"
            assert "transcript.txt" not in names
            assert all(KEY.encode() not in opened.read(name) for name in names)
            assert json.loads(opened.read("manifest.json"))["report"]["title"] == "Parcel"
        await d.press("escape")
        assert "report written" in d.status

    drive(test, paths=[run_file])


def test_every_file_of_a_report_can_be_read_before(drive, run_file):
    async def test(d):
        await menu(d, "x")
        screen = d.app.screen
        for file in screen.bundle.files:
            place = next(n for n, row in enumerate(screen.list.rows) if row.target == file.name)
            while screen.list.cursor < place:
                await d.press("j")
            assert file.name in str(screen.preview.border_title)
            assert screen.preview.row_count > 0
        await d.press("tab")
        assert screen.preview.has_focus

    drive(test, paths=[run_file], size=(120, 36))


def test_the_last_conversation_cannot_be_left_out(drive, run_file):
    async def test(d):
        await menu(d, "x")
        await d.press("space")
        await quiet(d)
        assert "a report holds at least one conversation" in d.text()
        assert "[x] conv-1" in d.text()

    drive(test, paths=[run_file])


def test_hostile_text_reaches_no_dialog_as_it_is(drive, recordings, tmp_path):
    made = recordings.Tape(HOSTILE)
    made.add("llm", HOSTILE, {"password": KEY, HOSTILE: HOSTILE}, HOSTILE, label=HOSTILE)
    path = write_recording(made.done({"complete": True, HOSTILE: HOSTILE}), tmp_path / "a[b]c.json")

    async def test(d):
        for letter in "vsrx":
            await menu(d, letter)
            text = d.text()
            assert not set(text) & {"\x1b", "\x07", "\u202e"}
            await d.press("escape")
            await quiet(d)
        assert d.app.screen is d.screen

    drive(test, paths=[path], size=(120, 36))


def test_bundles_open_one_recording_or_by_name(drive, recordings, tmp_path):
    from datetime import UTC, datetime

    from stashdbg_core.report import Fields, export

    one, two = tape(recordings), tape(recordings, createdAt="2026-01-01")
    two = Recording("second", two.events, two.blobs, RawObject.of({"complete": True}))
    now = datetime(2026, 1, 1, tzinfo=UTC)
    single, several = tmp_path / "one.zip", tmp_path / "two.zip"
    single.write_bytes(export([one], None, Fields("t"), now))
    several.write_bytes(export([one, two], None, Fields("t"), now))

    async def test(d):
        assert d.screen.session.recording.id == "trip"
        assert d.screen.session.count == 9
        d.app.open_file(several / "recordings" / "run-2.json")
        await quiet(d)
        assert d.screen.session.recording.id == "second"
        d.app.open_file(several)
        await quiet(d)
        assert d.app.paths == [several / "recordings" / f"run-{n}.json" for n in (1, 2)] + [single]
        assert d.screen.session.recording.path == d.app.paths[0]
        await menu(d, "s")
        assert "lies in an archive" in d.status

    drive(test, paths=[single])
