"""Streamed answers put together: the message is the one that the provider gives unstreamed."""

from __future__ import annotations

import json

import pytest

from stashdbg_core.exchange.bodies import response_tree
from stashdbg_core.exchange.joined import answer_of, joined_message


def sse(*events, done=True):
    text = "".join(
        f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" if "type" in e else f"data: {json.dumps(e)}\n\n"
        for e in events
    )
    return response_tree(200, {"content-type": "text/event-stream"}, (text + "data: [DONE]\n\n" * done).encode())


def lines(*events):
    text = "".join(json.dumps(event) + "\n" for event in events)
    return response_tree(200, {"content-type": "application/x-ndjson"}, text.encode())


def chat(*deltas, **last):
    chunks = [
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "model": "m",
            "choices": [{"index": 0, "delta": d, "finish_reason": None}],
            "usage": None,
        }
        for d in deltas
    ]
    end = {
        "id": "c",
        "object": "chat.completion.chunk",
        "model": "m",
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
    }
    return [*chunks, end, {"id": "c", "choices": [], **last}]


def call(index=None, call_id=None, **function):
    piece = {"function": function}
    return {
        "tool_calls": [
            {
                **piece,
                **({"id": call_id, "type": "function"} if call_id else {}),
                **({"index": index} if index is not None else {}),
            }
        ]
    }


def asked(*calls):
    return [{"id": i, "type": "function", "function": {"name": name, "arguments": given}} for i, name, given in calls]


TWO = asked(("a", "get", '{"x": 1}'), ("b", "put", "{}"))


def test_chat_texts_usage_and_model():
    body = sse(
        *chat({"role": "assistant", "content": ""}, {"content": "Hel"}, {"content": "lo"}, usage={"prompt_tokens": 3})
    )
    assert answer_of(body) == {
        "id": "c", "object": "chat.completion", "model": "m", "usage": {"prompt_tokens": 3},
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
    }  # fmt: skip


@pytest.mark.parametrize(
    "deltas",
    [
        [
            call(0, "a", name="get", arguments=""),
            call(1, "b", name="put", arguments=""),
            call(0, arguments='{"x": '),
            call(1, arguments="{}"),
            call(0, arguments="1}"),
        ],
        [call(None, "a", name="get", arguments='{"x": 1}'), call(None, "b", name="put", arguments="{}")],
        [
            call(0, "a", name="get", arguments='{"x":'),
            call(0, arguments=" 1}"),
            call(0, "b", name="put", arguments="{}"),
        ],
    ],
    ids=["by index, interleaved", "no index", "one index for all"],
)
def test_tool_calls_in_pieces(deltas):
    message = answer_of(sse(*chat({"role": "assistant", "content": None}, *deltas)))["choices"][0]["message"]
    assert message == {"role": "assistant", "content": None, "tool_calls": TWO}


def test_text_completions_and_several_choices():
    events = [{"choices": [{"index": n, "text": t}]} for n, t in ((0, "a"), (1, "x"), (0, "b"))]
    assert answer_of(sse(*events))["choices"] == [{"index": 0, "text": "ab"}, {"index": 1, "text": "x"}]


def test_a_response_is_what_closed_it_or_what_came_until_it_was_cut():
    item = {"type": "message", "role": "assistant", "content": []}
    events = [
        {"type": "response.created", "response": {"id": "r", "model": "m", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hel"},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "lo"},
    ]
    cut = answer_of(sse(*events, done=False))
    assert cut["id"] == "r" and cut["output"][0]["content"] == [{"type": "output_text", "text": "Hello"}]
    whole = {"id": "r", "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hello!"}]}]}
    assert answer_of(sse(*events, {"type": "response.completed", "response": whole})) == whole


def test_anthropic_blocks():
    tool = {"type": "tool_use", "input": {}}
    events = [
        {"type": "message_start", "message": {"id": "m", "model": "c", "content": [], "usage": {"input_tokens": 5}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}},
        {"type": "ping"},
        {"type": "content_block_start", "index": 1, "content_block": {**tool, "id": "t", "name": "get"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"x"'}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ": 1}"}},
        {"type": "content_block_start", "index": 2, "content_block": {**tool, "id": "u", "name": "now"}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ""}},
        {"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": "cut"}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    ]  # fmt: skip
    message = answer_of(sse(*events, done=False))
    assert message["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "tool_use", "id": "t", "name": "get", "input": {"x": 1}},
        {"type": "tool_use", "id": "u", "name": "now", "input": {}},
        {"type": "text", "text": "cut"},
    ]
    assert message["stop_reason"] == "tool_use" and message["usage"] == {"input_tokens": 5, "output_tokens": 9}


def test_gemini_parts():
    def event(*parts, **more):
        return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}], "modelVersion": "g"}

    events = [
        event({"text": "a", "thought": True}),
        event({"text": "b"}),
        event({"text": "c"}),
        event({"functionCall": {"name": "f", "args": {}}}, finishReason="STOP"),
    ]
    events[-1]["usageMetadata"] = {"promptTokenCount": 1}
    whole = answer_of(sse(*events, done=False))
    assert whole["candidates"][0]["content"]["parts"] == [
        {"text": "a", "thought": True},
        {"text": "bc"},
        {"functionCall": {"name": "f", "args": {}}},
    ]
    assert whole["usageMetadata"] == {"promptTokenCount": 1} and whole["candidates"][0]["finishReason"] == "STOP"
    assert answer_of(sse(*({"response": event} for event in events), done=False)) == whole


def test_ollama_lines():
    said = [{"model": "l", "message": {"role": "assistant", "content": t}, "done": False} for t in ("Hel", "lo")]
    end = {"model": "l", "message": {"role": "assistant", "content": ""}, "done": True, "eval_count": 2}
    assert answer_of(lines(*said, end)) == {**end, "message": {"role": "assistant", "content": "Hello"}}
    written = [{"model": "l", "response": t, "done": t == "b"} for t in ("a", "b")]
    assert answer_of(lines(*written)) == {"model": "l", "response": "ab", "done": True}


def test_cohere_and_converse():
    started, more = {"id": "t", "type": "function", "function": {"name": "f", "arguments": ""}}, {"arguments": "{}"}
    v2 = [
        {"type": "message-start", "id": "1", "delta": {"message": {"role": "assistant"}}},
        {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Hi"}}}},
        {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": started}}},
        {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"function": more}}}},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": 1}}}},
    ]  # fmt: skip
    answer = answer_of(sse(*v2, done=False))
    assert answer["message"]["content"] == [{"type": "text", "text": "Hi"}] and answer["finish_reason"] == "COMPLETE"
    assert answer["message"]["tool_calls"] == asked(("t", "f", "{}"))
    v1 = [{"event_type": "text-generation", "text": "H"}, {"event_type": "stream-end", "response": {"text": "Hi"}}]
    assert answer_of(lines(*v1)) == {"text": "Hi"}
    converse = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"delta": {"text": "Hi"}, "contentBlockIndex": 0}},
        {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "t", "name": "f"}}, "contentBlockIndex": 1}},
        {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}}, "contentBlockIndex": 1}},
        {"messageStop": {"stopReason": "tool_use"}},
    ]
    content = [{"text": "Hi"}, {"toolUse": {"toolUseId": "t", "name": "f", "input": "{}"}}]
    assert answer_of(lines(*converse)) == {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "tool_use",
    }


def test_json_rpc_and_what_is_no_message():
    answer = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert answer_of(sse({"jsonrpc": "2.0", "method": "progress"}, answer, done=False)) == answer
    assert [joined_message(body) for body in (None, "text", {"a": 1}, sse({"x": 1})["body"], "data: [DONE]\n\n")] == [
        None
    ] * 5
    assert (
        answer_of({"status": 200, "body": '{"a" : 1}'}) == {"a": 1} and answer_of({"status": 200, "body": "{"}) == "{"
    )


@pytest.mark.parametrize(
    "name", ["choices", "candidates", "message", "delta", "index", "response", "content_block", "tool_calls", "content"]
)
@pytest.mark.parametrize("odd", [None, 1, "x", [], {}, [None], [[]], {"content": 1}])
def test_odd_shapes_never_break_it(name, odd):
    for first in (
        {"choices": []},
        {"candidates": []},
        {"type": "message_start"},
        {"type": "response.created"},
        {"done": 1, "message": 1},
        {"type": "content-start"},
        {"messageStart": 1},
    ):
        joined_message(
            {
                "$stash": "stream",
                "chunks": [
                    json.dumps(first),
                    json.dumps({**first, name: odd}),
                    json.dumps({"choices": [{"delta": {name: odd}, name: odd}], "contentBlockDelta": {name: odd}}),
                ],
            }
        )
