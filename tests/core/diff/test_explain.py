"""Which differences come from earlier ones, and what is claimed about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stashdbg_core.diff import diff_recordings
from stashdbg_core.diff.explain import MOST_ROWS, Cause, explain
from tests.core.diff.made_runs import NO_INPUT, Call, recording_of


def causes(one: Sequence[Call], other: Sequence[Call]) -> list[Cause]:
    return list(explain(diff_recordings(recording_of(one), recording_of(other))).causes)


def agent(price: Any, advice: str) -> list[Call]:
    return [
        Call("price", {"sku": "A-1"}, {"eur": price}),
        Call("chat", {"messages": ["go", f"the price is {price} EUR"]}, f"it costs {price}, {advice}", "llm"),
        Call("buy", {"advice": advice}, "done"),
    ]


def test_a_difference_flows_through_the_inputs_that_hold_its_text() -> None:
    first, second, third = causes(agent(41, "buy it now"), agent(99, "leave it alone"))
    assert (first.verdict, first.row.a) == ("first", 0)
    assert second.verdict == "flows"
    assert [(source.row.a, source.text) for source in second.sources] == [(0, "41")]
    assert third.verdict == "flows"
    assert [source.row.a for source in third.sources] == [1]
    assert third.sources[0].text in ("buy it now", "leave it alone")


def test_the_same_input_with_another_output_starts_anew() -> None:
    one = [Call("a", 1, "first"), Call("b", {"q": 1}, "yes indeed")]
    other = [Call("a", 1, "second"), Call("b", {"q": 1}, "no thanks")]
    assert [cause.verdict for cause in causes(one, other)] == ["first", "same-input"]


def test_an_input_that_holds_nothing_of_earlier_outputs_is_new() -> None:
    one = [Call("a", 1, "alpha result"), Call("b", {"q": "monday"}, 1)]
    other = [Call("a", 1, "gamma result"), Call("b", {"q": "friday"}, 1)]
    assert [cause.verdict for cause in causes(one, other)] == ["first", "new"]


def test_without_inputs_nothing_is_claimed() -> None:
    one = [Call("a", NO_INPUT, 1), Call("b", NO_INPUT, "x")]
    other = [Call("a", NO_INPUT, 2), Call("b", NO_INPUT, "y")]
    assert [cause.verdict for cause in causes(one, other)] == ["first", "no-input"]


def test_a_number_counts_only_as_a_whole_word() -> None:
    one = [Call("a", 1, 41), Call("b", {"q": "order 4100"}, 1)]
    other = [Call("a", 1, 99), Call("b", {"q": "order 9900"}, 1)]
    assert causes(one, other)[1].verdict == "new"


def test_a_number_with_a_point_is_quoted_whole() -> None:
    second = causes(
        [Call("a", 1, "it is 49.9 EUR"), Call("b", {"q": "pay 49.9"}, 1)],
        [Call("a", 1, "it is 61.9 EUR"), Call("b", {"q": "pay 61.9"}, 1)],
    )[1]
    assert (second.verdict, [source.text for source in second.sources]) == ("flows", ["49.9"])


def test_part_of_a_number_with_a_point_does_not_count() -> None:
    one = [Call("a", 1, 49), Call("b", {"q": "order 49.5"}, 1)]
    other = [Call("a", 1, 61), Call("b", {"q": "order 61.5"}, 1)]
    assert causes(one, other)[1].verdict == "new"


def test_what_an_output_only_passed_on_is_no_source() -> None:
    one = [Call("a", {"id": "monday"}, "monday"), Call("b", {"q": "monday"}, 1)]
    other = [Call("a", {"id": "friday"}, "friday"), Call("b", {"q": "friday"}, 1)]
    assert [cause.verdict for cause in causes(one, other)] == ["first", "new"]


def test_an_added_call_may_come_from_an_earlier_difference() -> None:
    one = [Call("plan", 1, "nothing to do", "llm"), Call("end", 1, 1)]
    other = [
        Call("plan", 1, "search for kettles", "llm"),
        Call("find", {"q": "search for kettles"}, 1),
        Call("end", 1, 1),
    ]
    first, second = causes(one, other)
    assert (second.row.kind, second.verdict) == ("added", "flows")
    assert second.sources[0].row is first.row


def test_the_part_past_the_end_of_one_run_is_said_to_be_that() -> None:
    run = [Call(f"step {n}", {"n": n}, f"result {n}") for n in range(5)]
    assert [cause.verdict for cause in causes(run, [*run[:1], run[1]._replace(value="x")])] == [
        "first",
        "end",
        "end",
        "end",
    ]


def test_moved_calls_differ_in_order_only() -> None:
    run = [Call("a", n, f"value {n}") for n in range(4)]
    found = causes(run, [run[0]._replace(value="x"), run[2], run[3], run[1]])
    assert [cause.verdict for cause in found] == ["first", "order"]


def test_a_thousand_differences_are_bounded_and_counted() -> None:
    one = [Call("a", {"n": n}, f"old value {n}") for n in range(1000)]
    other = [Call("a", {"n": n}, f"new value {n}") for n in range(1000)]
    found = explain(diff_recordings(recording_of(one), recording_of(other)))
    assert len(found.causes) == MOST_ROWS
    assert found.unseen == 1000 - MOST_ROWS


def test_equal_runs_need_no_explanation() -> None:
    assert causes(agent(1, "x"), agent(1, "x")) == []
