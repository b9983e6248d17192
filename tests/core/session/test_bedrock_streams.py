"""Bedrock's streams edited as the message they spelled, and spelled again in frames that any client can read."""

from __future__ import annotations

import base64
import json
import struct
from binascii import crc32

import pytest

from stashdbg_core.canonical import Json
from stashdbg_core.exchange.bodies import response_parts, response_tree
from stashdbg_core.exchange.frames import EVENT_STREAM
from stashdbg_core.session.stream_message import StreamMessage, spoken_message, stream_message
from tests.core.exchange.framing import chunk, stream


def delta(block: int, **said: object) -> dict[str, object]:
    return {"contentBlockDelta": {"contentBlockIndex": block, "delta": said, "p": "abc"}}


def tool_input(text: str) -> dict[str, object]:
    return delta(2, toolUse={"input": text})


CONVERSE = stream(
    {"messageStart": {"role": "assistant"}},
    delta(0, reasoningContent={"text": "Let me"}), delta(0, reasoningContent={"text": " think"}),
    delta(0, reasoningContent={"signature": "c2ln"}),
    delta(1, text="Hel"), delta(1, text="lo wörld"),
    {"contentBlockStart": {"contentBlockIndex": 2, "start": {"toolUse": {"name": "look", "toolUseId": "t"}}}},
    tool_input('{"at":'), tool_input(" 1}"),
    {"messageStop": {"stopReason": "tool_use"}},
)  # fmt: skip
ANTHROPIC = [
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let me "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "look."}},
]


def recorded(body: bytes) -> StreamMessage:
    message = stream_message(response_tree(200, {"content-type": EVENT_STREAM}, body))
    assert message is not None
    return message


def sent(edited: Json) -> list[tuple[str, dict[str, Json]]]:
    """Return the events that a client would read from an edited response, every checksum checked."""
    data = b"".join(response_parts(edited).chunks)
    found = []
    while data:
        total, head, checksum = struct.unpack("!III", data[:12])
        assert checksum == crc32(data[:8]) and struct.unpack("!I", data[total - 4 : total])[0] == crc32(
            data[: total - 4]
        )
        assert data[12:25] == b"\x0b:event-type\x07"
        name = data[27 : 27 + int.from_bytes(data[25:27], "big")].decode()
        found.append((name, json.loads(data[12 + head : total - 4])))
        data = data[total:]
    return found


def test_a_converse_stream_is_edited_as_the_message_it_spelled() -> None:
    message = recorded(CONVERSE)
    said = {"reasoning": "Let me think"}, {"text": "Hello wörld"}, {"name": "look", "arguments": {"at": 1}}
    assert (
        message.tree == {"content": dict(zip("012", said, strict=True))} == spoken_message(message.edited(message.tree))
    )
    wanted = {
        "0": {"reasoning": "Let me see"},
        "1": {"text": "Good mörning"},
        "2": {"name": "find", "arguments": {"at": 22}},
    }
    events = sent(message.edited({"content": wanted}))

    assert [name for name, _ in events] == [name for name, _ in sent(message.edited(message.tree))]
    deltas = [payload["delta"] for name, payload in events if name == "contentBlockDelta"]
    assert [one["text"] for one in deltas if "text" in one] == ["Good mörning", ""]
    assert deltas[2] == {"reasoningContent": {"signature": "c2ln"}}
    assert events[6][1]["start"] == {"toolUse": {"name": "find", "toolUseId": "t"}}
    assert json.loads("".join(one["toolUse"]["input"] for one in deltas if "toolUse" in one)) == {"at": 22}
    assert all(payload["p"] == "abc" for name, payload in events if name == "contentBlockDelta")


def test_what_is_not_edited_stays_byte_for_byte() -> None:
    message = recorded(CONVERSE)
    assert b"".join(response_parts(message.edited(message.tree)).chunks) == CONVERSE
    cut = CONVERSE + b"\0\0\0"
    edited = recorded(cut).edited({"content": {**message.tree["content"], "1": {"text": "Hello"}}})
    assert response_parts(edited).chunks[-1] == b"\0\0\0"


def test_blocks_of_which_each_is_a_piece_of_one_text_are_that_text() -> None:
    body = stream(*(delta(block, text=text) for block, text in enumerate(["Go ", "left", " now"])), tool_input("{}"))
    message = recorded(body)
    assert message.tree == {"content": {"0": {"text": "Go left now"}, "2": {"arguments": {}}}}
    edited = message.edited({"content": {"0": {"text": "Go right now"}, "2": {"arguments": {}}}})
    assert [payload["delta"]["text"] for _, payload in sent(edited)[:3]] == ["Go ", "right", " now"]


@pytest.mark.parametrize(
    ("pieces", "place"),
    [
        (ANTHROPIC, ("delta", "text")),
        ([{"contentBlockDelta": {"delta": {"text": text}}} for text in ("Let me ", "look.")],
         ("contentBlockDelta", "delta", "text")),
        ([{"outputText": "Let me ", "index": 0}, {"outputText": "look.", "index": 0}], ("outputText",)),
        ([{"generation": "Let me "}, {"generation": "look.", "stop_reason": "stop"}], ("generation",)),
    ],
    ids=["anthropic", "nova", "titan", "llama"],
)  # fmt: skip
def test_another_providers_model_is_edited_inside_its_chunks(pieces: list[Json], place: tuple[str, ...]) -> None:
    message = recorded(b"".join(chunk(piece, p="abcd") for piece in pieces))
    assert message.tree == "Let me look."
    events = sent(message.edited("I will look."))
    assert len(events) == len(pieces) and {name for name, _ in events} == {"chunk"}
    inner = [json.loads(base64.b64decode(payload["bytes"])) for _, payload in events]
    assert inner[:-2] == pieces[:-2] and events[-1][1]["p"] == "abcd"
    texts = []
    for tree in inner[-2:]:
        for step in place:
            tree = tree[step]
        texts.append(tree)
    assert texts == ["I will ", "look."]
