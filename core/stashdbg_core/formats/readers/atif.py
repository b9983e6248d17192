"""ATIF trajectories, versions 1.0 to 1.8: one JSON object of steps, as Harbor and the agents it runs write them.

Source of the format: Harbor's trajectory models (Apache-2.0). A step of the agent is one model call with the tool calls
it asked for and what they observed. Steps copied from an earlier trajectory stand in the prompts and are no events of
their own. Sub-agents are lanes, embedded or in files beside; a continuation file is read on as the same run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.formats.format import Format, one_run
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.shapes import objects_of
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import Lane, ToolRun, Transcript, text_of, thrown

_VERSION = re.compile(r"ATIF-v1\.\d+")
_MOST_FILES = 200
"""Sub-agent and continuation files that one run may lead to."""
_STEP = frozenset(
    {"step_id", "timestamp", "source", "message", "model_name", "reasoning_content", "reasoning_effort", "tool_calls"}
    | {"observation", "metrics", "is_copied_context", "llm_call_count", "extra"}
)
_BULK = ("prompt_token_ids", "completion_token_ids", "logprobs")


@dataclass
class _Reading:
    """One run being read."""

    source: ForeignSource
    sink: RunSink
    transcript: Transcript
    files: set[str] = field(default_factory=set)
    """Names of the other files read."""

    def trajectory(self, tree: dict[str, Any], lane_name: str | None, parent: int | None) -> None:
        """Read a trajectory and what continues it."""
        embedded = {_identity(sub): sub for sub in objects_of(tree.get("subagent_trajectories"))}
        for step in objects_of(tree.get("steps")):
            name = _side_lane(step) or lane_name
            self.step(step, self.transcript.lane(name, parent if name == lane_name else None), tree, embedded)
        for name, sub in embedded.items():
            self.trajectory(sub, self.lane_name(sub), None)
            self.sink.note("unlinked-sub-agent", f"no step refers to the sub-agent {name}")
        following = tree.get("continued_trajectory_ref")
        if isinstance(following, str) and following:
            found = self.file(following)
            if found is not None:
                self.trajectory(found, lane_name, parent)

    def step(self, step: dict[str, Any], lane: Lane, tree: dict[str, Any], embedded: dict[str, dict[str, Any]]) -> None:
        """Read one step."""
        for name in step.keys() - _STEP:
            self.sink.unknown(f"field step.{name}")
        at = epoch_ms(step.get("timestamp"))
        message = _parts(step.get("message"))
        if step.get("is_copied_context"):
            self.sink.skipped("step copied from an earlier trajectory")
            self._say(step, lane, message)
            return
        runs: list[ToolRun] = []
        if step.get("source") == "user":
            lane.prompt({"role": "user", "content": message}, text_of(message), at)
        elif step.get("source") == "agent":
            runs = self._agent(step, lane, tree, message, at)
        else:
            self._note(lane, str(step.get("source") or "step"), message, at)
            lane.say({"role": "system", "content": message}, at)
        observed = step.get("observation")
        results = objects_of(observed.get("results")) if isinstance(observed, dict) else []
        self._results(results, runs, lane, at, embedded)

    def _agent(
        self, step: dict[str, Any], lane: Lane, tree: dict[str, Any], message: Json, at: float | None
    ) -> list[ToolRun]:
        calls = objects_of(step.get("tool_calls"))
        content = _blocks(message, step, calls)
        if step.get("llm_call_count") == 0:
            self._note(lane, "agent", content, at)
            lane.say({"role": "assistant", "content": content}, at)
        else:
            agent = tree["agent"] if isinstance(tree.get("agent"), dict) else {}
            model = step.get("model_name") or agent.get("model_name")
            if agent.get("tool_definitions"):
                lane.others["tools"] = agent["tool_definitions"]
            answer = lane.answer(f"step {step.get('step_id')}", model if isinstance(model, str) else None, at)
            answer.value = {"role": "assistant", "content": content, "model": lane.model}
            answer.value.update(_usage(step.get("metrics"), self.sink))
            answer.messages = [{"role": "assistant", "content": content}]
            lane.settle()
            lane.close()
        return [
            self.transcript.call(
                lane, _text(call.get("tool_call_id")), str(call.get("function_name")), call.get("arguments"), at
            )
            for call in calls
        ]

    def _results(
        self,
        results: list[dict[str, Any]],
        runs: list[ToolRun],
        lane: Lane,
        at: float | None,
        embedded: dict[str, dict[str, Any]],
    ) -> None:
        """Pair results with the calls of the step: by id; without ids by place, a lone one with the last call."""
        nameless = [result for result in results if not _text(result.get("source_call_id"))]
        open_runs = [run for run in runs if not run.answered]
        places = dict(zip(map(id, nameless), open_runs, strict=False)) if len(nameless) >= len(open_runs) else {}
        if nameless and open_runs and not places:
            places = dict(zip(map(id, nameless), open_runs[-len(nameless) :], strict=False))
            for run in open_runs[: -len(nameless)]:
                self.transcript.result(run, None, failed=False, at=at)
                self.sink.cut(run.seq, "its result stands with a later call of the same step")
        for result in results:
            call_id = _text(result.get("source_call_id"))
            answered = self.transcript.asked(lane, call_id, at) if call_id else places.get(id(result))
            content = _parts(result.get("content"))
            if answered is None:
                lane.say({"role": "user", "content": content}, at)
                seq = self._note(lane, "observation", content, at)
            else:
                seq = answered.seq
                failed = _failed(result)
                self.transcript.result(answered, thrown(content) if failed else content, failed=failed, at=at)
                block = {"type": "tool_result", "tool_use_id": call_id or answered.key, "content": content}
                lane.say({"role": "user", "content": [block]}, at)
            for reference in objects_of(result.get("subagent_trajectory_ref")):
                self._sub_agent(reference, seq, embedded)

    def _sub_agent(self, reference: dict[str, Any], parent: int | None, embedded: dict[str, dict[str, Any]]) -> None:
        names = [_text(reference.get(key)) for key in ("trajectory_id", "session_id")]
        sub = next((embedded.pop(name) for name in names if name and name in embedded), None)
        path = _text(reference.get("trajectory_path"))
        if sub is None and path:
            sub = self.file(path)
        if sub is not None:
            self.trajectory(sub, self.lane_name(sub), parent)

    def file(self, name: str) -> dict[str, Any] | None:
        """Return a trajectory beside this one; says so where there is none."""
        if name in self.files or len(self.files) >= _MOST_FILES:
            return None
        self.files.add(name)
        own = self.source.name.removesuffix(".json")
        beside = self.source.beside(name) or self.source.beside(f"{own}{name.removeprefix('trajectory')}")
        if beside is None:
            self.sink.note("missing-file", f"{label_of(name)} is referred to, and is not beside this file")
            return None
        try:
            tree = beside.json()
        except StashError as error:
            self.sink.note("damaged-file", f"{label_of(name)}: {error.message}")
            return None
        return tree if isinstance(tree, dict) else None

    def lane_name(self, tree: dict[str, Any]) -> str:
        """Return the lane of a sub-agent; two of one agent are told apart by number."""
        agent = tree.get("agent")
        wanted = _text(agent.get("name")) if isinstance(agent, dict) else None
        wanted = wanted or _identity(tree)
        name, number = wanted, 1
        while name in self.transcript.lanes:
            number += 1
            name = f"{wanted} #{number}"
        return name

    def _say(self, step: dict[str, Any], lane: Lane, message: Json) -> None:
        role = {"agent": "assistant", "user": "user"}.get(str(step.get("source")), "system")
        calls = objects_of(step.get("tool_calls"))
        lane.say({"role": role, "content": _blocks(message, step, calls) if role == "assistant" else message})

    def _note(self, lane: Lane, key: str, value: Json, at: float | None) -> int:
        label = label_of(text_of(value)) or None
        return self.sink.event("note", key, value=value, at=at, label=label, thread=lane.name, parent=lane.parent)


def detect(head: Head) -> bool:
    """Tell whether a file is an ATIF trajectory."""
    version = None if head.top is None else head.top.get("schema_version")
    return isinstance(version, str) and version.startswith("ATIF-")


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read a trajectory, its sub-agents and its continuations."""
    tree = source.json()
    if not isinstance(tree, dict) or not isinstance(tree.get("steps"), list):
        raise invalid_recording(f"{label_of(source.name)} has no list of steps", hint="it is no ATIF trajectory")
    version = str(tree.get("schema_version"))
    if not _VERSION.fullmatch(version):
        sink.note("version", f"{label_of(version)} is newer than what this version knows, ATIF-v1")
    sink.identify(_text(tree.get("session_id")) or _text(tree.get("trajectory_id")))
    agent = tree["agent"] if isinstance(tree.get("agent"), dict) else {}
    sink.meta(
        schemaVersion=version,
        agent=agent.get("name"),
        agentVersion=agent.get("version"),
        model=agent.get("model_name"),
        finalMetrics=tree.get("final_metrics"),
    )
    reading = _Reading(source, sink, Transcript(sink), {source.name})
    reading.trajectory(tree, None, None)
    reading.transcript.close()


def _blocks(message: Json, step: dict[str, Any], calls: list[dict[str, Any]]) -> list[Json]:
    blocks: list[Json] = []
    if step.get("reasoning_content"):
        blocks.append({"type": "thinking", "thinking": step["reasoning_content"]})
    if isinstance(message, list):
        blocks += message
    elif message:
        blocks.append({"type": "text", "text": message})
    return blocks + [
        {
            "type": "tool_use",
            "id": _text(call.get("tool_call_id")) or call.get("function_name"),
            "name": call.get("function_name"),
            "input": call.get("arguments"),
        }
        for call in calls
    ]


def _parts(content: Json) -> Json:
    """Return a message with its parts as blocks of a chat; a text stays one."""
    if not isinstance(content, list):
        return "" if content is None else content
    return [
        {"type": "text", "text": part["text"]}
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)
        else part
        for part in content
    ]


def _usage(metrics: Json, sink: RunSink) -> dict[str, Json]:
    if not isinstance(metrics, dict):
        return {}
    for name in _BULK:
        if metrics.get(name):
            sink.skipped(f"metrics.{name}")
    prompt, answer, cached = (metrics.get(f"{name}_tokens") for name in ("prompt", "completion", "cached"))
    usage: dict[str, Json] = {}
    if type(prompt) is int:
        from_cache = cached if type(cached) is int and cached <= prompt else 0
        usage = {"input_tokens": prompt - from_cache, "cache_read_input_tokens": from_cache}
    if type(answer) is int:
        usage["output_tokens"] = answer
    found: dict[str, Json] = {"usage": usage} if usage else {}
    if metrics.get("cost_usd") is not None:
        found["cost_usd"] = metrics["cost_usd"]
    return found


def _failed(result: dict[str, Any]) -> bool:
    """Tell whether a result says that it failed; the format itself has no word for it."""
    extra = result.get("extra")
    if not isinstance(extra, dict):
        return False
    metadata = extra.get("tool_result_metadata")
    said = [extra.get("is_error"), extra.get("tool_result_is_error")]
    if isinstance(metadata, dict):
        said.append(metadata.get("is_error"))
    return True in said


def _side_lane(step: dict[str, Any]) -> str | None:
    extra = step.get("extra")
    return _text(extra.get("agent_id")) if isinstance(extra, dict) and extra.get("is_sidechain") else None


def _identity(tree: dict[str, Any]) -> str:
    return _text(tree.get("trajectory_id")) or _text(tree.get("session_id")) or "sub-agent"


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None


FORMAT = Format(
    "atif",
    "ATIF trajectory",
    detect,
    one_run,
    read,
    exact=("messages, reasoning, tool calls and what they observed", "token counts and cost"),
    inferred=("what a result without a call id answers: by place in its step",),
    missing=("the prompt that was really sent", "when a call ended", "whether a tool failed, in most files"),
)
