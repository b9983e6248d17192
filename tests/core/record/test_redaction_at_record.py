"""Secrets are masked on their way to the tape; the program never sees a mask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.calls import DROP, CallOptions, RedactContext
from stashdbg_core.errors import StashError
from stashdbg_core.record import DEFAULT, Recorder
from stashdbg_core.redact import Redactor
from stashdbg_core.store.writer import encode_recording

SECRET = "sk-proj-" + "Ab3" * 16


def _everywhere(tape: Recorder) -> None:
    result = {"headers": {"Authorization": f"Bearer {SECRET}"}, "text": f"key {SECRET}."}
    assert tape.call("tool", "x", lambda: result, input=[SECRET]) is result
    assert result["text"] == f"key {SECRET}."
    with pytest.raises(ValueError, match=SECRET):
        tape.call(
            "tool",
            f"get {SECRET}",
            lambda: int(SECRET),
            options=CallOptions(label=SECRET, call_id=SECRET, thread=SECRET),
        )
    half = len(SECRET) // 2
    assert (
        "".join(tape.stream("llm", "chat", lambda: ["my ", SECRET[:half], SECRET[half:], " ok"])) == f"my {SECRET} ok"
    )


def test_no_secret_reaches_the_tape_by_any_way(make: Any, read: Any) -> None:
    tape = make(redact=DEFAULT, meta={"token": SECRET, "note": f"used {SECRET}"})
    _everywhere(tape)
    text = encode_recording(read(tape).recording, flat=True)
    assert SECRET not in text
    assert SECRET[8:30] not in text
    assert text.count("[REDACTED:") >= 8
    assert read(tape).recording.meta["redaction"]["rules"] == "default"


def test_nothing_of_a_secret_is_in_the_journal_while_it_is_written(tmp_path: Path) -> None:
    tape = Recorder(path=tmp_path / "run.json")
    _everywhere(tape)
    assert SECRET[8:30].encode() not in (tmp_path / "run.json.journal").read_bytes()
    tape.close()
    assert SECRET[8:30].encode() not in (tmp_path / "run.json").read_bytes()


def test_a_run_that_raised_says_so_without_the_secret(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), Recorder(path=tmp_path / "run.json") as tape:
        raise RuntimeError(f"refused {SECRET}")
    exception = tape.recording().meta["exception"]
    assert exception["class"] == "builtins:RuntimeError"
    assert exception["text"].startswith("refused [REDACTED:")


def test_redaction_can_be_off(make: Any, read: Any) -> None:
    tape = make(redact=None)
    tape.call("tool", "x", lambda: SECRET)
    assert read(tape).values == [SECRET]
    assert read(tape).recording.meta["redaction"] == {"rules": "off"}


def test_functions_get_a_copy_and_the_context_and_the_default_rules_stay_on(make: Any, read: Any) -> None:
    contexts: list[RedactContext] = []
    live = {"name": "Ada", "key": SECRET, "pair": (1, 2)}

    def mask(value: Any, context: RedactContext) -> Any:
        contexts.append(context)
        if isinstance(value, dict):
            assert value["pair"] == (1, 2)
            value["name"] = "someone"
        return value

    tape = make(redact=mask)
    assert tape.call("tool", "x", lambda: live, input=5) is live
    assert live["name"] == "Ada"
    assert contexts == [RedactContext("tool", "x", "input", 0), RedactContext("tool", "x", "value", 0)]
    stored = read(tape).values[0]
    assert stored["name"] == "someone"
    assert "REDACTED" in stored["key"]
    assert stored["pair"] == (1, 2)
    assert read(tape).recording.meta["redaction"]["functions"] == 1


def test_drop_stores_only_that_the_call_was_made(make: Any, read: Any) -> None:
    tape = make(redact=[lambda value, context: DROP if context.kind == "value" else value, None])
    tape.call("tool", "x", lambda: "private", input="kept " + SECRET)
    seen = read(tape)
    assert seen.trees == [{"$stash": "dropped"}]
    assert seen.inputs == ["kept " + SECRET]


def test_names_that_are_one_once_masked_count_together(make: Any, read: Any) -> None:
    tape = make(redact=[Redactor()])
    tape.call("tool", f"get {SECRET}", lambda: 1)
    tape.call("tool", f"get {SECRET}", lambda: 2)
    assert [event.ordinal for event in read(tape).events] == [0, 1]
    assert len({event.key for event in read(tape).events}) == 1


def test_a_step_that_is_none_of_these_is_refused() -> None:
    with pytest.raises(StashError, match="redact step"):
        Recorder(redact=[3])  # type: ignore[list-item]
