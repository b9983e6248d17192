"""``stashdbg redact``."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

KEY = "sk-" + "ant-api03-" + "Ab3" * 12
CALLS = [
    {"value": {"headers": {"authorization": f"Bearer {KEY}"}, "text": "fine"}, "input": {"password": "hunter2-x"}},
    {"value": "nothing", "label": f"with {KEY}"},
    {"value": {"max_tokens": 4096}},
]


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))


def test_the_copy_holds_no_secret_and_says_so(make: Callable, stashdbg: Callable, tmp_path: Path) -> None:
    path, out = make(CALLS), tmp_path / "out.json"
    before = path.read_bytes()
    ran = stashdbg("redact", path, "-o", out)
    assert (ran.code, ran.out) == (0, f"{out}\n")
    assert "masked 3 places in 2 events: 2 anthropic-key, 1 password" in ran.err
    assert "/headers/authorization" in ran.err
    assert path.read_bytes() == before
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    text = out.read_text()
    assert KEY not in text
    assert "hunter2" not in text
    assert "Bearer [REDACTED:anthropic-key#1]" in text
    assert '"max_tokens":4096' in text
    assert json.loads(text)["meta"]["redaction"]["counts"] == {"anthropic-key": 2, "password": 1}
    assert stashdbg("scan", out).code == 0


def test_redacting_twice_changes_nothing(make: Callable, stashdbg: Callable, tmp_path: Path) -> None:
    first, second = tmp_path / "1.json", tmp_path / "2.json"
    stashdbg("redact", make(CALLS), "-o", first)
    ran = stashdbg("redact", first, "-o", second)
    assert (ran.code, "nothing to mask" in ran.err) == (0, True)
    assert second.read_bytes() == first.read_bytes()


def test_json_lists_every_place(make: Callable, stashdbg: Callable, tmp_path: Path) -> None:
    ran = stashdbg("redact", make(CALLS), "-o", tmp_path / "out.json", "--json")
    report = json.loads(ran.out)
    assert report["file"] == str(tmp_path / "out.json")
    assert report["counts"] == {"anthropic-key": 2, "password": 1}
    assert (report["left"], report["seal"]) == ([], None)
    assert {"seq": 0, "part": "input", "pointer": "/password", "kind": "password"} in report["masked"]
    assert KEY not in ran.out


def test_a_file_is_masked_in_place_only_when_asked(make: Callable, stashdbg: Callable, tmp_path: Path) -> None:
    path = make(CALLS)
    assert stashdbg("redact", path, "-o", path).out == f"{tmp_path / 'run-2.json'}\n"
    assert KEY in path.read_text()
    assert stashdbg("redact", path, "-o", path, "--force").out == f"{path}\n"
    assert KEY not in path.read_text()


def test_a_piece_that_many_values_share_is_masked_for_all(stashdbg: Callable, tmp_path: Path) -> None:
    from stashdbg import Stash

    tools = [{"name": f"tool-{n}", "description": "d" * 100, "config": {"api_key": KEY}} for n in range(20)]
    with Stash.record(tmp_path / "run.json", redact=None) as stash:
        for turn in range(5):
            stash.intercept("llm", "m", lambda: "ok", input={"tools": tools, "turn": turn})
    ran = stashdbg("redact", tmp_path / "run.json", "-o", tmp_path / "out.json")
    assert ran.code == 0
    assert KEY not in (tmp_path / "out.json").read_text()
    assert (tmp_path / "out.json").stat().st_size < 2 * (tmp_path / "run.json").stat().st_size
    shown = json.loads(stashdbg("show", tmp_path / "out.json", "--json").out)
    for event in shown["events"]:
        assert event["input"]["tools"][19]["config"] == {"api_key": "[REDACTED:anthropic-key#1]"}


def test_a_damaged_file_gives_up_no_secret_either(make: Callable, stashdbg: Callable, tmp_path: Path) -> None:
    path = make(CALLS)
    path.write_bytes(path.read_bytes().replace(b'"fine"', b'"FINE"')[:-40])
    ran = stashdbg("redact", path, "-o", tmp_path / "out.json")
    assert ran.code == 0
    assert "note: " in ran.err
    assert KEY not in (tmp_path / "out.json").read_text()


def test_the_copy_of_a_sealed_recording_is_sealed_too(make: Callable, stashdbg: Callable, tmp_path: Path) -> None:
    from stashdbg_core.seal.make import seal_recording
    from stashdbg_core.seal.seal_file import read_seal, seal_path, write_seal
    from stashdbg_core.seal.verify import verify_recording
    from stashdbg_core.store.open import open_recording

    path = make(CALLS)
    seal = seal_recording(open_recording(path))
    write_seal(seal, seal_path(path))
    ran = stashdbg("redact", path, "-o", tmp_path / "out.json", "--json")
    report = json.loads(ran.out)
    assert report["seal"] == str(seal_path(tmp_path / "out.json"))
    assert seal.secret is not None
    assert seal.secret.hex() not in Path(report["seal"]).read_text()
    found = verify_recording(open_recording(tmp_path / "out.json"), read_seal(report["seal"]))
    assert found.valid
    assert {place.seq for place in found.uncovered} == {0, 1}


def test_a_seal_that_does_not_fit_is_not_carried_over(make: Callable, stashdbg: Callable, tmp_path: Path) -> None:
    from stashdbg_core.seal.make import seal_recording
    from stashdbg_core.seal.seal_file import seal_path, write_seal
    from stashdbg_core.store.open import open_recording

    other = make([{"value": "other"}], "other.json")
    path = make(CALLS)
    write_seal(seal_recording(open_recording(other)), seal_path(path))
    ran = stashdbg("redact", path, "-o", tmp_path / "out.json")
    assert (ran.code, ran.out) == (0, f"{tmp_path / 'out.json'}\n")
    assert "the copy has no seal" in ran.err
    assert not seal_path(tmp_path / "out.json").exists()
