"""Runs of LangSmith in every shape they are kept in, with LangChain's messages read as a chat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.formats.langchain_messages import langchain_message
from stashdbg_core.formats.opening import explain, read_foreign, run_summaries
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.session.usage import usage_of_event
from tests.formats.conftest import counts, imported


def run(identity: str, kind: str, parent: str | None = None, second: int = 0, **more: Any) -> dict[str, Any]:
    moment = f"2026-11-30T07:41:{second:02}"
    return {"id": identity, "trace_id": "t", "parent_run_id": parent, "dotted_order": f"2026Z{second}", "name": kind,
            "run_type": kind, "start_time": f"{moment}Z", "end_time": f"{moment}.5Z", "inputs": {}, "outputs": {},
            "error": None, "extra": {}, **more}  # fmt: skip


def constructor(name: str, **fields: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": fields}


CALL = {"name": "look", "args": {"at": "Oslo"}, "id": "c1", "type": "tool_call"}
USAGE = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11, "input_token_details": {"cache_read": 4}}
ANSWER = constructor(
    "AIMessage", content="", tool_calls=[CALL], usage_metadata=USAGE, response_metadata={"model_name": "gpt"}
)
RUNS = [
    run("root", "chain"),
    run("model", "llm", "root", 1, inputs={"messages": [[constructor("HumanMessage", content="weather?")]]},
        outputs={"generations": [[{"message": ANSWER, "text": ""}]]}),
    run("tool", "tool", "root", 2, name="look", inputs={"input": '{"at": "Oslo"}'},
        outputs={"output": {"type": "tool", "content": '{"c": 4}', "tool_call_id": "c1", "status": "success"}}),
    run("bad", "tool", "root", 3, name="look", error="KeyError('x')Traceback (most recent call last):\n  File"),
]  # fmt: skip


def _nested() -> dict[str, Any]:
    hidden = ("parent_run_id", "trace_id")
    inner = [{key: value for key, value in one.items() if key not in hidden} for one in RUNS[1:]]
    return {**RUNS[0], "trace_id": None, "child_runs": inner}


def _split() -> dict[str, Any]:
    post = [{key: value for key, value in one.items() if key not in ("outputs", "end_time", "error")} for one in RUNS]
    patch = [
        {"id": one["id"], "outputs": one["outputs"], "end_time": one["end_time"], "error": one["error"]} for one in RUNS
    ]
    return {"post": post, "patch": patch}


SHAPES = {
    "lines": b"\n".join(json.dumps(one).encode() for one in reversed(RUNS)),
    "array": json.dumps(RUNS).encode(),
    "runs": json.dumps({"runs": RUNS}).encode(),
    "data": json.dumps({"data": RUNS}, indent=1).encode(),
    "nested": json.dumps(_nested()).encode(),
    "post and patch": json.dumps(_split()).encode(),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_the_same_run(shape: str) -> None:
    recording = read_foreign(SHAPES[shape])
    assert recording.id == "langsmith-" + ("root" if shape == "nested" else "t")
    assert [(e.channel, e.key, e.outcome, e.parent, e.call_id) for e in recording.events] == [
        ("span", "chain", "return", None, None), ("llm", "gpt", "return", 0, None),
        ("tool", "look", "return", 0, "c1"), ("tool", "look", "throw", 0, None),
    ]  # fmt: skip
    talk, usage = conversation_of(recording, recording.events[1]), usage_of_event(recording, recording.events[1])
    assert talk is not None and usage is not None
    assert [(m.role, m.text, [c.name for c in m.tool_calls]) for m in talk.messages] == [
        ("user", "weather?", []), ("assistant", "", ["look"]),
    ]  # fmt: skip
    assert (usage.input, usage.output, usage.cached) == (9, 2, 4)
    given = recording.events[2].input_ref
    assert given is not None and recording.blobs.tree(given) == {"at": "Oslo"}
    assert recording.blobs.tree(recording.events[2].ref) == {"c": 4}
    assert recording.blobs.tree(recording.events[3].ref)["message"] == "KeyError('x')"


def test_prompts_as_text_and_runs_that_wait() -> None:
    open_run = run("m", "llm", None, 1, inputs={"prompts": ["Human: hi"]}, outputs=None, end_time=None,
                   extra={"invocation_params": {"model": "gpt", "temperature": 0}})  # fmt: skip
    recording = read_foreign(json.dumps([open_run, run("o", "novel", None, 2)]).encode())
    assert counts(recording)["pending"] == 1 and recording.events[0].key == "gpt"
    assert explain(recording).unknown == {"run type novel": 1}
    talk = conversation_of(recording, recording.events[0])
    assert talk is not None and talk.messages[0].text == "Human: hi"


def test_messages_are_read_in_every_spelling() -> None:
    assert langchain_message(["human", "hi"]) == {"role": "user", "content": "hi"}
    assert langchain_message({"type": "ai", "content": "x", "additional_kwargs": {}}) == {
        "role": "assistant",
        "content": "x",
    }
    asked = [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]
    assert "tool_calls" not in langchain_message({"type": "ai", "content": asked, "tool_calls": [CALL]})
    lifted = langchain_message({"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [CALL]}})
    assert lifted["tool_calls"] == [CALL]
    assert langchain_message({"type": "other"}) == {"type": "other"}


def test_samples_have_the_counts_they_have(shared_samples: Path | None) -> None:
    table = {"generated-runs_flat.jsonl": [(3, 3, 1), (1, 0, 3)], "ingest-batch-wrap_openai_stream.json": [(1, 0, 0)]}
    for name, expected in table.items() if shared_samples is not None else ():
        assert shared_samples is not None
        path = shared_samples / "langsmith" / name
        found = [counts(imported(path, number)) for number in range(len(run_summaries(path)))]
        assert [(one["llm"], one.get("tool", 0), one["throws"]) for one in found] == expected
