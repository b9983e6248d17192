"""What is told of a seal and of secrets, without a screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.redact.redactor import Redactor
from stashdbg_core.redact.rule_file import RuleSet
from stashdbg_core.redact.scan import scan_recording
from stashdbg_core.seal import Broken, Uncovered, Verdict, VerifyResult, seal_path, seal_recording, write_seal
from stashdbg_core.session.masked_copy import masked_copy
from stashdbg_core.session.masks import mask_spans
from stashdbg_core.session.seal_place import has_seal, seal_file_of
from stashdbg_core.session.trust import check_seal, secret_words, state_of
from stashdbg_core.stash import Stash
from stashdbg_core.store.open import open_recording

KEY = "sk-" + "ant-api03-" + "Ab3x" * 10


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    with Stash.record(path, redact=None) as stash:
        stash.intercept("tool", "a", lambda: {"city": "Rome"}, input={"password": "hunter2-x"})
        stash.intercept("tool", "b", lambda: {KEY: KEY}, input=None)
    return path


@pytest.mark.parametrize(
    ("result", "word", "words"),
    [
        (VerifyResult(Verdict.SEALED, ""), "sealed", "sealed"),
        (VerifyResult(Verdict.NO_SEAL, ""), "none", "no seal"),
        (VerifyResult(Verdict.VALUE_EDITED, "", 12), "broken", "BROKEN at event 12: value edited"),
        (VerifyResult(Verdict.CUT_SHORT, "", 3), "broken", "BROKEN at event 3: cut short"),
        (VerifyResult(Verdict.META_EDITED, ""), "broken", "BROKEN: meta edited"),
        (VerifyResult(Verdict.FOREIGN_SEAL, ""), "broken", "the seal file is no seal of ours"),
        (
            VerifyResult(Verdict.REDACTED, "", uncovered=(Uncovered(1, "input", True),) * 3),
            "redacted",
            "sealed, 3 fields redacted and not covered",
        ),
    ],
)
def test_every_verdict_has_its_words(result: VerifyResult, word: str, words: str) -> None:
    state = state_of(result)
    assert (state.word, state.words) == (word, words)


def test_every_verdict_of_all_gives_words() -> None:
    assert all(state_of(VerifyResult(verdict, "m", 1)).words for verdict in Verdict)


def test_events_are_marked_with_all_their_verdicts() -> None:
    broken = (Broken(2, "value", Verdict.VALUE_EDITED), Broken(2, "notes", Verdict.NOTES_EDITED))
    broken = (*broken, Broken(5, "input", Verdict.INPUT_EDITED))
    state = state_of(
        VerifyResult(Verdict.VALUE_EDITED, "", 2, broken, (Uncovered(5, "value", True), Uncovered(None, "meta", True)))
    )
    assert state.broken_words(2) == "value edited, notes edited"
    assert state.event_words(2) == ""
    assert state.event_words(5) == "seal broken: input edited · value not covered"
    assert state.event_words(3) == ""
    assert (state.is_broken(5, "input"), state.is_broken(5, "value")) == (True, False)


def test_the_seal_beside_the_file_is_compared(run: Path) -> None:
    recording = open_recording(run)
    assert not has_seal(recording)
    assert check_seal(recording).words == "no seal"
    write_seal(seal_recording(recording), seal_path(run))
    assert check_seal(recording).words == "sealed"
    run.write_text(run.read_text().replace("Rome", "Roma"))
    assert check_seal(open_recording(run)).words == "BROKEN at event 0: value edited"


def test_a_masked_copy_is_scanned_before_and_after_and_keeps_the_seal(run: Path) -> None:
    recording = open_recording(run)
    write_seal(seal_recording(recording), seal_path(run))
    copy = masked_copy(recording, RuleSet())
    assert {(place.seq, place.part) for place in copy.masked} == {(0, "input"), (1, "value")}
    assert copy.left == []
    written = copy.write(run.with_name("copy.json"), seal=seal_path(run))
    assert written.unsealed is None
    assert written.seal == run.with_name("copy.seal.json")
    assert KEY not in written.path.read_text()
    assert check_seal(open_recording(written.path)).word == "redacted"


def test_a_copy_of_what_is_not_as_sealed_has_no_seal_and_says_so(run: Path) -> None:
    write_seal(seal_recording(open_recording(run)), seal_path(run))
    run.write_text(run.read_text().replace("Rome", "Roma"))
    written = masked_copy(open_recording(run), RuleSet()).write(run.with_name("copy.json"), seal=seal_path(run))
    assert written.seal is None
    assert written.unsealed is not None
    assert "does not match its seal" in written.unsealed
    assert written.path.exists()


def test_no_secret_stands_in_the_pointer_of_a_finding(run: Path) -> None:
    findings = list(scan_recording(open_recording(run), Redactor()))
    assert findings
    assert all(KEY not in finding.pointer for finding in findings)
    assert any("REDACTED" in finding.pointer for finding in findings)


def test_secrets_of_a_value_are_told_by_kind(run: Path) -> None:
    recording = open_recording(run)
    first, second = recording.events[0], recording.events[1]
    assert first.input_ref is not None
    assert secret_words(recording, first.input_ref) == "1 password"
    assert secret_words(recording, first.ref) == ""
    assert "anthropic-key" in secret_words(recording, second.ref)


def test_where_no_seal_can_lie_is_said(run: Path) -> None:
    with pytest.raises(StashError, match="no file"):
        seal_file_of(Stash.record().recording())
    archive = run.with_name("x.zip")
    archive.write_bytes(b"PK\x03\x04")
    recording = open_recording(run)
    inside = type(recording)(recording.id, recording.events, recording.blobs, recording.meta, path=archive)
    with pytest.raises(StashError, match="archive"):
        seal_file_of(inside)


def test_masks_are_found_where_they_stand() -> None:
    text = "a [REDACTED:openai-key#1] b [REDACTED] c REDACTED"
    assert [text[low:high] for low, high in mask_spans(text)] == ["[REDACTED:openai-key#1]", "[REDACTED]"]
    assert mask_spans("nothing") == []
