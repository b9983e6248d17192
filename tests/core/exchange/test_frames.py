"""AWS event streams kept as texts and given back frame by frame, and what a model said in them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import stored_form
from stashdbg_core.exchange.bodies import has_odd_frames, response_parts, response_tree
from stashdbg_core.exchange.frames import EVENT_STREAM, frame_bytes, frame_chunks
from stashdbg_core.exchange.joined import answer_of
from stashdbg_core.exchange.naming import name_exchange
from stashdbg_core.parse import parse_json
from stashdbg_core.redact import Redactor
from stashdbg_core.session.usage import Usage, usage_of
from tests.core.exchange.framing import chunk, compact, event, stream

HEADERS = {"content-type": EVENT_STREAM}
EMPTY = b"\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2H\xeb}\x98\xc8\xff"
"""The frame without headers and payload, as the encoding's own test vectors have it."""
CONVERSE = [
    {"messageStart": {"p": "abc", "role": "assistant"}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "Hm"}}, "p": "a"}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "m."}}}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": {"signature": "s"}}}},
    {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "H"}, "p": "a"}},
    {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "é"}}},
    {"contentBlockStop": {"contentBlockIndex": 1}},
    {"messageStop": {"p": "abcdef", "stopReason": "end_turn"}},
    {"metadata": {"metrics": {"latencyMs": 5}, "usage": {"inputTokens": 8, "outputTokens": 2, "totalTokens": 10}}},
]


def test_a_converse_stream_is_the_message_it_spelled_with_its_tokens():
    body = stream(*CONVERSE)
    tree = response_tree(200, HEADERS, [body[:50], body[50:]], times_ms=[1.0, 2.0])
    content = [
        {"reasoningContent": {"reasoningText": {"text": "Hmm.", "signature": "s"}}},
        {"text": "Hé"},
    ]
    answer = answer_of(tree)

    assert answer["output"] == {"message": {"role": "assistant", "content": content}}
    assert answer["stopReason"] == "end_turn" and usage_of(tree) == Usage(8, 2, 0)
    assert tree["body"]["chunks"][4] == '{"contentBlockDelta":{"contentBlockIndex":1,"delta":{"text":"H"},"p":"a"}}'
    assert response_parts(tree).times_ms == [2.0] * 9 and not has_odd_frames(tree)
    assert [len(one) for one in response_parts(tree).chunks] == [len(stream(one)) for one in CONVERSE]


def test_what_another_providers_model_said_is_json_and_no_base64():
    anthropic = [
        {"type": "message_start", "message": {"model": "claude", "role": "assistant", "content": []}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
    ]
    body = b"".join(chunk(one, p="abc") for one in anthropic)
    tree = response_tree(200, HEADERS, body)

    assert tree["body"]["chunks"][1] == '{"chunk":{"bytes":' + compact(anthropic[1]).decode() + ',"p":"abc"}}'
    assert answer_of(tree)["content"] == [{"type": "text", "text": "Hi"}]
    assert b"".join(response_parts(tree).chunks) == body
    titan = response_tree(200, HEADERS, chunk({"outputText": "a", "index": 0}) + chunk({"outputText": "b"}))
    assert answer_of(titan) == {"outputText": "ab", "index": 0}
    secret = response_tree(200, HEADERS, chunk({"outputText": "sk-" + "a1B2" * 12}) + chunk({"outputText": "."}))
    assert "a1B2a1B2" not in json.dumps(Redactor().redact_tree(secret))


def test_an_error_within_a_stream_is_part_of_what_it_said():
    body = stream(*CONVERSE[:2]) + event("throttlingException", b'{"message":"slow down"}', "exception")
    tree = response_tree(200, HEADERS, body)
    assert answer_of(tree)["throttlingException"] == {"message": "slow down"}
    assert b"".join(response_parts(tree).chunks) == body


def test_what_is_damaged_cut_off_or_unusual_stays_the_bytes_it_is():
    good, bad = stream(*CONVERSE[:2]), bytearray(stream(*CONVERSE[2:4]))
    bad[-20] ^= 1
    for end in (bytes(bad), stream(CONVERSE[2])[:-3], b"\0" * 9, EMPTY, event("x", b"\xff"), event("a.b", b"{}")):
        tree = response_tree(200, HEADERS, good + end)
        assert [type(one) for one in tree["body"]["chunks"][:2]] == [str, str]
        assert has_odd_frames(tree) and b"".join(response_parts(tree).chunks) == good + end
    early = response_tree(200, HEADERS, good + stream(CONVERSE[2])[:-3], ending="closed")
    assert not has_odd_frames(early) and has_odd_frames(response_tree(200, HEADERS, good + bytes(bad), ending="failed"))
    assert response_tree(200, HEADERS, b"no frame")["body"] == "no frame"
    assert has_odd_frames(response_tree(200, HEADERS, b"\xff" * 40))
    assert frame_chunks(EMPTY) == [EMPTY]


def test_an_edited_text_makes_a_whole_frame():
    tree = response_tree(200, HEADERS, stream(*CONVERSE))
    chunks = [one.replace('"é"', '"ello"') if type(one) is str else one for one in tree["body"]["chunks"]]
    sent = b"".join(response_parts({**tree, "body": {**tree["body"], "chunks": chunks}}).chunks)
    again = response_tree(200, HEADERS, sent)
    assert answer_of(again)["output"]["message"]["content"][1] == {"text": "Hello"} and not has_odd_frames(again)
    assert frame_bytes("no object") == b"no object"


@given(st.lists(st.sampled_from(CONVERSE), max_size=4), st.binary(max_size=40), st.data())
@settings(max_examples=60, deadline=None)
def test_any_body_comes_back_byte_for_byte(events, noise, data):
    body = bytearray(stream(*events) + noise)
    if body and data.draw(st.booleans()):
        body[data.draw(st.integers(0, len(body) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    tree = parse_json(stored_form(response_tree(200, HEADERS, bytes(body))))
    assert b"".join(response_parts(tree).chunks) == bytes(body)


@pytest.mark.parametrize("verb", ["converse", "converse-stream", "invoke", "invoke-with-response-stream"])
def test_calls_of_bedrock_are_named_by_their_model_whatever_they_say(verb):
    arn = "arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.amazon.nova"
    for body in (b'{"messages":[]}', b"", b"not json"):
        named = name_exchange("POST", f"https://bedrock-runtime.eu.amazonaws.com/model/{arn}/{verb}", {}, body)
        assert (named.channel, named.key) == ("llm", "arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova")
