"""Requests and responses a line each, and batch files."""

from __future__ import annotations

import json

from stashdbg_core.formats.opening import read_foreign
from stashdbg_core.session.summary import summary
from tests.formats.conftest import counts, imported
from tests.formats.test_vcrpy import messages


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
SAID = {"model": "m-1", "choices": [{"message": {"role": "assistant", "content": "yo"}}]}


def test_calls_whole_streamed_and_failed(formats_data):
    recording = imported(formats_data / "request_lines" / "requests.jsonl")
    assert counts(recording) == {"llm": 7, "tool": 6, "throws": 1, "pending": 0}
    said = messages(recording)
    assert said[:3] == said[3:6]
    first = recording.events[0]
    assert (first.key, first.ms, first.at) == ("gpt-4o-mini-2024-07-18", 4.06, 1796024480000.0)


def test_a_batch_is_asked_in_one_file_and_answered_in_another():
    asked = read_foreign(lines({"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": ASKED}))
    assert counts(asked) == {"llm": 1, "throws": 0, "pending": 1} and asked.events[0].call_id == "a"
    answered = read_foreign(
        lines(
            {
                "id": "b1",
                "custom_id": "a",
                "response": {"status_code": 200, "request_id": "r", "body": SAID},
                "error": None,
            },
            {
                "id": "b2",
                "custom_id": "b",
                "response": {"status_code": 429, "body": {"error": {"message": "slow"}}},
                "error": None,
            },
            {"id": "b3", "custom_id": "c", "response": None, "error": {"code": "expired", "message": "too late"}},
        )
    )
    assert [summary(answered, event) for event in answered.events] == ["yo", "429 slow", "expired: too late"]
    assert [event.input_ref for event in answered.events] == [None] * 3
    assert counts(answered) == {"llm": 3, "throws": 2, "pending": 0}


def test_anthropics_batches():
    message = {"type": "message", "role": "assistant", "model": "c", "content": [{"type": "text", "text": "yo"}]}
    results = lines(
        {"custom_id": "a", "result": {"type": "succeeded", "message": message}},
        {"custom_id": "b", "result": {"type": "errored", "error": {"type": "error", "error": {"message": "bad"}}}},
        {"custom_id": "c", "result": {"type": "expired"}},
    )
    recording = read_foreign(results)
    assert [(e.key, e.outcome) for e in recording.events] == [
        ("c", "return"),
        ("unknown", "throw"),
        ("unknown", "throw"),
    ]
    assert read_foreign(lines({"custom_id": "a", "params": ASKED})).events[0].key == "m"


def test_requests_without_a_url_and_other_names():
    whole = {"method": "POST", "url": "https://h/v1/messages", "body": ASKED}
    recording = read_foreign(
        lines(
            {"request": ASKED, "response": SAID, "timestamp": 1796024480, "latency": 0.5, "mood": 1},
            {"request": ASKED, "response": 'data: {"choices":[{"delta":{"content":"yo"}}]}\n\ndata: [DONE]\n\n'},
            {"request": ASKED, "error": "timed out"},
            {"request": whole, "response": {"status": 200, "headers": {}, "body": SAID}},
            {"other": 1},
        )
    )  # fmt: skip
    assert [summary(recording, e) for e in recording.events] == ["yo", "yo", "timed out", "yo"]
    assert (recording.events[0].at, recording.events[0].ms) == (1796024480000.0, 500.0)
    unknown = recording.meta["source"]["unknown"]
    assert unknown == {"field mood": 1, "record without a request and its answer": 1}
