"""A streamed answer edited as the message it spelled, and spelled again over the same chunks."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.errors import StashError
from stashdbg_core.session.stream_message import respelled, stream_message


def stream(chunks, **more):
    times = [float(at) for at in range(len(chunks))]
    return {"$stash": "stream", "kind": "async", "chunks": chunks, "times": times, "ending": "exhausted", **more}


def openai(*deltas):
    return stream([{"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas])


def tool(index, **function):
    return {"tool_calls": [{"index": index, "function": function}]}


PLAIN = stream(["Hel", "lo ", "world"])
CHAT = openai({"role": "assistant", "content": ""}, {"content": "Hel"}, {"content": "lo world"}, {})
CALLS = openai(
    tool(0, name="search", arguments=""), tool(0, arguments='{"q": '), tool(0, arguments='"trains"}'),
    tool(1, name="now", arguments="{}"),
)  # fmt: skip
ANTHROPIC = stream(
    [
        {"type": "message_start", "message": {"content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let me "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "look."}},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "t", "name": "look", "input": {}},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"at":'}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": " 1}"}},
        {"type": "message_stop"},
    ]
)
RESPONSE = stream(
    [
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hello "},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "there"},
        {"type": "response.output_text.done", "text": "Hello there"},
        {"type": "response.completed", "response": {"output": [{"content": [{"text": "Hello there"}]}]}},
    ]
)
GEMINI = stream([{"candidates": [{"content": {"parts": [{"text": piece}]}}]} for piece in ("Hi ", "you")])


@given(st.lists(st.text("ab ", max_size=4), min_size=1, max_size=6), st.text("abc ", max_size=12))
@settings(max_examples=200)
def test_pieces_spell_any_text_and_the_old_one_as_it_was(pieces, text):
    found = respelled(pieces, text)
    assert len(found) == len(pieces) and "".join(found) == text
    assert respelled(pieces, "".join(pieces)) == pieces


def test_what_stands_before_and_after_an_edit_stays_in_its_chunks():
    assert respelled(["Hel", "lo ", "world"], "Hello brave world") == ["Hel", "lo ", "brave world"]
    assert respelled(["I ", "paid ", "10", " euros"], "I paid 25 euros") == ["I ", "paid ", "25", " euros"]
    assert respelled(["a", "b"], "abc") == ["a", "bc"]


@pytest.mark.parametrize("tree", [PLAIN, CHAT, GEMINI, RESPONSE])
def test_a_stream_of_one_text_is_edited_as_that_text(tree):
    before = copy.deepcopy(tree)
    message = stream_message(tree)
    assert isinstance(message.tree, str)
    edited = message.edited(message.tree + ", friend")
    assert stream_message(edited).tree == message.tree + ", friend"
    assert message.edited(message.tree) == tree == before
    assert edited["times"] == tree["times"] and len(edited["chunks"]) == len(tree["chunks"])


def test_later_copies_of_the_whole_text_change_with_it():
    edited = stream_message(RESPONSE).edited("Good morning")
    assert "Hello" not in json.dumps(edited) and edited["chunks"][2]["text"] == "Good morning"
    assert edited["chunks"][3]["response"]["output"][0]["content"][0]["text"] == "Good morning"


def test_tool_calls_are_edited_as_objects_and_spelled_again():
    message = stream_message(CALLS)
    calls = message.tree["tool_calls"]
    assert calls == {"0": {"name": "search", "arguments": {"q": "trains"}}, "1": {"name": "now", "arguments": {}}}
    tree = copy.deepcopy(message.tree)
    tree["tool_calls"]["0"]["arguments"]["q"] = "buses"
    edited = message.edited(tree)
    pieces = [chunk["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] for chunk in edited["chunks"]]
    assert json.loads("".join(pieces[:3])) == {"q": "buses"} and pieces[3] == "{}"
    assert message.edited(message.tree) == CALLS


def test_blocks_of_text_and_tools_are_edited_by_their_index():
    message = stream_message(ANTHROPIC)
    assert message.tree == {"content": {"0": {"text": "Let me look."}, "1": {"name": "look", "arguments": {"at": 1}}}}
    tree = copy.deepcopy(message.tree)
    tree["content"]["0"]["text"] = "I will look."
    edited = message.edited(tree)
    assert stream_message(edited).tree == tree
    assert edited["chunks"][5:] == ANTHROPIC["chunks"][5:] and edited["chunks"][0] == ANTHROPIC["chunks"][0]


def test_recorded_objects_of_a_class_are_looked_into():
    def model(**fields):
        return {"$stash": "model", "class": "openai:Chunk", "fields": fields}

    chunks = [model(choices=[model(index=0, delta=model(content=piece))]) for piece in ("a", "b")]
    edited = stream_message(stream(chunks)).edited("abc")
    assert edited["chunks"][1]["fields"]["choices"][0]["fields"]["delta"]["fields"]["content"] == "bc"
    assert edited["chunks"][0] == chunks[0]


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ("text only", "text"),
        ({"tool_calls": {"0": {"name": "search", "arguments": "{}"}}}, "has to be a text"),
        (
            {"tool_calls": {"0": {"name": 1, "arguments": "{}"}, "1": {"name": "now", "arguments": "{}"}}},
            "has to be a text",
        ),
        (
            {"tool_calls": {"0": {"name": "a", "arguments": {}}, "1": {"name": "b", "arguments": {}}}, "content": "x"},
            "no chunk for content",
        ),
    ],
)
def test_a_message_of_another_shape_is_refused_in_words(tree, said):
    with pytest.raises(StashError, match=said):
        stream_message(CALLS).edited(tree)


@pytest.mark.parametrize("tree", [stream([]), stream([1, {"x": 2}]), stream([{"choices": []}]), "text", None, {"a": 1}])
def test_unknown_shapes_are_left_to_be_edited_as_chunks(tree):
    assert stream_message(tree) is None
