"""Which recorded call a live call gets, and what is said when there is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.record.losses import RecordingLossWarning
from stashdbg_core.record.recorder import Recorder
from stashdbg_core.replay import Replayer
from stashdbg_core.store.open import open_recording


def searches(*queries: str) -> Any:
    recorder = Recorder()
    for query in queries:
        recorder.call("tool", "search", query.upper, input={"q": query})
    return recorder.recording()


def never() -> Any:
    raise AssertionError("replay ran the real call")


def refused(call: Callable[[], Any]) -> StashError:
    with pytest.raises(StashError) as caught:
        call()
    return caught.value


def test_a_poll_is_replayed_in_its_order_and_then_exhausted(data: Path) -> None:
    recording = open_recording(data / "cases" / "21-poll" / "poll.json")
    for match in ("order", "input"):
        replayer = Replayer(recording, match=match)
        assert [replayer.call("tool", "status", never, input={}) for _ in range(3)] == ["pending", "pending", "done"]
        error = refused(lambda replayer=replayer: replayer.call("tool", "status", never, input={}))
        assert error.code == ErrorCode.RECORDING_EXHAUSTED
        assert "recording exhausted: 3 recorded, call 4 asked" in error.message


def test_exhausted_unknown_channel_and_unknown_key_are_three_messages(data: Path) -> None:
    replayer = Replayer(open_recording(data / "cases" / "21-poll" / "poll.json"))
    channel = refused(lambda: replayer.call("tools", "status", never))
    assert channel.code == ErrorCode.DIVERGENCE
    assert "unknown channel; the recording has tool" in channel.message
    key = refused(lambda: replayer.call("tool", "Status", never))
    assert key.code == ErrorCode.DIVERGENCE
    assert "unknown key in channel tool; the nearest is status" in key.message
    assert replayer.call("tool", "status", never, input={}) == "pending"


def test_another_calls_answer_is_never_handed_out() -> None:
    recording = searches("flights", "hotels")
    by_input = Replayer(recording, match="input")
    assert by_input.call("tool", "search", never, input={"q": "hotels"}) == "HOTELS"
    assert by_input.call("tool", "search", never, input={"q": "flights"}) == "FLIGHTS"
    by_order = Replayer(recording)
    error = refused(lambda: by_order.call("tool", "search", never, input={"q": "hotels"}))
    assert 'recorded: "flights" / live: "hotels"' in error.message
    assert error.details["nearest"][0] == {
        "seq": 1, "key": "search", "ordinal": 1, "reason": "same input, not yet served", "changes": []
    }  # fmt: skip


def test_one_wrong_call_shifts_no_other() -> None:
    for match in ("order", "input"):
        replayer = Replayer(searches("a", "b", "c"), match=match)
        assert replayer.call("tool", "search", never, input={"q": "a"}) == "A"
        refused(lambda replayer=replayer: replayer.call("tool", "search", never, input={"q": "?"}))
        refused(lambda replayer=replayer: replayer.call("tool", "fetch", never, input={"q": "?"}))
        assert replayer.call("tool", "search", never, input={"q": "c"}) == "C"


def test_a_changed_argument_is_a_divergence_with_event_and_field() -> None:
    recorder = Recorder()
    recorder.call("tool", "get_price", lambda: 42, input={"sku": "A-1", "n": 1})
    error = refused(
        lambda: Replayer(recorder.recording()).call("tool", "get_price", never, input={"sku": "A-2", "n": 1})
    )
    assert error.code == ErrorCode.DIVERGENCE
    assert {name: error.details[name] for name in ("kind", "seq", "channel", "key", "ordinal")} == {
        "kind": "input-mismatch", "seq": 0, "channel": "tool", "key": "get_price", "ordinal": 0
    }  # fmt: skip
    assert error.details["changes"] == [{"pointer": "/sku", "recorded": '"A-1"', "live": '"A-2"'}]
    assert error.details["site"].startswith("test_matching.py:")


def test_without_a_recorded_input_a_call_is_served_and_counted_as_unchecked() -> None:
    for match in ("order", "input"):
        recorder = Recorder()
        recorder.call("tool", "get_price", lambda: 42)
        recorder.call("clock", "now", lambda: 1.5)
        replayer = Replayer(recorder.recording(), match=match)
        assert replayer.call("tool", "get_price", never, input={"sku": "A-2"}) == 42
        assert replayer.call("clock", "now", never) == 1.5
        report = replayer.report()
        assert (report.ok, report.matched, report.unchecked) == (True, 2, 1)
        assert "input not checked for 1" in str(report)


def test_a_missing_live_input_is_not_null() -> None:
    recorder = Recorder()
    recorder.call("tool", "t", lambda: 1, input=None)
    for match in ("order", "input"):
        assert (
            refused(lambda m=match: Replayer(recorder.recording(), match=m).call("tool", "t", never)).details["kind"]
            == "input-mismatch"
        )
    assert Replayer(recorder.recording()).call("tool", "t", never, input=None) == 1


def test_key_order_does_not_matter_and_list_order_does() -> None:
    recorder = Recorder()
    recorder.call("tool", "t", lambda: 1, input={"a": 1, "b": [1, 2]})
    recording = recorder.recording()
    for match in ("order", "input"):
        assert Replayer(recording, match=match).call("tool", "t", never, input={"b": [1, 2], "a": 1}) == 1
        refused(lambda m=match: Replayer(recording, match=m).call("tool", "t", never, input={"a": 1, "b": [2, 1]}))
        refused(lambda m=match: Replayer(recording, match=m).call("tool", "t", never, input={"a": True, "b": [1, 2]}))


def test_channel_and_key_are_never_joined() -> None:
    recorder = Recorder()
    recorder.call("a", "b:c", lambda: 1)
    recorder.call("a:b", "c", lambda: 2)
    replayer = Replayer(recorder.recording())
    assert (replayer.call("a:b", "c", never), replayer.call("a", "b:c", never)) == (2, 1)


def test_strict_off_serves_by_place_alone_and_says_so() -> None:
    replayer = Replayer(searches("a"), strict=False)
    assert replayer.call("tool", "search", never, input={"q": "other"}) == "A"
    assert (replayer.report().ok, replayer.report().unchecked) == (True, 1)


def test_collect_goes_on_and_reports_everything() -> None:
    replayer = Replayer(searches("a", "b", "c"), on_divergence="collect")
    assert replayer.call("tool", "search", never, input={"q": "x"}) == "A"
    assert replayer.call("tool", "search", never, input={"q": "b"}) == "B"
    refused(lambda: replayer.call("tool", "fetch", never))
    report = replayer.report()
    assert [d.kind for d in report.divergences] == ["input-mismatch", "extra-call", "missing-call"]
    assert (report.matched, report.unused, replayer.consumed()) == (1, 1, 2)
    assert report.first == replayer.divergences()[0]
    assert [event.seq for event in replayer.remaining()] == [2]
    assert report.to_json()["exitCode"] == 1


def test_calls_made_inside_a_served_call_are_neither_missing_nor_in_the_way() -> None:
    def program(tape: Any) -> list[Any]:
        def outer() -> Any:
            return tape.call("llm", "inner", lambda: "inside")

        return [tape.call("agent", "outer", outer), tape.call("llm", "inner", lambda: "outside")]

    recorder = Recorder()
    expected = program(recorder)
    replayer = Replayer(recorder.recording())
    assert program(replayer) == expected == ["inside", "outside"]
    assert replayer.report().ok


def test_an_exhausted_recording_says_what_it_lacks() -> None:
    recorder = Recorder(max_events=1)
    with pytest.warns(RecordingLossWarning):
        program = [recorder.call("tool", "t", lambda n=number: n) for number in range(3)]
    recorder.close()
    replayer = Replayer(recorder.recording())
    assert program[0] == replayer.call("tool", "t", never)
    assert "2 calls were dropped when it was recorded" in refused(lambda: replayer.call("tool", "t", never)).message


def test_served_values_share_nothing() -> None:
    recorder = Recorder()
    for _ in range(2):
        recorder.call("tool", "t", lambda: {"list": []})
    replayer = Replayer(recorder.recording())
    replayer.call("tool", "t", never)["list"].append(1)
    assert replayer.call("tool", "t", never) == {"list": []}
    assert Replayer(recorder.recording()).call("tool", "t", never) == {"list": []}


def test_two_events_in_one_place_are_refused_not_chosen(data: Path) -> None:
    recording = open_recording(data / "cases" / "69-numbering" / "twice.json")
    places = [(e.channel, e.key, e.ordinal) for e in recording.events]
    channel, key, _ = next(place for place in places if places.count(place) > 1)
    assert refused(lambda: Replayer(recording).call(channel, key, never)).code == ErrorCode.INVALID_RECORDING


def test_a_wrong_option_is_refused() -> None:
    recording = searches("a")
    assert refused(lambda: Replayer(recording, match="fuzzy")).code == ErrorCode.INVALID_INPUT  # type: ignore[arg-type]
    assert refused(lambda: Replayer(recording, on_divergence="ignore")).code == ErrorCode.INVALID_INPUT  # type: ignore[arg-type]


def test_without_the_check_no_input_is_said_to_be_missing() -> None:
    replayer = Replayer(searches("oslo"), strict=False)
    replayer.call("tool", "search", never, input={"q": "rome"})
    error = refused(lambda: replayer.call("tool", "search", never, input={"q": "rome"}))
    assert [near["reason"] for near in error.details["nearest"]] == ["already served"]
