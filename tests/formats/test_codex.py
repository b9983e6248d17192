"""Rollouts of Codex, and what ``codex exec --json`` prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stashdbg_core.errors import StashError
from stashdbg_core.formats.opening import explain, read_foreign, run_summaries
from stashdbg_core.formats.readers.codex.items import exit_code, is_wrapper, parsed
from stashdbg_core.session.summary import outcome_word
from tests.formats import transcripts as look
from tests.formats.transcripts import called, chat, main_counts, marked, of_channel, opened, value

PARENT = "rollout-2026-11-30T07-51-16-01a22b6f-ca1b-7a83-9910-1d4729a9d3c5.jsonl"
CHILD = "01a22b6f-cade-78e3-a332-b562c779214f"
SHARED = {
    "real-redacted-1.0MB-compacted-v0.104.jsonl": (286, 372, 0),
    "real-redacted-278KB-v0.104.jsonl": (81, 105, 0),
    "real-redacted-23KB-v0.104.jsonl": (6, 5, 0),
    "real-redacted-pending-call-v0.104.jsonl": (1, 1, 0),
    "generated-v0.171/rollout-2026-11-30T07-34-44-01a22b60-a67d-70d1-885a-681dd5bed5a3.jsonl": (6, 6, 1),
    "generated-v0.171/rollout-2026-11-30T07-35-14-01a22b61-1c01-7c70-af24-6329db3cb81a.jsonl": (8, 6, 1),
    f"generated-v0.171-subagent/{PARENT}": (3, 2, 0),
    f"generated-v0.171-subagent/rollout-2026-11-30T07-51-16-{CHILD}.jsonl": (2, 1, 0),
    "generated-v0.171-subagent/aborted-child-rollout-2026-11-30T07-51-00-01a22b6f-8b04-7200-9b58-68f547947e8f.jsonl":
        (1, 1, 0),
    "generated-v0.65/rollout-2026-11-30T07-35-28-01a22b61-532a-71f1-b027-e1e284a0d0d7.jsonl": (6, 6, 1),
    "exec-json-stdout-v0.171.jsonl": (3, 5, 1),
    "exec-json-stdout-v0.65.jsonl": (3, 6, 1),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder() -> Path:
    """Fixtures of our own, written by Codex against a mock model."""
    return Path(__file__).parent.parent / "data" / "formats" / "codex"


@pytest.fixture(scope="module")
def old(folder: Path) -> Any:
    """A rollout of version 0.65."""
    return read_foreign(folder / "rollout_v0_65.jsonl")


def item(kind: str, **more: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": {"type": kind, **more}}


def said(role: str, text: str) -> dict[str, Any]:
    return item(
        "message", role=role, content=[{"type": "output_text" if role == "assistant" else "input_text", "text": text}]
    )


def asked(call_id: str, name: str = "exec_command", arguments: str = '{"cmd":"ls"}') -> dict[str, Any]:
    return item("function_call", name=name, arguments=arguments, call_id=call_id)


def came(call_id: str, output: Any) -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output=output)


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-01T00:00:01Z", "type": "event_msg", "payload": {"type": kind, **more}}


META = {"type": "session_meta", "payload": {"id": "c-1", "cwd": "/repo", "cli_version": "0.171.0"}}
CONTEXT = {"type": "turn_context", "payload": {"model": "gpt-5.5"}}


def test_the_named_counts_are_met(shared_samples: Path | None) -> None:
    for name, counted in SHARED.items() if shared_samples is not None else ():
        recording = read_foreign(shared_samples / "codex" / name)  # type: ignore[operator]
        pending = [e for e in recording.events if outcome_word(e) == "pending"]

        assert main_counts(recording) == counted, name
        assert len(pending) == ("pending" in name), name
        if (known := explain(recording)).format == "codex":
            usages = [value(recording, e).get("usage") for e in of_channel(recording, "llm")]
            assert "pending" in name or all(usages), name
        assert not known.unknown and not known.damaged_lines


def test_every_shared_sample_opens(shared_samples: Path | None) -> None:
    for path in (shared_samples / "codex").rglob("*.jsonl") if shared_samples is not None else ():
        assert len(read_foreign(path).events)


def test_a_model_call_is_a_run_of_items_and_has_its_usage(old: Any) -> None:
    first = of_channel(old, "llm")[0]
    answer = value(old, first)

    assert [part["type"] for part in answer["output"]] == ["reasoning", "message", "function_call"]
    assert (first.key, first.label) == ("gpt-5.1-codex", "I'll look at the code first.")
    assert [value(old, e)["usage"]["input_tokens"] for e in of_channel(old, "llm")] == [
        1000,
        1100,
        1200,
        1300,
        1400,
        1500,
    ]
    used = look.total_usage(old)
    assert (used.input, used.cached, used.output) == (7500, 4800, 300)


def test_the_prompt_of_a_call_is_all_items_so_far(old: Any) -> None:
    last = chat(old, of_channel(old, "llm")[-1])
    asked = [call for message in last.messages for call in message.tool_calls]

    assert last.messages[1].text == "Fix the add function in app.py"
    assert [call.name for call in asked] == [
        "shell_command", "shell_command", "shell_command", "apply_patch", "update_plan", "shell_command",
    ]  # fmt: skip
    assert all(call.result is not None for call in asked)
    assert last.messages[-1].text.startswith("Fixed `add`") and last.replies == 1


def test_packed_rollouts_open_as_they_are(folder: Path, old: Any) -> None:
    packed = read_foreign(folder / "rollout_v0_171.jsonl.zst")

    assert main_counts(packed) == main_counts(old) == (6, 6, 1)
    assert packed.id == "codex-01a22b60-a67d-70d1-885a-681dd5bed5a3"
    assert look.total_usage(packed) == look.total_usage(old)
    assert run_summaries(folder / "rollout_v0_171.jsonl.zst")[0].title == "Fix the add function in app.py"


def test_a_sub_agents_rollout_beside_is_a_lane_under_the_call_that_spawned_it(folder: Path) -> None:
    recording = read_foreign(folder / PARENT)
    spawned = next(e for e in recording.events if e.key == "spawn_agent")
    lane = [e for e in recording.events if e.thread == f"agent-{CHILD}"]

    assert main_counts(recording) == (3, 2, 0)
    assert [e.channel for e in lane] == ["user", "llm", "tool", "llm"]
    assert {e.parent for e in lane} == {spawned.seq}
    assert value(recording, spawned)["agent_id"] == CHILD
    assert [e.label for e in of_channel(recording, "user")] == ["Ask a sub-agent to summarise app.py"]


def test_a_sub_agent_whose_rollout_is_elsewhere_is_marked(folder: Path, tmp_path: Path) -> None:
    (tmp_path / PARENT).write_bytes((folder / PARENT).read_bytes())
    recording = read_foreign(tmp_path / PARENT)

    assert marked(recording, "cut") == [next(e.seq for e in recording.events if e.key == "spawn_agent")]


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nno", 1),
        ("Chunk ID: 1\nWall time: 0.0 seconds\nProcess exited with code 3\nOutput:\n", 3),
        ("Chunk ID: 1\nWall time: 0.0 seconds\nProcess exited with code 0\nOutput:\n", 0),
        ('{"output":"x","metadata":{"exit_code":2,"duration_seconds":0.1}}', 2),
        ("Wall time: 0.1 seconds\naborted by user", None),
        ("I said: Exit code: 1", None),
        ("a\n" * 20 + "Process exited with code 3", None),
    ],
)
def test_exit_codes_in_the_text_of_an_output(output: str, code: int | None) -> None:
    assert exit_code(parsed(output)) == code


def test_only_real_failures_throw(tmp_path: Path) -> None:
    records = [
        META, CONTEXT, said("user", "Go"),
        *(asked(f"c{number}") for number in range(1, 7)),
        came("c6", "unsupported call: foo"),
        came("c1", "Exit code: 1\nWall time: 0 seconds\nOutput:\nno"),
        came("c2", "Error: this is what the file says"),
        event("item_completed", item={"type": "CommandExecution", "id": "c3", "status": "failed", "exit_code": 9}),
        came("c3", "killed"),
        event("item_completed", item={"type": "McpToolCall", "id": "c4", "result": {"isError": True}}),
        came("c4", [{"type": "input_text", "text": "no such page"}]),
        event("exec_command_end", call_id="c5", exit_code=0, duration={"secs": 1, "nanos": 500_000_000}),
        came("c5", "fine"),
        event("error", message="stream disconnected"),
        event("turn_aborted", reason="interrupted"),
    ]  # fmt: skip
    recording = opened(tmp_path / "r.jsonl", records)
    outcomes = {e.call_id: e.outcome for e in of_channel(recording, "tool")}

    assert outcomes == {"c1": "throw", "c2": "return", "c3": "throw", "c4": "throw", "c5": "return", "c6": "return"}
    assert value(recording, called(recording, "c3")) == {"error": "killed", "exit_code": 9}
    assert called(recording, "c5").ms == 1500
    assert [(e.key, e.outcome) for e in of_channel(recording, "note")] == [
        ("error", "throw"),
        ("turn_aborted", "return"),
    ]


def test_parallel_and_late_outputs_meet_their_calls(tmp_path: Path) -> None:
    records = [
        META, CONTEXT, said("user", "Go"),
        said("assistant", "Two"), asked("c1"), asked("c2", "mcp__docs__find", '{"q":"x"}'),
        came("c2", "two"),
        said("assistant", "Meanwhile"),
        said("developer", "careful"),
        came("c1", "one"),
        asked("c3", arguments="[REDACTED_ARGUMENTS len=3]"),
    ]  # fmt: skip
    recording = opened(tmp_path / "r.jsonl", records)

    assert [(e.key, e.label) for e in of_channel(recording, "tool")] == [
        ("exec_command", "exec_command: ls"), ("docs/find", "docs/find: x"),
        ("exec_command", "exec_command: [REDACTED_ARGUMENTS len=3]"),
    ]  # fmt: skip
    assert [value(recording, called(recording, name)) for name in ("c1", "c2")] == ["one", "two"]
    assert outcome_word(called(recording, "c3")) == "pending"
    assert len(of_channel(recording, "llm")) == 3


def test_a_compaction_replaces_the_history_and_a_long_one_is_not_read(tmp_path: Path) -> None:
    def compacted(length: int) -> dict[str, Any]:
        history = [said("user", "x" * length)["payload"], said("user", "summary")["payload"]]
        return {
            "timestamp": "2026-01-01T00:00:02Z",
            "type": "compacted",
            "payload": {"message": "", "replacement_history": history},
        }

    for length, expected in ((10, ["x" * 10, "summary", "On"]), (70_000, None), (17 << 20, None)):
        records = [
            META,
            CONTEXT,
            said("user", "Go"),
            said("assistant", "a"),
            compacted(length),
            said("user", "On"),
            said("assistant", "b"),
        ]
        recording = opened(tmp_path / f"{length}.jsonl", records)
        last = chat(recording, of_channel(recording, "llm")[-1])
        texts = [message.text for message in last.messages[: -last.replies]]

        assert (texts == expected) if expected else ("compacted and is not shown" in texts[0] and texts[1:] == ["On"])
        assert bool(marked(recording, "cut")) == (expected is None)
        assert not explain(recording).damaged_lines


def test_wrappers_are_no_prompts_and_a_session_gone_on_with_keeps_its_id(tmp_path: Path) -> None:
    again = {"type": "session_meta", "payload": {"id": "c-0"}}
    wrapped = "<environment_context>x</environment_context>"
    both = item(
        "message",
        role="user",
        content=[{"type": "input_text", "text": wrapped}, {"type": "input_text", "text": "Hi"}],
    )
    recording = opened(tmp_path / "r.jsonl", [META, again, CONTEXT, said("user", wrapped), both])

    assert recording.id == "codex-c-1"
    assert [e.label for e in of_channel(recording, "user")] == ["Hi"]
    assert is_wrapper("<permissions instructions>")


def test_pictures_are_kept_apart(tmp_path: Path) -> None:
    picture = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
    recording = opened(
        tmp_path / "r.jsonl",
        [META, CONTEXT, item("message", role="user", content=[{"type": "input_text", "text": "See"}, picture]),
         asked("c1", "view_image"), item("function_call_output", call_id="c1", output=[picture])],
    )  # fmt: skip

    for found in (
        value(recording, of_channel(recording, "user")[0])["content"][1],
        value(recording, called(recording, "c1"))["content"][0],
    ):
        assert (found["image_url"]["mime"], found["image_url"]["bytes"]) == ("image/png", 8)


def test_drift_is_kept_and_counted(tmp_path: Path) -> None:
    recording = opened(
        tmp_path / "r.jsonl",
        [META, CONTEXT, said("user", "Go"), item("dream", x=1), event("sneeze"), {"type": "mood", "payload": {}},
         item("function_call_output", call_id="zz", output="of nobody"), item("message", role=["x"], content=5)],
    )  # fmt: skip

    assert set(explain(recording).unknown) >= {"response item dream", "event sneeze", "record type mood"}
    assert len(marked(recording, "cut")) == 1


def test_the_printed_stream_has_an_event_for_each_item(folder: Path) -> None:
    recording = read_foreign(folder / "exec_stream.jsonl")
    commands = [e for e in recording.events if e.key == "command_execution"]

    assert main_counts(recording) == (3, 5, 1)
    assert marked(recording, "inferred") == [e.seq for e in of_channel(recording, "llm")]
    assert value(recording, commands[1])["exit_code"] == 1 and commands[1].outcome == "throw"
    assert look.total_usage(recording).input == 7500
    asked = [call for m in chat(recording, of_channel(recording, "llm")[-1]).messages for call in m.tool_calls]
    assert len(asked) == 5 and all(call.result is not None for call in asked)


def test_an_item_that_only_started_is_pending(tmp_path: Path) -> None:
    recording = opened(
        tmp_path / "s.jsonl",
        [{"type": "thread.started", "thread_id": "t"},
         {"type": "item.started", "item": {"id": "i", "type": "command_execution", "command": "sleep 9"}},
         {"type": "turn.failed", "error": {"message": "cut"}}],
    )  # fmt: skip

    assert [outcome_word(e) for e in recording.events] == ["pending", "threw"]


LINES = (Path(__file__).parent.parent / "data" / "formats" / "codex" / "rollout_v0_65.jsonl").read_bytes().splitlines()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    damage=st.dictionaries(
        st.integers(0, len(LINES) - 1), st.tuples(st.integers(0, 400), st.binary(max_size=6)), max_size=5
    )
)
def test_damage_costs_no_more_than_the_lines_it_hits(damage: dict[int, tuple[int, bytes]]) -> None:
    lines = list(LINES)
    for number, (place, junk) in damage.items():
        at = min(place, len(lines[number]) - 1)
        lines[number] = (lines[number][:at] + junk + lines[number][at + 1 :]).replace(b"\n", b" ")
    try:
        recording = read_foreign(b"\n".join(lines) + b"\n")
    except StashError:
        assert len(damage) > 2
        return
    payloads = [json.loads(line)["payload"] for number, line in enumerate(LINES) if number not in damage]
    told = {payload["call_id"] for payload in payloads if "call_id" in payload}
    assert told <= {e.call_id for e in recording.events}
