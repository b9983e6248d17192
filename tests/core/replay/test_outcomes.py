"""What is served of an outcome, and what is refused because it is not there."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.calls import DROP
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import Recording
from stashdbg_core.record.losses import RecordingLossWarning
from stashdbg_core.record.recorder import Recorder
from stashdbg_core.replay import Replayer
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import decode_recording, write_recording
from stashdbg_core.values import RecordedError, TypeRegistry


class Limit(Exception):
    def __init__(self, code: int, *, after: float) -> None:
        super().__init__(f"limit {code}")
        self.after = after


def never() -> Any:
    raise AssertionError("replay ran the real call")


def throwing(error: BaseException) -> Recording:
    def produce() -> Any:
        raise error

    recorder = Recorder()
    with pytest.raises(type(error)):
        recorder.call("tool", "t", produce)
    return recorder.recording()


def refused(recording: Recording, **options: Any) -> StashError:
    with pytest.raises(StashError) as caught:
        Replayer(recording, **options).call("tool", "t", never)
    return caught.value


@pytest.mark.parametrize(
    "value",
    [(1, {2}), b"\x00\xff", datetime(2024, 1, 1, tzinfo=UTC), float("inf"), {1: "a"}, {"$stash": "x"}, "\ud800"],
)
def test_values_come_back_equal_and_of_their_type(value: Any, tmp_path: Path) -> None:
    recorder = Recorder()
    recorder.call("tool", "t", lambda: value, input=value)
    path = write_recording(recorder.recording(), tmp_path / "run.json")
    served = Replayer(open_recording(path)).call("tool", "t", never, input=value)
    assert served == value
    assert type(served) is type(value)


@pytest.mark.parametrize("error", [KeyError("k"), OSError(2, "no", "f"), KeyboardInterrupt(), SystemExit(3)])
def test_recorded_exceptions_are_raised_as_themselves(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught:
        Replayer(throwing(error)).call("tool", "t", never)
    assert str(caught.value) == str(error)


def test_a_programs_own_exception_is_itself_if_registered_and_a_recorded_error_if_not() -> None:
    recording = throwing(Limit(429, after=1.5))
    with pytest.raises(Limit, match=r"^limit 429$") as caught:
        Replayer(recording, types=TypeRegistry(Limit)).call("tool", "t", never)
    assert caught.value.after == 1.5
    with pytest.raises(RecordedError, match=r"^limit 429$") as other:
        Replayer(recording).call("tool", "t", never)
    assert (other.value.type_name, other.value.attributes["after"]) == ("Limit", 1.5)


def test_cancellation_is_raised_in_the_task() -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    async def run() -> None:
        recorder = Recorder()
        with pytest.raises(asyncio.CancelledError):
            await recorder.call_async("tool", "t", cancelled)
        with pytest.raises(asyncio.CancelledError):
            await Replayer(recorder.recording()).call_async("tool", "t", never)

    asyncio.run(run())


def test_another_tools_error_keeps_its_text() -> None:
    text = """{"version":1,"id":"x","events":[{"seq":0,"channel":"tool","key":"t","ordinal":0,"outcome":"throw",
      "ref":"e"}],"blobs":{"e":{"name":"RateLimit","message":"slow down"}},"meta":{}}"""
    with pytest.raises(RecordedError, match=r"^slow down$") as caught:
        Replayer(decode_recording(text)).call("tool", "t", never)
    assert caught.value.type_name == "RateLimit"


def foreign(outcome: str, blob: str | None, ref: str = "v") -> Recording:
    blobs = "{}" if blob is None else f'{{"{ref}":{blob}}}'
    return decode_recording(
        f'{{"version":1,"id":"x","events":[{{"seq":7,"channel":"tool","key":"t","ordinal":0,"outcome":"{outcome}",'
        f'"ref":"{ref}"}}],"blobs":{blobs},"meta":{{}}}}'
    )


def test_what_is_missing_or_damaged_names_event_and_reference() -> None:
    missing = refused(foreign("return", None))
    assert missing.code == ErrorCode.NOT_FOUND
    assert "seq 7 tool t #0" in missing.message
    assert missing.details["ref"] == "v"
    damaged = refused(foreign("return", '"x"', "sha256:" + "0" * 64))
    assert damaged.code == ErrorCode.INVALID_RECORDING
    assert "damaged" in damaged.message
    assert Replayer(foreign("return", "null")).call("tool", "t", never) is None


def test_an_unknown_outcome_is_not_served_as_a_value() -> None:
    assert "it ended as 'paused'" in refused(foreign("paused", '"x"')).message


def test_a_call_that_never_finished_says_so_and_runs_in_a_live_tail() -> None:
    recorder = Recorder()
    recorder.begin("tool", "t")
    error = refused(recorder.recording())
    assert "never finished in the recording" in error.message
    assert Replayer(recorder.recording(), live_tail=True).call("tool", "t", lambda: "live") == "live"


def test_dropped_and_unstorable_values_are_refused() -> None:
    recorder = Recorder(redact=lambda value, context: DROP)
    recorder.call("tool", "t", lambda: 1)
    assert "dropped" in refused(recorder.recording()).message
    recorder = Recorder()
    with pytest.warns(RecordingLossWarning):
        recorder.call("tool", "t", lambda: {"lock": object()})
    assert "could not be stored" in refused(recorder.recording()).message


def test_a_damaged_input_is_served_unchecked_and_noted() -> None:
    recorder = Recorder()
    recorder.call("tool", "t", lambda: 1, input="x")
    recording = recorder.recording()
    event = recording.events[0].replaced(input_ref="sha256:" + "0" * 64)
    from stashdbg_core.store.event_list import EventList

    replayer = Replayer(replace(recording, events=EventList([event])))
    assert replayer.call("tool", "t", never, input="x") == 1
    assert replayer.report().unchecked == 1
    assert "the input of seq 0 was not compared" in replayer.report().notes[0]


class Name(str):
    """A registered subclass of a builtin type."""


def test_a_registered_subclass_of_a_builtin_type_comes_back_as_itself_and_matches_as_an_input() -> None:
    types = TypeRegistry(Name)
    recorder = Recorder(types=types)
    recorder.call("tool", "t", lambda: [Name("Ada")], input={"who": Name("Ada")})
    list(recorder.stream("tool", "s", lambda: iter([Name("Bo")])))
    for match in ("order", "input"):
        replayer = Replayer(recorder.recording(), types=types, match=match)
        served = [*replayer.call("tool", "t", never, input={"who": Name("Ada")}), *replayer.stream("tool", "s", never)]
        assert [(type(name), name) for name in served] == [(Name, "Ada"), (Name, "Bo")]
        assert replayer.report().ok


@pytest.mark.parametrize("make", [lambda: Recorder(types=[Name]), lambda: Replayer(Recorder().recording(), types=Name)])
def test_what_is_no_registry_is_refused_as_types(make: Any) -> None:
    with pytest.raises(StashError, match=r"^types is a ") as caught:
        make()
    assert "TypeRegistry" in (caught.value.hint or "")


def test_a_time_limit_that_expired_expires_again() -> None:
    async def slow() -> str:
        await asyncio.sleep(60)
        return "late"

    async def chunks() -> Any:
        yield 1
        await asyncio.sleep(60)

    async def agent(tape: Any, produce: Any, stream: Any) -> list[str]:
        said = []
        for call in (
            lambda: tape.call_async("tool", "slow", produce),
            tape.stream_async("tool", "s", stream).__anext__,
        ):
            for _ in range(2):
                try:
                    said.append(str(await asyncio.wait_for(call(), 0.02)))
                except TimeoutError:
                    said.append("gave up")
        return said

    recorder = Recorder()
    recorded = asyncio.run(agent(recorder, slow, chunks))
    replayer = Replayer(recorder.recording())
    assert asyncio.run(agent(replayer, never, never)) == recorded == ["gave up", "gave up", "1", "gave up"]
    assert replayer.report().ok
