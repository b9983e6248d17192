"""Dates, ids and times taken of live answers: they tell no two calls apart, and are never called the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import content_digest
from stashdbg_core.diff import diff_recordings
from stashdbg_core.diff.envelope import envelope_paths, without_envelope
from stashdbg_core.diff.explain import explain
from stashdbg_core.diff.result import DiffResult
from stashdbg_core.session.comparison import Comparison
from stashdbg_core.session.diff_blocks import row_blocks
from stashdbg_core.session.diff_words import measured_words
from tests.core.diff.made_runs import Call, recording_of, reread


def answered(run: str, said: str, *, calls: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    """What a provider answers in a run: its own date and ids around what it says."""
    tools = [
        {"id": f"call_{run}{at}", "type": "function", "function": {"name": name, "arguments": '{"id": "o-7"}'}}
        for at, name in enumerate(calls)
    ]
    message = {"role": "assistant", "content": said, "tool_calls": tools}
    return {
        "status": 200,
        "headers": {"date": f"Mon, {run} Nov 2026", "x-request-id": f"req_{run}", "content-type": "application/json"},
        "body": {
            "id": f"chatcmpl-{run}", "object": "chat.completion", "created": int(run),
            "choices": [{"index": 0, "message": message}], **more,
        },
    }  # fmt: skip


def asked(run: str, *texts: str, result_of: int = 0) -> dict[str, Any]:
    """A request that goes on after a tool call."""
    first = answered(run, "let me see", calls=["stock", "price"])["body"]["choices"][0]["message"]
    result = {"role": "tool", "tool_call_id": f"call_{run}{result_of}", "content": "3 left"}
    return {"messages": [{"role": "user", "content": "order 7?"}, first, result, *({"content": t} for t in texts)]}


def conversation(run: str, end: str = "12 EUR", **more: Any) -> list[Call]:
    return [
        Call("m-1", {"messages": ["order 7?"]}, answered(run, "let me see", calls=["stock", "price"]), "llm"),
        Call("stock", {"id": "o-7"}, 3),
        Call("m-1", asked(run, **more), answered(run, end), "llm"),
    ]


def compared(one: Sequence[Call], other: Sequence[Call]) -> DiffResult:
    return diff_recordings(recording_of(one), reread(recording_of(other)))


def kinds(result: DiffResult) -> Counter[str]:
    return Counter(row.kind for row in result.rows)


def test_two_live_runs_that_say_the_same_differ_only_in_what_is_measured() -> None:
    result = compared(conversation("10"), conversation("20"))
    assert kinds(result) == {"measured": 2, "same": 1}
    assert result.only_measured and not result.same
    assert measured_words(result) == "2 llm calls differ only in dates and ids"
    changes = result.changes(result.measured[0])
    assert [change.pointer for change in changes] == [
        "/headers/date", "/headers/x-request-id", "/body/id", "/body/created",
        "/body/choices/0/message/tool_calls/0/id", "/body/choices/0/message/tool_calls/1/id",
    ]  # fmt: skip
    assert all(change.envelope and change.to_json()["envelope"] for change in changes)


def test_a_change_of_content_is_told_first_and_the_rest_is_named_in_a_line() -> None:
    result = compared(conversation("10"), conversation("20", "13 EUR"))
    assert kinds(result) == {"measured": 1, "same": 1, "changed": 1}
    (row,) = result.changed
    changes = result.changes(row)
    assert [change.pointer for change in changes if not change.envelope] == ["/body/choices/0/message/content"]
    assert not changes[0].envelope
    (cause,) = explain(result).causes
    assert (cause.verdict, cause.measured_before) == ("first", 1)

    def texts(**how: bool) -> list[str]:
        return [side.text for block in row_blocks(result, row, **how) for side in block.left]

    assert any("dates, ids and the like" in text and "m shows them" in text for text in texts(folded=True))
    assert not any("Nov 2026" in text for text in texts(folded=True))
    assert any("10 Nov 2026" in text for text in texts())
    comparison = Comparison(result)
    assert comparison.folded and comparison.toggle_measured() is None and not comparison.folded


def test_a_result_that_names_another_call_is_another_content() -> None:
    result = compared(conversation("10"), conversation("20", result_of=1))
    assert kinds(result) == {"measured": 1, "same": 1, "changed": 1}
    assert {change.part for change in result.changes(result.changed[0])} == {"input", "value"}


def test_what_a_tool_is_given_is_content_whatever_its_keys() -> None:
    for key in ("id", "created", "call_id", "date"):
        one, other = (
            {"type": "message", "content": [{"type": "tool_use", "id": f"toolu_{n}", "input": {key: f"{n}"}}]}
            for n in (1, 2)
        )
        (row,) = compared([Call("m", 1, one, "llm")], [Call("m", 1, other, "llm")]).rows
        assert row.kind == "changed", key
    assert kinds(compared([Call("t", 1, {"id": "a", "type": "message"})], [Call("t", 1, {"id": "b"})])) == {
        "changed": 1
    }


def test_an_answer_without_a_model_has_only_measured_headers() -> None:
    def fetched(day: int, body: Any) -> list[Call]:
        return [Call("GET shop", {}, {"status": 200, "headers": {"Date": f"{day}"}, "body": body}, "http")]

    assert kinds(compared(fetched(1, "ok"), fetched(2, "ok"))) == {"measured": 1}
    other = [{"id": name, "object": "order"} for name in "ab"]
    assert kinds(compared(fetched(1, other[0]), fetched(1, other[1]))) == {"changed": 1}


def streamed(run: str, *texts: str) -> list[Call]:
    chunks = [
        "data: " + json.dumps({"id": run, "object": "chat.completion.chunk", "choices": [{"delta": {"content": text}}]})
        for text in texts
    ]
    body = {"$stash": "stream", "kind": "sync", "chunks": [f"{chunk}\n\n" for chunk in chunks], "ending": "exhausted"}
    return [Call("m", 1, {"status": 200, "headers": {"date": run}, "body": body}, "llm")]


def test_streams_are_compared_by_the_message_they_spelled() -> None:
    assert kinds(compared(streamed("1", "a ", "b"), streamed("2", "a", " b"))) == {"measured": 1}
    result = compared(streamed("1", "a ", "b"), streamed("2", "a", " c"))
    (change, *rest) = result.changes(result.changed[0])
    assert (change.pointer, change.before, change.after) == ("/body/choices/0/message/content", "a b", "a c")
    assert all(one.envelope for one in rest)


def test_calls_that_repeat_are_told_apart_by_what_they_answer() -> None:
    def polled(run: str, *states: str) -> list[Call]:
        return [Call("m", "state?", answered(f"{run}{at}", state), "llm") for at, state in enumerate(states)]

    result = compared(polled("1", "wait", "wait", "done"), polled("2", "wait", "done"))
    assert [row.kind for row in result.rows] in (
        ["measured", "removed", "measured"],
        ["removed", "measured", "measured"],
    )


_LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=4)
_KEYS = st.sampled_from(["id", "object", "type", "created", "headers", "status", "body", "tool_call_id", "input", "x"])
_TREES = st.recursive(
    _LEAVES | st.sampled_from(["function", "tool_use", 200]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=12,
)


@settings(max_examples=100)
@given(_TREES)
@example({"id": "x", "type": []})
def test_any_tree_is_left_as_it_was(tree: Any) -> None:
    before = content_digest(tree)
    bare = without_envelope("llm", tree)
    assert content_digest(tree) == before
    assert (bare is tree) == (not envelope_paths("llm", tree))
