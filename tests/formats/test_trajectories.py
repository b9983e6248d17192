"""Trajectory files: ATIF, SWE-agent, mini-swe-agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.session.usage import usage_of_event
from tests.formats.conftest import counts, imported


def opened(tmp_path: Path, tree: object, name: str = "trajectory.json") -> Recording:
    (tmp_path / name).write_text(json.dumps(tree), encoding="utf-8")
    return imported(tmp_path / name)


def atif(*steps: dict[str, Any], **more: object) -> dict[str, object]:
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
    agent = {"name": "desk", "version": "1", "model_name": "m-1"}
    return {"schema_version": "ATIF-v1.7", "session_id": "s-1", "agent": agent, "steps": numbered, **more}


def call(number: int, name: str = "search") -> dict[str, object]:
    return {"tool_call_id": f"c{number}", "function_name": name, "arguments": {"n": number}}


def values(recording: Recording, channel: str) -> list[object]:
    return [recording.blobs.tree(event.ref) for event in recording.events if event.channel == channel]


USER = {"source": "user", "message": "Find it", "timestamp": "2026-01-01T00:00:00Z"}


def test_an_agents_step_is_a_model_call_and_its_tools_paired_by_id(tmp_path: Path) -> None:
    results = [{"source_call_id": "c2", "content": "two"}, {"source_call_id": "c1", "content": "one"}]
    metrics = {"prompt_tokens": 10, "cached_tokens": 4, "completion_tokens": 3, "prompt_token_ids": [1, 2]}
    step = {
        "source": "agent", "message": "Looking", "reasoning_content": "hm", "metrics": metrics,
        "tool_calls": [call(1), call(2)], "observation": {"results": results},
    }  # fmt: skip
    recording = opened(tmp_path, atif(USER, step, {"source": "agent", "message": "Found"}))

    assert recording.id == "atif-s-1"
    assert counts(recording) == {"user": 1, "llm": 2, "tool": 2, "throws": 0, "pending": 0}
    assert values(recording, "tool") == ["one", "two"]
    first, last = (event for event in recording.events if event.channel == "llm")
    usage = usage_of_event(recording, first)
    assert usage is not None
    assert (usage.input, usage.cached, usage.output) == (10, 4, 3)
    chat = conversation_of(recording, last)
    assert chat is not None
    assert [message.role for message in chat.messages] == ["user", "assistant", "assistant"]
    asked = chat.messages[1].tool_calls
    assert [(made.name, made.result.text if made.result else None) for made in asked] == [
        ("search", "one"),
        ("search", "two"),
    ]
    assert recording.meta["source"]["skipped"] == {"metrics.prompt_token_ids": 1}


def test_results_without_ids_pair_by_place_and_a_lone_one_with_the_last_call(tmp_path: Path) -> None:
    both = {"results": [{"content": "one"}, {"content": "two"}]}
    alone = {"results": [{"content": "all"}]}
    first = {"source": "agent", "message": "", "tool_calls": [call(1), call(2)], "observation": both}
    second = {"source": "agent", "message": "", "tool_calls": [call(3), call(4)], "observation": alone}
    recording = opened(tmp_path, atif(USER, first, second))
    assert values(recording, "tool") == ["one", "two", None, "all"]
    marked = [event.call_id for event in recording.events if "cut" in event.extra]
    assert marked == ["c3"]


def test_failed_pending_and_unasked_results_are_told_apart(tmp_path: Path) -> None:
    results = [
        {"source_call_id": "c1", "content": "no such file", "extra": {"is_error": True}},
        {"content": "New Terminal Output"},
    ]
    step = {
        "source": "agent",
        "message": "",
        "tool_calls": [call(1), call(2)],
        "observation": {"results": results[:1]},
    }
    words = {"source": "agent", "message": "{broken", "observation": {"results": results[1:]}}
    recording = opened(tmp_path, atif(USER, step, words))
    assert counts(recording) == {"user": 1, "llm": 2, "tool": 2, "note": 1, "throws": 1, "pending": 1}
    assert values(recording, "tool") == [{"error": "no such file"}, {"$stash": "pending"}]
    assert values(recording, "note") == ["New Terminal Output"]


def test_sub_agents_are_lanes_and_continuations_go_on(tmp_path: Path) -> None:
    reference = {"content": "summarised", "subagent_trajectory_ref": [{"session_id": "sub-1"}]}
    beside = {"content": "asked", "subagent_trajectory_ref": [{"trajectory_path": "trajectory.ask.json"}]}
    helper = {**atif(USER, {"source": "agent", "message": "short"}), "session_id": "sub-1"}
    asker = {**atif({"source": "agent", "message": "why"}), "session_id": "sub-2"}
    helper["agent"] = asker["agent"] = {"name": "helper"}
    (tmp_path / "trajectory.ask.json").write_text(json.dumps(asker))
    copied = {**USER, "is_copied_context": True}
    (tmp_path / "trajectory.cont-1.json").write_text(json.dumps(atif(copied, {"source": "agent", "message": "on"})))
    first = {
        "source": "agent",
        "message": "",
        "tool_calls": [call(1)],
        "observation": {"results": [{**reference, "source_call_id": "c1"}]},
    }
    system = {"source": "system", "message": "handing over", "observation": {"results": [beside]}}
    tree = atif(USER, first, system, subagent_trajectories=[helper], continued_trajectory_ref="trajectory.cont-1.json")
    recording = opened(tmp_path, tree)

    lanes = [(event.channel, event.thread) for event in recording.events if event.channel == "llm"]
    assert lanes == [("llm", None), ("llm", "helper"), ("llm", "helper #2"), ("llm", None)]
    tool = next(event for event in recording.events if event.channel == "tool")
    assert {event.parent for event in recording.events if event.thread == "helper"} == {tool.seq}
    assert recording.notes == ()


def test_a_reference_leads_nowhere_outside_its_folder(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.json").write_text(json.dumps(atif(USER)))
    recording = opened(inside, atif(USER, continued_trajectory_ref="../secret.json"))
    assert counts(recording)["user"] == 1
    assert [note.kind for note in recording.notes] == ["missing-file"]


STEP = {"action": "ls -F\n", "observation": "a.py\n", "response": "Look", "thought": "Look", "execution_time": 0.25}
SYSTEM = {"role": "system", "content": "You fix bugs", "message_type": "system_prompt"}
ISSUE = {"role": "user", "content": "It is broken", "message_type": "observation"}


def test_a_swe_agent_step_is_an_answer_and_its_command(tmp_path: Path) -> None:
    demo = {"role": "user", "content": "a demonstration", "is_demo": True}
    second = {**STEP, "action": "edit 1:1\nx\n", "observation": "edited", "state": '{"open_file": "a.py"}'}
    silent = {**STEP, "action": ""}
    tree = {
        "environment": "main", "trajectory": [STEP, second, silent], "history": [SYSTEM, demo, ISSUE],
        "info": {"exit_status": "exit_cost", "submission": None, "model_stats": {"api_calls": 3}},
        "replay_config": '{"agent": {"model": {"name": "gpt-5"}}}',
    }  # fmt: skip
    recording = opened(tmp_path, tree, "a.traj")
    assert [(event.channel, event.key, event.outcome) for event in recording.events] == [
        ("user", "prompt", "return"),
        ("llm", "gpt-5", "return"),
        ("tool", "ls", "return"),
        ("llm", "gpt-5", "return"),
        ("tool", "edit", "return"),
        ("llm", "gpt-5", "return"),
        ("note", "exit", "throw"),
    ]
    assert recording.events[2].ms == 250
    assert values(recording, "tool")[1] == {"observation": "edited", "state": {"open_file": "a.py"}}
    last = conversation_of(recording, recording.events[5])
    assert last is not None
    assert [m.text for m in last.messages] == [
        "You fix bugs", "It is broken", "Look", "a.py\n", "Look", "edited", "Look",
    ]  # fmt: skip
    assert recording.meta["source"]["skipped"] == {"message of a demonstration": 1}


def test_a_history_alone_is_read_as_its_steps(tmp_path: Path) -> None:
    asked = {"role": "assistant", "content": "Look", "action": "ls", "tool_calls": [{"id": "t1"}], "thought": "Look"}
    history = [SYSTEM, ISSUE, asked, {"role": "tool", "content": "a.py", "tool_call_ids": ["t1"]}]
    recording = opened(tmp_path, {"history": history}, "demo.traj")
    step = {**STEP, "messages": history, "action": ""}
    whole = opened(tmp_path, {"trajectory": [step], "info": {}, "history": []}, "whole.traj")
    chat = conversation_of(whole, next(event for event in whole.events if event.channel == "llm"))
    assert chat is not None
    made = next(made for message in chat.messages for made in message.tool_calls)
    assert made.result is not None
    assert made.result.text == "a.py"
    assert counts(recording) == {"user": 1, "llm": 1, "tool": 1, "throws": 0, "pending": 0}
    assert values(recording, "tool") == [{"observation": "a.py"}]


def test_mini_swe_agent_keeps_raw_responses_and_return_codes_and_no_key(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    response = {
        "model": "gpt-5-mini",
        "choices": [{"message": {"role": "assistant", "content": "Look"}}],
        "usage": usage,
    }
    actions = [{"command": "ls", "tool_call_id": "t1"}, {"command": "cat x", "tool_call_id": "t2"}]
    calls = [{"id": f"t{n}", "type": "function", "function": {"name": "bash", "arguments": "{}"}} for n in (1, 2)]
    key = "sk-proj-0123456789abcdefghijklmnopqrstuvwxyz"
    messages = [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "Fix it"},
        {
            "role": "assistant",
            "content": "Look",
            "tool_calls": calls,
            "extra": {"response": response, "actions": actions, "timestamp": 1764000000.5},
        },
        {
            "role": "tool",
            "tool_call_id": "t2",
            "content": "<returncode>1</returncode>",
            "extra": {"returncode": 1, "raw_output": "no x"},
        },
        {"role": "exit", "content": "", "extra": {"exit_status": "Submitted", "submission": "diff"}},
    ]
    tree = {
        "info": {"config": {"model": {"model_kwargs": {"api_key": key}}}, "exit_status": "Submitted"},
        "messages": messages,
        "trajectory_format": "mini-swe-agent-1.1",
    }
    recording = opened(tmp_path, tree, "x.traj.json")
    assert counts(recording) == {"user": 1, "llm": 1, "tool": 2, "note": 1, "throws": 1, "pending": 1}
    assert values(recording, "tool") == [{"$stash": "pending"}, {"returncode": 1, "output": "no x"}]
    llm = next(event for event in recording.events if event.channel == "llm")
    assert (llm.key, llm.at, usage_of_event(recording, llm)) is not None
    found = usage_of_event(recording, llm)
    assert found is not None
    assert (found.input, found.output) == (5, 2)
    assert key not in json.dumps([recording.blobs.tree(ref) for ref in recording.blobs.refs()])
    assert recording.meta["source"]["skipped"] == {"info.config": 1}


def test_the_oldest_mini_swe_agent_has_fenced_commands(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "Fix it"},
        {"role": "assistant", "content": "THOUGHT: look\n\n```mswea_bash_command\nls -la\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"},
        {"role": "assistant", "content": "Done, no command."},
        {"role": "user", "content": "Please give <returncode> a command."},
    ]
    recording = opened(tmp_path, messages, "v0.traj.json")
    assert counts(recording) == {"user": 2, "llm": 2, "tool": 1, "throws": 0, "pending": 0}
    assert values(recording, "tool") == [{"returncode": 0, "output": "a.py"}]


SAMPLES = {
    "atif/harbor-converted/claude_code_4_subagents.trajectory.json": (10, 8, 0, 4),
    "atif/harbor-converted/claude_code_medium.trajectory.json": (12, 16, 0, 0),
    "atif/harbor-converted/claude_code_small.trajectory.json": (7, 12, 1, 1),
    "atif/harbor-converted/codex_fix_add.trajectory.json": (6, 6, 0, 0),
    "atif/harbor-converted/codex_images_resume.trajectory.json": (8, 6, 0, 0),
    "atif/harbor-golden/hello-world-context-summarization.trajectory.json": (10, 7, 0, 0),
    "atif/harbor-golden/hello-world-invalid-json.trajectory.json": (4, 3, 0, 0),
    "atif/harbor-golden/hello-world-timeout.trajectory.json": (3, 3, 0, 0),
    "atif/harbor-golden/openhands-hello-world.trajectory.json": (2, 2, 0, 1),
    "swe-agent/history-only-12KB.traj": (5, 5, 0, 0),
    "swe-agent/v0-ctf-110KB.traj": (21, 21, 0, 0),
    "swe-agent/v0-default-82KB.traj": (14, 14, 0, 0),
    "swe-agent/v1-31KB.traj": (5, 5, 0, 0),
    "swe-agent/v1-function-calling-messages-391KB.traj": (13, 13, 0, 0),
    "mini-swe-agent/v0-github_issue.traj.json": (10, 10, 2, 1),
    "mini-swe-agent/v2.4.6-fix_add.traj.json": (4, 5, 1, 1),
}


def test_real_files_have_the_calls_that_were_counted_in_them(shared_samples: Path | None) -> None:
    found = {}
    for name in SAMPLES if shared_samples else ():
        counted = counts(imported(Path(str(shared_samples)) / name))
        found[name] = tuple(counted.get(key, 0) for key in ("llm", "tool", "throws", "pending"))
    assert found == (SAMPLES if shared_samples else {})


@pytest.mark.parametrize("tree", [{}, {"steps": None}])
def test_a_trajectory_without_steps_is_refused_in_words(tmp_path: Path, tree: dict[str, object]) -> None:
    with pytest.raises(StashError, match="no list of steps"):
        opened(tmp_path, {"schema_version": "ATIF-v1.5", **tree})


def test_odd_steps_cost_themselves(tmp_path: Path) -> None:
    steps = [3, None, {"source": "agent", "tool_calls": 4, "message": ["x"], "colour": 1}]
    recording = opened(tmp_path, {"schema_version": "ATIF-v1.5", "steps": steps})
    assert counts(recording) == {"llm": 1, "throws": 0, "pending": 0}
    assert recording.meta["source"]["unknown"] == {"field step.colour": 1}
