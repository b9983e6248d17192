"""An event on one line: the gist of every kind of call, in bounded work."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session.summary import outcome_word, summary
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList


def recorded(channel, value, given=None, outcome="return", **more):
    blobs = BlobStore()
    event = RecordedEvent(
        0, channel, "k", 0, outcome, blobs.put(value), None if given is None else blobs.put(given), **more
    )
    return Recording("x", EventList([event]), blobs), event


OPENAI = {"choices": [{"message": {"role": "assistant", "content": "Hello\n  there"}}]}
CALLS = {
    "choices": [
        {"message": {"content": None, "tool_calls": [{"function": {"name": "find", "arguments": '{"q": "x"}'}}]}}
    ]
}
ANTHROPIC = {
    "content": [{"type": "text", "text": "Let me look."}, {"type": "tool_use", "name": "find", "input": {"q": 1}}]
}
RESPONSES = {
    "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "Done."}]},
        {"type": "function_call", "name": "find", "arguments": "{}"},
    ]
}
HOSTED = {
    "output": [
        {"type": "web_search_call", "action": {"query": "a"}},
        {"type": "message", "content": [{"type": "output_text", "text": "Found."}]},
    ]
}
GEMINI = {
    "candidates": [{"content": {"parts": [{"text": "Ja."}, {"functionCall": {"name": "find", "args": {"q": 2}}}]}}]
}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (OPENAI, "Hello there"),
        (CALLS, '→ find(q="x")'),
        (ANTHROPIC, "Let me look. · → find(q=1)"),
        (RESPONSES, "Done. · → find()"),
        (GEMINI, "Ja. · → find(q=2)"),
        (HOSTED, 'Found. · → web_search(query="a")'),
        ({"role": "assistant", "content": "hi"}, "hi"),
        ("just text", "just text"),
        ({"odd": [1, 2], "n": None}, "odd=[1, 2], n=null"),
    ],
)
def test_a_model_call_shows_what_the_model_said(value, said):
    assert summary(*recorded("llm", value, {"messages": []})) == said


def test_a_tool_call_shows_arguments_and_result():
    assert summary(*recorded("tool", [1, 2, 3, 4, 5], {"city": "Riga"})) == "Riga → [5 items]"


def test_what_holds_nothing_is_no_blank_row():
    assert summary(*recorded("state", {}, None)) == "{}"
    assert summary(*recorded("tool", "Rome", {})) == "Rome"


def test_a_value_that_a_program_asked_for_stands_before_the_place_it_asked_at():
    given = {"lane": None, "site": "agent.py:12 plan", "soft": True}
    assert summary(*recorded("clock", 12.5, given)) == "12.5 · agent.py:12 plan"
    assert summary(*recorded("tool", 12.5, {"site": "Oslo"})) == "Oslo → 12.5"


@pytest.mark.parametrize(
    "error",
    [
        {"$stash": "exception", "class": "app.errors:Timeout", "text": "too slow", "args": ["too slow"]},
        {"name": "Timeout", "message": "too slow"},
        {"type": "Timeout", "args": ["too slow"]},
    ],
)
def test_an_error_shows_type_and_text_whoever_wrote_it(error):
    assert summary(*recorded("tool", error, {"a": 1}, "throw")).rstrip('"').replace('"', "") == "Timeout: too slow"


def test_a_stream_shows_its_joined_text_its_chunks_and_how_it_ended():
    chunks = [{"choices": [{"delta": {"content": word}}]} for word in ("Good ", "morning")]
    stream = {"$stash": "stream", "chunks": chunks, "ending": "closed"}
    assert summary(*recorded("llm", stream)) == "Good morning · 2 chunks, closed"
    long = {"$stash": "stream", "chunks": ["word "] * 2000, "ending": "exhausted"}
    assert "word word" in summary(*recorded("llm", long)) and "2,000 chunks" in summary(*recorded("llm", long))


def test_a_long_reply_that_is_stored_as_a_shared_piece_is_still_read():
    text = "It is a long answer. " * 200
    assert summary(*recorded("llm", {"role": "assistant", "content": text})).startswith("It is a long answer. It is")


def test_words_for_outcomes():
    pending = recorded("tool", {"$stash": "pending"}, {"a": 1}, "throw")
    assert (outcome_word(pending[1]), summary(*pending)) == ("pending", "a=1")
    assert outcome_word(recorded("tool", 1)[1]) == "returned"
    assert outcome_word(recorded("tool", 1, outcome="throw")[1]) == "threw"
    assert outcome_word(recorded("tool", 1, outcome="exploded")[1]) == "exploded"
    damaged = recorded("tool", 1, damage="not an object")
    assert (outcome_word(damaged[1]), summary(*damaged)) == ("damaged", "not an object")


def test_a_missing_value_is_not_null():
    recording, event = recorded("tool", 1)
    gone = Recording("x", recording.events, BlobStore())
    assert summary(gone, event) == "value missing"


def test_a_huge_value_costs_a_row_nothing():
    recording, event = recorded("tool", "A" * 30_000_000)
    start = time.process_time()
    said = summary(recording, event, 80)
    assert len(said) <= 90 and said.endswith("30 MB")
    assert time.process_time() - start < 2


WORDS = [
    "choices",
    "message",
    "content",
    "tool_calls",
    "function",
    "arguments",
    "$stash",
    "chunks",
    "class",
    "text",
    "type",
    "output",
    "delta",
    "args",
    "items",
    "parts",
    "value",
    "error",
    "ending",
]
LEAVES = ("stream", "exception", "bytes", "pending", "function_call", "{")
trees = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30)
    | st.sampled_from(LEAVES),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("key", ["value", "args", "items", "error", "message", "choices", "content"])
@pytest.mark.parametrize("tag", ["exception", "stream", "tuple", None])
def test_deep_nesting_costs_a_summary_no_stack(key, tag):
    tree: object = "end"
    for _ in range(1500):
        tree = {key: [tree] if key in ("args", "choices") else tree} | ({"$stash": tag} if tag else {})
    for outcome in ("return", "throw"):
        assert summary(*recorded("llm", tree, tree, outcome), 80)


@settings(max_examples=200, deadline=None)
@given(trees, st.sampled_from(["llm", "tool"]), st.sampled_from(["return", "throw", "other"]), st.integers(1, 200))
def test_no_tree_breaks_a_summary_or_its_width(tree, channel, outcome, width):
    said = summary(*recorded(channel, tree, tree, outcome), width)
    assert isinstance(said, str)
    assert len(said) <= max(width, 8) + 80
    assert "\n" not in said


@pytest.mark.parametrize(
    ("given", "value", "said"),
    [
        ({"q": "a"}, "ok", "a → ok"),
        ({"q": "", "n": 3, "all": True, "in": None}, "", 'q="", n=3, all=true'),
        ({"argv": ["git", "log", "--oneline", "-n", "5"], "cwd": None}, "", "git log --oneline -n 5"),
        ({"ids": [], "to": {}, "in": [1, 2]}, "", "in=[1, 2]"),
        ({"command": "ls -la /srv/shop", "description": "List"}, "", "ls -la /srv/shop, List"),
        ({"command": "ls -la /srv/shop", "n": 1}, "3 files", "ls -la /srv/s… → 3 files"),
        ({"command": "ls -la /srv/shop/files/of/this/month"}, "3 files", "ls -la /srv/s… → 3 files"),
    ],
)
def test_a_tool_was_asked_its_texts_and_by_name_what_says_nothing_alone(given, value, said):
    recording, event = recorded("tool", value, given)
    assert summary(recording, event, 42) == said


@pytest.mark.parametrize(
    ("given", "cut"),
    [
        ({"order": "L-48", "amount": 129.35}, "L-48, amount=…"),
        ({"order": "L-48 at 12,345.5 EUR"}, "L-48 at …"),
        ({"took": 1.5e-17, "n": 1}, "took=1.5e-17, …"),
        ({"at": "a", "took": 1.25e-17}, "a, took=…"),
        ({"id": "9f1717470ad1d74756"}, "9f1717470ad1d7…"),
        ({"hex": "1" * 60}, "11111111111111…"),
    ],
)
def test_no_row_shows_half_a_number(given, cut):
    recording, event = recorded("tool", "", given)
    assert summary(recording, event, 15) == cut


def test_a_prompt_is_what_its_user_wrote():
    reminder = "<system-reminder>\nThe files are:\n</system-reminder>\n"
    blocks = [{"type": "text", "text": reminder}, {"type": "text", "text": "run it"}]
    for content in (f"{reminder}run it", [{"type": "text", "text": f"{reminder}run it"}], blocks):
        recording, event = recorded("user", {"role": "user", "content": content})
        assert summary(recording, event) == "run it"
    recording, event = recorded("user", {"role": "user", "content": "<system-reminder>cut"})
    assert summary(recording, event) == "<system-reminder>cut"
