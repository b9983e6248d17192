"""Lists of messages, alone or a row each."""

from __future__ import annotations

import json

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.formats.opening import detect, explain, read_foreign, run_summaries
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.session.summary import summary
from tests.formats.conftest import counts, imported


@pytest.mark.parametrize("name", ["messages.json", "finetune_messages.jsonl"])
def test_a_chat_is_prompts_answers_and_tools(formats_data, name):
    recording = imported(formats_data / "chat_messages" / name)
    assert counts(recording) == {"user": 1, "llm": 3, "tool": 3, "throws": 0, "pending": 0}
    assert [event.key for event in recording.events] == [
        "prompt", "unknown", "get_weather", "get_weather", "unknown", "convert", "unknown",
    ]  # fmt: skip
    assert [len(conversation_of(recording, e).messages) for e in recording.events if e.channel == "llm"] == [3, 4, 5]
    assert "whether a tool failed" in explain(recording).missing


def test_rows_are_runs():
    rows = [
        {"messages": [{"role": "user", "content": f"ask {n}"}, {"role": "assistant", "content": "yo"}]}
        for n in range(3)
    ]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    assert [(run.title, run.detail) for run in run_summaries(data)] == [(f"ask {n}", "2 messages") for n in range(3)]
    assert summary(read_foreign(data, run=2), read_foreign(data, run=2).events[0]).endswith("ask 2")
    with pytest.raises(StashError, match="holds 3 runs"):
        read_foreign(data)
    with pytest.raises(StashError, match="no chat of that number"):
        read_foreign(data, run=9)
    as_list = json.dumps(rows, indent=1).encode()
    assert len(run_summaries(as_list)) == 3


def test_other_spellings_of_a_chat():
    shared = {"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "yo"}]}
    pretty = json.dumps(
        {"note": 1, "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]}, indent=2
    )
    blocks = [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "model": "c",
            "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {"at": 1}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": "nothing", "is_error": True}],
        },
        {"role": "assistant", "content": "gone"},
    ]
    assert counts(read_foreign(json.dumps(shared).encode())) == {"user": 1, "llm": 1, "throws": 0, "pending": 0}
    assert counts(read_foreign(pretty.encode())) == {"user": 1, "llm": 1, "throws": 0, "pending": 0}
    recording = read_foreign(json.dumps(blocks).encode())
    assert counts(recording) == {"user": 1, "llm": 2, "tool": 1, "throws": 1, "pending": 0}
    assert recording.events[1].key == "c"


def test_a_call_without_a_result_is_pending():
    chat = [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}],
        },
    ]
    assert counts(read_foreign(json.dumps(chat).encode()))["pending"] == 1


@pytest.mark.parametrize(
    "text",
    ['{"messages": []}', '{"messages": [{"id": 1}]}', "[1]", "[]", "{}", '{"messages": [{"role": 1, "content": 2}]}'],
)
def test_what_is_no_chat_is_not_taken_for_one(text):
    found = detect(ForeignSource(text.encode()))
    assert found is None or found.name != "chat-messages"
