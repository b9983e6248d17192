"""Recorded HTTP responses as the debugger reads them: replies, tokens, rows, errors, and a streamed answer's edit."""

from __future__ import annotations

import json

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.exchange.bodies import response_parts, response_tree
from stashdbg_core.exchange.joined import answer_of
from stashdbg_core.fork.override import recorded_tree
from stashdbg_core.formats.opening import read_foreign
from stashdbg_core.session import gist
from stashdbg_core.session.chat_reply import reply_of
from stashdbg_core.session.chat_request import messages_of
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.session.editing import draft_of
from stashdbg_core.session.fork_edit import named_path, save_fork, start_edit
from stashdbg_core.session.stream_message import stream_message
from stashdbg_core.session.summary import summary
from stashdbg_core.session.usage import Usage, usage_of
from stashdbg_core.store.open import open_recording


def answered(body, status=200, kind="application/json"):
    text = body if isinstance(body, str) else json.dumps(body)
    return response_tree(status, {"content-type": kind}, text.encode())


def streamed(*events, kind="text/event-stream"):
    texts = [
        f"data: {json.dumps(event)}\n\n" if kind == "text/event-stream" else json.dumps(event) + "\n"
        for event in events
    ]
    return answered("".join(texts), kind=kind)


def openai(*deltas):
    return streamed(*({"id": "c", "choices": [{"index": 0, "delta": delta}]} for delta in deltas))


CHAT = openai({"role": "assistant", "content": ""}, {"content": "Hello "}, {"content": "wörld"}, {})
CALL = openai(
    {"tool_calls": [{"index": 0, "id": "t", "function": {"name": "get", "arguments": ""}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": '{"city": '}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": '"Paris"}'}}]},
)
ANTHROPIC = streamed(
    {
        "type": "message_start",
        "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 7, "output_tokens": 1}},
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello wörld"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
)
OLLAMA = streamed(
    {"message": {"role": "assistant", "content": "Hello "}, "done": False},
    {"message": {"role": "assistant", "content": "wörld"}, "done": True, "prompt_eval_count": 7, "eval_count": 3},
    kind="application/x-ndjson",
)
COHERE = streamed(
    {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": "Hello "}}}},
    {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "wörld"}}}},
)
GEMINI = streamed(*({"candidates": [{"content": {"parts": [{"text": piece}]}}]} for piece in ("Hello ", "wörld")))
STREAMS = {"chat": CHAT, "anthropic": ANTHROPIC, "ollama": OLLAMA, "cohere": COHERE, "gemini": GEMINI}


@pytest.mark.parametrize("tree", STREAMS.values(), ids=STREAMS)
def test_a_streamed_reply_is_one_message_at_its_chunks(tree):
    (message,) = reply_of(tree)
    assert (message.role, message.text, message.pointer) == ("assistant", "Hello wörld", "/body/chunks")
    assert gist.response(tree, 80) == "Hello wörld"


def test_a_whole_reply_is_read_where_it_stands():
    body = {"choices": [{"message": {"role": "assistant", "content": "Hi"}}]}
    assert [m.pointer for m in reply_of(answered(body))] == ["/body/choices/0/message"]
    assert [m.text for m in reply_of(answered('{"choices" : [{"text": "Hi"}]}'))] == ["Hi"]
    assert [
        m.text for m in reply_of(answered({"output": {"message": {"role": "assistant", "content": [{"text": "Hi"}]}}}))
    ] == ["Hi"]
    assert [m.text for m in reply_of(answered({"response": "Hi", "done": True}))] == ["Hi"]
    (message,) = reply_of(CALL)
    assert [(c.name, c.arguments, c.id) for c in message.tool_calls] == [("get", '{"city": "Paris"}', "t")]


def test_coheres_first_chats_are_conversations():
    asked = {
        "message": "now",
        "preamble": "be brief",
        "chat_history": [{"role": "USER", "message": "hi"}, {"role": "CHATBOT", "message": "yo"}],
    }
    found, omitted = messages_of(asked)
    assert [(m.role, m.text) for m in found] == [
        ("system", "be brief"),
        ("user", "hi"),
        ("assistant", "yo"),
        ("user", "now"),
    ]
    assert omitted == 0 and found[2].pointer == "/chat_history/1"


@pytest.mark.parametrize(
    ("tree", "usage"),
    [
        (ANTHROPIC, Usage(7, 3)),
        (OLLAMA, Usage(7, 3)),
        (answered({"usage": {"prompt_tokens": 7, "completion_tokens": 3}}), Usage(7, 3)),
        (answered('{"usage" : {"prompt_tokens": 7, "completion_tokens": 3}}'), Usage(7, 3)),
        (answered({"usage": {"inputTokens": 5, "outputTokens": 3, "cacheReadInputTokens": 2}}), Usage(7, 3, 2)),
        (answered({"meta": {"tokens": {"input_tokens": 7, "output_tokens": 3}}}), Usage(7, 3)),
        (answered({"usage": {"tokens": {"input_tokens": 7, "output_tokens": 3}}}), Usage(7, 3)),
        (CHAT, None),
        (answered("text"), None),
    ],
)
def test_tokens_are_counted_inside_responses(tree, usage):
    assert usage_of(tree) == usage


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        (answered({"error": {"message": "slow down", "type": "rate_limit"}}, 429), "429 rate_limit: slow down"),
        (answered({"detail": "gone"}, 404), "404 gone"),
        (answered("Bad Gateway\n", 502, "text/plain"), "502 Bad Gateway"),
        (answered("", 500), "500 Internal Server Error"),
        ({"error": {"code": -32602, "message": "Unknown"}}, "Unknown"),
        ({"content": [{"type": "text", "text": "no such file"}], "isError": True}, "no such file"),
    ],
)
def test_a_failed_response_is_its_status_and_what_went_wrong(tree, said):
    assert gist.error(tree, 80) == said


def test_json_rpc_and_plain_responses_in_a_row():
    rpc = answered({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "sunny"}]}})
    assert gist.response(rpc, 80) == "sunny"
    assert gist.response(answered("", 202), 80) == "202"
    assert gist.response(answered({"a": 1}, 201), 80) == "201 a=1"


@pytest.mark.parametrize("tree", STREAMS.values(), ids=STREAMS)
def test_an_edited_answer_is_spelled_again_in_the_providers_events(tree):
    message = stream_message(tree)
    wanted = json.loads(json.dumps(message.tree).replace("Hello w\\u00f6rld", "Hello brave wörld"))
    edited = message.edited(wanted)
    assert stream_message(edited).tree == wanted
    assert message.edited(message.tree) == tree
    body = b"".join(response_parts(edited).chunks).decode()
    assert {k: v for k, v in edited.items() if k != "body"} == {k: v for k, v in tree.items() if k != "body"}
    assert [m.text for m in reply_of(edited)] == ["Hello brave wörld"]
    unchanged = [
        one for one, other in zip(tree["body"]["chunks"], edited["body"]["chunks"], strict=True) if one == other
    ]
    assert len(unchanged) == len(tree["body"]["chunks"]) - 1 and "\\u00f6" in body and "ö" not in body


def test_arguments_of_a_tool_call_are_edited_as_what_they_spell():
    message = stream_message(CALL)
    assert message.tree == {"tool_calls": {"0": {"name": "get", "arguments": {"city": "Paris"}}}}
    edited = message.edited({"tool_calls": {"0": {"name": "get", "arguments": {"city": "Oslo"}}}})
    call = answer_of(edited)["choices"][0]["message"]["tool_calls"][0]
    assert json.loads(call["function"]["arguments"]) == {"city": "Oslo"} and call["id"] == "t"


def test_a_stream_of_unknown_events_is_edited_whole():
    assert stream_message(streamed({"x": 1})) is None and stream_message(answered({"choices": []})) is None


@pytest.mark.parametrize("odd", [None, "x", [1], {"a": 1}, 1.5])
def test_a_number_of_another_type_counts_as_none(odd):
    tree = streamed(
        {
            "choices": [
                {"index": odd, "delta": {"content": "a", "tool_calls": [{"index": odd, "function": {"name": "f"}}]}}
            ]
        }
    )
    assert stream_message(tree).tree == {"content": "a", "tool_calls": {"0": {"name": "f"}}}
    assert reply_of(tree)[0].text == "a"


@pytest.fixture
def recording(data):
    return read_foreign(data / "formats" / "vcrpy" / "weather_agent_stream.yaml")


def test_a_fork_of_a_streamed_answer_is_one_more_recording(recording, tmp_path):
    (position,) = [e.seq for e in recording.events if e.channel == "llm" and "It is" in summary(recording, e)]
    edit = start_edit(recording, position)
    assert edit.shown.startswith("It is 21 °C")
    proposal = edit.proposal(draft_of(edit.shown), "It is cold.")
    assert "15 chunks" in " ".join(proposal.words()) or "chunks it came in" in " ".join(proposal.words())
    forked = open_recording(save_fork(proposal, named_path("fork", tmp_path / "x.json")))
    event = forked.events[len(forked.events) - 1]
    assert summary(forked, event) == "It is cold."
    assert conversation_of(forked, event).messages[-1].text == "It is cold."
    parts = response_parts(recorded_tree(forked, event))
    assert parts.status == 200 and parts.chunks[-1] == b"data: [DONE]\n\n"
    assert b"It is cold." in b"".join(
        json.loads(c[6:])["choices"][0]["delta"].get("content", "").encode() for c in parts.chunks if b'"delta"' in c
    )


def test_whole_responses_and_lists_of_events_replace_one(recording):
    edit = start_edit(recording, 0)
    failed = edit.override({"status": 503, "headers": {}, "body": "down"})
    assert failed.outcome == "throw" and failed.tree["body"] == "down"
    chunks = edit.override(["data: [DONE]\n\n"])
    assert chunks.outcome == "return" and response_parts(chunks.tree).chunks == [b"data: [DONE]\n\n"]
    with pytest.raises(StashError, match="has to be a text"):
        edit.override({"nothing": 1})
