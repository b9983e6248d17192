"""The backward slice: which earlier outputs reached a call, and how a link is labelled."""

from __future__ import annotations

import json

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.session import why
from stashdbg_core.session.tasks import Task
from stashdbg_core.session.why_facts import facts_of, number_key

LONG = "the quick brown fox jumps over the lazy dog by the river"


def trace(recording, position, **asked):
    return Task(why.why_steps(recording, position, **asked)).run()


def links(found):
    return {(node.seq, link.to): [one.kind for one in link.evidence] for node in found.nodes for link in node.links}


def test_a_text_is_traced_to_the_nearest_output_that_said_it(make_run):
    recording = make_run(
        [
            {"key": "first", "value": {"said": LONG}},
            {"key": "second", "value": {"said": LONG}},
            {"key": "noise", "value": "nothing of interest here"},
            {"key": "use", "input": {"text": LONG}, "value": "ok"},
        ]
    )
    found = trace(recording, 3)
    assert links(found) == {(1, 3): ["verbatim"]}
    evidence = found.nodes[1].links[0].evidence[0]
    assert (evidence.words, evidence.source, evidence.sink) == (f"{len(LONG)} characters verbatim", "/said", "/text")


def test_a_part_of_a_longer_text_is_evidence_and_so_is_a_word_of_it(make_run):
    recording = make_run(
        [
            {"key": "part", "value": f"He wrote: {LONG[4:44]}!"},
            {"key": "word", "value": "The order is H-5230, they say."},
            {"key": "use", "input": {"text": f"Well, {LONG}.", "order": "H-5230"}, "value": "ok"},
        ]
    )
    found = trace(recording, 2)
    assert links(found) == {(0, 2): ["verbatim"], (1, 2): ["verbatim"]}
    assert {node.links[0].evidence[0].text.strip() for node in found.nodes[1:]} == {LONG[4:44].strip(), "H-5230"}


def test_numbers_link_in_any_spelling_and_trivial_ones_do_not(make_run):
    recording = make_run(
        [
            {"key": "a", "value": {"total": 1234.5, "count": 7, "year": 2026, "ok": True}},
            {"key": "b", "input": {"text": "pay 1,234.50 EUR for 7 items in 2026"}, "value": "x"},
            {"key": "c", "input": {"count": 7, "year": 2026, "ok": True}, "value": "x"},
        ]
    )
    assert links(trace(recording, 1)) == {(0, 1): ["same number"]}
    assert list(links(trace(recording, 2)).values()) == [["order only"]]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("1,234.50", "1234.5"),
        ("1234.5", "1234.5"),
        ("007", None),
        ("2026", None),
        ("1.0", None),
        ("-129.350", "-129.35"),
    ],
)
def test_what_counts_as_a_telling_number(text, key):
    assert number_key(text) == key


def test_json_inside_a_text_equals_the_object_itself(make_run):
    order = {"order_id": "H-52", "total": 119.0}
    recording = make_run(
        [
            {"key": "tool", "value": order},
            {"key": "llm", "input": {"content": json.dumps(order, indent=1)}, "value": "x"},
        ]
    )
    assert links(trace(recording, 1)) == {(0, 1): ["same value"]}


def test_the_slice_goes_on_through_the_inputs_of_what_it_found(make_run):
    recording = make_run(
        [
            {"key": "a", "value": "alpha-token-1"},
            {"key": "b", "input": "alpha-token-1", "value": "beta-token-22"},
            {"key": "other", "input": "unrelated", "value": "gamma-token-3"},
            {"key": "c", "input": {"x": "beta-token-22", "y": "gamma-token-3"}, "value": "x"},
        ]
    )
    assert [(node.seq, node.hops) for node in trace(recording, 3).nodes] == [(3, 0), (2, 1), (1, 1), (0, 2)]
    assert [node.seq for node in trace(recording, 3, pointer="/x").nodes] == [3, 1, 0]
    assert [node.seq for node in trace(recording, 3, text="gamma-token-3").nodes] == [3, 2]


def test_with_nothing_in_common_only_the_order_is_left_and_it_says_so(make_run):
    recording = make_run([{"value": "aaaa"}, {"value": "bbbb", "thread": "other"}, {"input": "cccc", "value": "dddd"}])
    found = trace(recording, 2)
    assert links(found) == {(0, 2): ["order only"]}
    assert found.nodes[1].links[0].evidence[0].words == "order only"


def test_a_failure_right_before_a_call_of_the_slice_is_shown_as_order_only(make_run):
    error = {"$stash": "exception", "class": "builtins:TimeoutError", "text": "late"}
    recording = make_run(
        [{"value": error, "outcome": "throw"}, {"value": "fallback answer"}, {"input": "fallback answer", "value": 1}]
    )
    assert links(trace(recording, 2)) == {(1, 2): ["verbatim"], (0, 1): ["order only"]}


@pytest.mark.parametrize(
    "asked", [{"pointer": "/nope"}, {"text": "nowhere"}, {"pointer": "x"}, {"pointer": "", "part": "input"}]
)
def test_what_the_event_does_not_have_is_refused(make_run, asked):
    with pytest.raises(StashError) as caught:
        trace(make_run([{"value": {"a": 1}}]), 0, **asked)
    assert caught.value.code == "ERR_INVALID_INPUT"


def test_the_work_is_bounded_and_says_where_it_stopped(make_run, monkeypatch):
    monkeypatch.setattr(why, "MOST_NODES", 5)
    rows = [{"input": f"token-number-{n}", "value": f"token-number-{n + 1}"} for n in range(40)]
    found = trace(make_run(rows), 39)
    assert (len(found.nodes), found.stopped) == (6, "5 events found, back to event 34")
    monkeypatch.setattr(why, "MOST_EVENTS", 3)
    assert trace(make_run(rows), 39).stopped == "looked at 3 events, back to event 36"


def test_hostile_values_end(make_run):
    deep = []
    for _ in range(900):
        deep = [deep]
    rows = [{"value": "a" * 300_000}, {"value": deep}, {"value": "[" * 5000}, {"value": {"n": 10**3000}}]
    rows.append({"input": {"t": "a" * 300_000, "d": deep, "j": "[" * 5000, "n": 10**3000}, "value": 1})
    assert trace(make_run(rows), 4).nodes[0].seq == 4
    assert [fact.kind for fact in facts_of("a" * 50)] == ["text"]


def test_from_the_failed_end_of_the_demo_the_trail_leads_to_the_archived_rate(demo):
    rejected = demo.events.position_of(62)
    assert rejected is not None
    by_call = {demo.events[node.position].key: node for node in trace(demo, rejected, pointer="/amount").nodes}
    assert {"issue_refund", "scripted-1", "archived_rate", "market_rate"} <= set(by_call)
    rate = by_call["archived_rate"].links[0]
    assert (rate.to, rate.evidence[0].kind) == (60, "same value")
    assert by_call["market_rate"].links[0].evidence[0].kind == "order only"
