"""A redacted recording is matched in redacted form, and replay itself redacts nothing."""

from __future__ import annotations

from typing import Any

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.record.recorder import Recorder
from stashdbg_core.replay import Replayer

SECRET = "sk-proj-" + "Ab3x" * 12
OTHER = "sk-proj-" + "Qw9z" * 12


def never() -> Any:
    raise AssertionError("replay ran the real call")


def test_inputs_with_secrets_match_whatever_their_number() -> None:
    recorder = Recorder()
    recorder.call("tool", "first", lambda: None, input={"token": OTHER})
    recorder.call("tool", "login", lambda: {"token": SECRET}, input={"auth": f"Bearer {SECRET}", "user": "u"})
    recording = recorder.recording()
    assert SECRET.encode() not in b"".join(recording.blobs.payload(ref).raw for ref in recording.blobs.refs())
    for match in ("order", "input"):
        replayer = Replayer(recording, match=match)
        served = replayer.call("tool", "login", never, input={"user": "u", "auth": f"Bearer {SECRET}"})
        assert served["token"].startswith("[REDACTED:")
        with pytest.raises(StashError):
            Replayer(recording, match=match).call("tool", "login", never, input={"auth": f"Bearer {SECRET}"})


def test_a_masked_value_that_comes_back_as_an_input_matches() -> None:
    def program(tape: Any) -> Any:
        token = tape.call("tool", "login", lambda: {"token": SECRET})["token"]
        return tape.call("tool", "fetch", lambda: "data", input={"token": token})

    recorder = Recorder()
    assert program(recorder) == "data"
    for match in ("order", "input"):
        assert program(Replayer(recorder.recording(), match=match)) == "data"


def test_a_key_that_was_masked_is_found() -> None:
    recorder = Recorder()
    recorder.call("http", f"GET https://example.org/?key={SECRET}", lambda: 1)
    assert SECRET not in recorder.recording().events[0].key
    assert Replayer(recorder.recording()).call("http", f"GET https://example.org/?key={SECRET}", never) == 1


def test_redact_functions_never_run_on_replay_unless_given_and_then_only_on_inputs() -> None:
    seen: list[str] = []

    def scrub(value: Any, context: Any) -> Any:
        seen.append(context.kind)
        return value.replace("user=", "user=user=") if isinstance(value, str) else value

    recorder = Recorder(redact=[scrub])
    recorder.call("tool", "t", lambda: "user=bob", input="user=bob")
    seen.clear()
    with pytest.raises(StashError):
        Replayer(recorder.recording()).call("tool", "t", never, input="user=bob")
    assert seen == []
    assert Replayer(recorder.recording(), redact=[scrub]).call("tool", "t", never, input="user=bob") == "user=user=bob"
    assert seen == ["input"]


def test_an_unredacted_recording_is_compared_in_clear() -> None:
    recorder = Recorder(redact=None)
    recorder.call("tool", "t", lambda: 1, input={"token": SECRET})
    assert Replayer(recorder.recording()).call("tool", "t", never, input={"token": SECRET}) == 1
    with pytest.raises(StashError):
        Replayer(recorder.recording()).call("tool", "t", never, input={"token": OTHER})
