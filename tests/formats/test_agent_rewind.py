"""Recordings of agent-rewind, call for call."""

from __future__ import annotations

import json

from stashdbg_core.formats.opening import read_foreign
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.session.stream_message import stream_message
from stashdbg_core.session.summary import summary
from tests.formats.conftest import counts, imported


def test_calls_come_one_to_one(formats_data):
    recording = imported(formats_data / "agent_rewind" / "run.rewind")
    assert counts(recording) == {"llm": 2, "tool": 2, "throws": 1, "pending": 0}
    found = [(e.channel, e.key, e.outcome, round(e.at), summary(recording, e)) for e in recording.events]
    assert found[1:3] == [
        ("tool", "get_weather", "return", 1796024811975, 'Paris → city="Paris", celsius=21'),
        ("tool", "get_weather", "throw", 1796024811975, "KeyError: 'unknown city: Atlantis'"),
    ]
    assert len(conversation_of(recording, recording.events[3]).messages) == 3


def test_streams_and_failures_of_a_library(formats_data):
    recording = imported(formats_data / "agent_rewind" / "openai_patched.rewind")
    assert counts(recording) == {"llm": 7, "throws": 1, "pending": 0}
    said = [stream_message(recording.blobs.tree(event.ref)) for event in recording.events]
    assert [message is not None for message in said] == [False, False, False, True, True, True, False]
    assert said[5].tree.rstrip() == "It is 21 °C (69.8 °F) in Paris; Atlantis is unknown. ☀️"
    assert summary(recording, recording.events[6]).startswith("RateLimitError: Error code: 429")


def test_what_is_not_known_is_kept_and_counted():
    head = {"rewind_format": 2, "created_at": 1, "meta": {"a": 1}}
    call = {
        "seq": 0,
        "kind": "tool",
        "name": "f",
        "request": {},
        "response": 1,
        "error": None,
        "live": True,
        "mood": "new",
    }
    data = "".join(json.dumps(line) + "\n" for line in (head, call, {"x": 1})).encode()
    recording = read_foreign(data)
    source = recording.meta["source"]
    assert source["unknown"] == {"format version 2": 1, "field mood": 1} and source["damagedLines"] == 1
    assert dict(recording.events[0].extra) == {"live": b"true", "mood": b'"new"'}
