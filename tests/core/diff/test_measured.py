"""Values of a clock or of chance: paired by place, and a verdict of their own where nothing but the value differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count

from msgspec.structs import replace

from stashdbg_core.diff import diff_recordings
from stashdbg_core.diff.explain import explain
from stashdbg_core.diff.process import diff_in_process
from stashdbg_core.diff.result import DiffResult
from stashdbg_core.model import Recording
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import write_recording
from tests.core.diff.made_runs import NO_INPUT, Call, recording_of, reread


def read(value: object, site: str = "agent.py:4 ask", key: str = "time", channel: str = "clock") -> Call:
    """A value that a recorded program read."""
    return Call(key, {"lane": None, "site": site}, value, channel)


def turns(start: float, *, answer: str = "fine", reads: int = 2, moved: int = 0) -> list[Call]:
    """Three calls of a model, between reads of a clock, each at another time."""
    ticks = count(start)
    calls = []
    for turn in range(3):
        calls += [read(next(ticks), f"agent.py:{4 + moved} ask") for _ in range(reads)]
        calls.append(Call("m-1", {"turn": turn}, answer, "llm"))
        calls.append(read(next(ticks), f"agent.py:{9 + moved} log"))
    return calls


def compared(one: Sequence[Call], other: Sequence[Call]) -> DiffResult:
    return diff_recordings(recording_of(one), reread(recording_of(other)))


def kinds(result: DiffResult) -> Counter[str]:
    return Counter(row.kind for row in result.rows)


def test_other_values_at_the_same_places_are_measured_and_never_the_same() -> None:
    result = compared(turns(100), turns(900))
    assert kinds(result) == {"measured": 9, "same": 3}
    assert result.only_measured and not result.same
    assert result.first_divergence == result.measured[0]
    (change,) = result.changes(result.measured[0])
    assert (change.part, change.before, change.after) == ("value", 100, 900)


def test_the_first_divergence_is_one_of_content() -> None:
    result = compared(turns(100), turns(900, answer="bad"))
    assert kinds(result) == {"measured": 9, "changed": 3}
    assert not result.only_measured
    assert result.first_divergence is not None and result.first_divergence.a == 2


def test_a_read_that_one_run_has_more_is_a_difference_at_its_place() -> None:
    other = turns(900)
    other.insert(5, read(950.5, "agent.py:7 retry"))
    result = compared(turns(100), other)
    assert kinds(result) == {"measured": 9, "same": 3, "added": 1}
    assert [row.b for row in result.added] == [5]
    assert kinds(compared(other, turns(100)))["removed"] == 1
    more = compared(turns(100), turns(900, reads=3))
    assert kinds(more) == {"measured": 9, "same": 3, "added": 3}


def test_of_a_served_prefix_an_inserted_read_is_one_addition() -> None:
    one = turns(100)
    result = compared(one, [*one[:5], read(7.5), *one[5:]])
    assert kinds(result) == {"same": 12, "added": 1}


def test_a_line_that_moved_counts_as_little_as_any_call_site() -> None:
    assert compared(turns(100), turns(100, moved=3)).same
    assert kinds(compared(turns(100), turns(900, moved=3))) == {"measured": 9, "same": 3}
    other = [read(call.value, "agent.py:9 asked") if call.channel == "clock" else call for call in turns(100)]
    assert kinds(compared(turns(100), other))["changed"] == 9


def test_draws_that_are_equal_by_chance_do_not_shift_the_others() -> None:
    one = [read(value, key="random", channel="random") for value in (0, 1, 1, 0)]
    other = [read(value, key="random", channel="random") for value in (1, 0, 1, 1)]
    result = compared(one, other)
    assert [(row.kind, row.a, row.b) for row in result.rows] == [
        ("measured", 0, 0), ("measured", 1, 1), ("same", 2, 2), ("measured", 3, 3),
    ]  # fmt: skip


def test_what_is_no_read_is_compared_as_ever() -> None:
    asked = [Call("dice", {"sides": sides}, 3, "random") for sides in (6, 20)]
    assert kinds(compared(asked[:1], asked[1:])) == {"changed": 1}
    failed = [Call("now", NO_INPUT, text, "clock", "throw") for text in ("no clock", "no battery")]
    assert kinds(compared(failed[:1], failed[1:])) == {"changed": 1}
    tool = [Call("visit", {"lane": None, "site": f"a:{line} b"}, "ok") for line in (1, 2)]
    assert kinds(compared(tool[:1], tool[1:])) == {"changed": 1}


def in_lanes(calls: Sequence[tuple[str, Call]]) -> Recording:
    recording = recording_of([call for _, call in calls])
    events = [replace(event, thread=lane) for event, (lane, _) in zip(recording.events, calls, strict=True)]
    return Recording(id="run", events=EventList(events), blobs=recording.blobs, meta=recording.meta)


def test_lanes_keep_their_reads_however_they_interleave() -> None:
    def work(lane: str, start: float) -> list[tuple[str, Call]]:
        steps = [Call("now", NO_INPUT, start, "clock"), Call("t", lane, 1), Call("now", NO_INPUT, start + 1, "clock")]
        return [(lane, step) for step in steps]

    one, two = work("one", 10), work("two", 20)
    interleaved = in_lanes([one[0], two[0], one[1], two[1], one[2], two[2]])
    result = diff_recordings(interleaved, in_lanes(work("one", 30) + work("two", 40)))
    reads = [row for row in result.rows if row.kind == "measured"]
    assert len(reads) == 4 and not result.added and not result.removed
    for row in reads:
        one_event, other = result.event_a(row), result.event_b(row)
        assert one_event is not None and other is not None and one_event.thread == other.thread
    moved = [("pool_2", call) for _, call in work("one", 30)]
    elsewhere = diff_recordings(in_lanes(work("one", 10)), in_lanes(moved))
    assert kinds(elsewhere) == {"measured": 2, "same": 1}


def test_a_call_that_holds_a_measured_value_says_where_it_is_from() -> None:
    def run(token: str) -> list[Call]:
        return [read(token, key="uuid4", channel="random"), Call("pay", {"token": token}, "ok")]

    (cause,) = explain(compared(run("f81d4fae-7dec"), run("6ba7b810-9dad"))).causes
    assert cause.verdict == "flows" and [source.row.kind for source in cause.sources] == ["measured"]


def test_reads_do_not_use_up_what_is_explained() -> None:
    one = [*(read(n) for n in range(300)), Call("t", 1, "alpha"), read(0.5, "agent.py:1 late")]
    other = [*(read(-n) for n in range(300)), Call("t", 1, "omega")]
    explanation = explain(compared(one, other))
    assert [(cause.verdict, cause.measured_before) for cause in explanation.causes] == [("first", 299), ("end", 0)]
    assert explanation.unseen == 0


def test_another_process_finds_the_same(tmp_path) -> None:
    paths = [write_recording(recording_of(turns(start)), tmp_path / f"{start}.json") for start in (100, 900)]
    one, other = map(open_recording, paths)
    found = diff_in_process(one, other, "content")
    assert found is not None and found.rows == diff_recordings(one, other).rows
