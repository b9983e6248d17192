"""A Codex rollout, line by line.

Two logs are interleaved: ``response_item`` is what the model sees and writes, ``event_msg`` what the screen shows. The
first is the content; the second adds exit codes, times and failures. A model call is a maximal run of items that the
model wrote.
"""

from __future__ import annotations

import re
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.readers.codex.items import (
    CallFacts,
    call_input,
    call_key,
    exit_code,
    is_model_made,
    is_output,
    is_wrapper,
    own_text,
    parsed,
    usage_of,
    with_images,
)
from stashdbg_core.formats.record_by_record import each_record
from stashdbg_core.formats.shapes import object_of
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource, Line
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import Answer, Lane, ToolRun, Transcript, returned

COMPACTED = (b'"type":"compacted"', b'"type": "compacted"')
"""In the first bytes of a line that repeats the whole history after a compaction."""
COMPACTED_READ = 1 << 16
"""Bytes of such a line up to which it is parsed: its history is then known."""
_TYPE_WITHIN = 200
_TIME = re.compile(rb'"timestamp": ?"([0-9TZ:.+-]{10,40})"')
_DEPTH = 50
_AGENT = re.compile(r"[A-Za-z0-9-]{8,64}")
_QUIET_EVENTS = frozenset(
    {
        "user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "agent_message_delta",
        "agent_reasoning_delta", "agent_reasoning_section_break", "task_started", "task_complete", "context_compacted",
        "thread_settings_applied", "entered_review_mode", "exited_review_mode", "sub_agent_activity", "undo_completed",
        "undo_started", "thread_goal_updated", "guardian_assessment", "web_search_begin", "exec_command_begin",
        "exec_command_output_delta", "mcp_tool_call_begin", "patch_apply_begin", "turn_diff", "plan_update",
        "dynamic_tool_call_request", "view_image_tool_call", "image_generation_begin", "session_configured",
        "turn_started", "turn_complete", "collab_agent_spawn_begin", "collab_waiting_begin", "collab_close_begin",
        "collab_agent_interaction_begin", "background_event", "item_started", "hook_started", "hook_completed",
    }
)  # fmt: skip
_ENDS = frozenset(
    {
        "exec_command_end", "mcp_tool_call_end", "patch_apply_end", "web_search_end", "image_generation_end",
        "dynamic_tool_call_response", "collab_agent_spawn_end", "collab_waiting_end", "collab_close_end",
        "collab_agent_interaction_end", "collab_resume_end",
    }
)  # fmt: skip
_QUIET_TYPES = frozenset({"world_state", "inter_agent_communication_metadata", "inter_agent_communication"})


class CodexSession:
    """Reads a rollout, and those of its sub-agents beside it, into a sink."""

    def __init__(self, source: ForeignSource, sink: RunSink) -> None:
        self.source = source
        self.sink = sink
        self.transcript = Transcript(sink)
        self.title = ""
        self.named = False
        self._done: set[str] = set()
        self._depth = 0

    def read(self) -> None:
        """Read everything."""
        _Rollout(self, self.source, self.transcript.lane(), inner=False).read()
        self.transcript.close()
        self.sink.title(self.title)

    def read_agent(self, agent: str, run: ToolRun) -> None:
        """Read the rollout of a sub-agent, if it lies beside this one."""
        if not _AGENT.fullmatch(agent) or agent in self._done or self._depth >= _DEPTH or agent in self.source.name:
            return
        self._done.add(agent)
        found = self.source.names_beside(".", f"*{agent}.jsonl") or self.source.names_beside(".", f"*{agent}.jsonl.zst")
        source = self.source.beside(found[0]) if found else None
        if source is None:
            self.sink.cut(run.seq, f"the rollout of sub-agent {agent} is not beside this one")
            return
        self._depth += 1
        _Rollout(self, source, self.transcript.lane(f"agent-{agent}", run.seq), inner=True).read()
        self._depth -= 1


class _Rollout:
    """One rollout file."""

    def __init__(self, session: CodexSession, source: ForeignSource, lane: Lane, *, inner: bool) -> None:
        self._session = session
        self._source = source
        self._sink = session.sink
        self._lane = lane
        self._inner = inner
        self._begun = False
        self._model: str | None = None
        self._answer: Answer | None = None
        """The run of items going on, or the last one while its usage may still come."""
        self._ended = True
        """Whether the next item of a model begins a new answer."""
        self._has_usage = False
        self._counted: Json = None
        """The total of the last token count: one that comes again is no news."""
        self._early: Json = None
        """A token count that came before the items it is of."""
        self._records_usage = False
        self._answers = 0
        self._facts: dict[str, CallFacts] = {}

    def read(self) -> None:
        """Read the file."""
        each_record(self._source.records(self._sink, skip=self._skip), self._sink, self._record)

    def _skip(self, line: Line) -> bool:
        if line.size <= COMPACTED_READ:
            return False
        head = line.raw[:_TYPE_WITHIN]
        if not line.raw and not self._source.is_zstd:
            head = self._source.read_at(line.offset, _TYPE_WITHIN)
        if not any(mark in head for mark in COMPACTED):
            return False
        told = _TIME.search(head)
        self._compacted(None, epoch_ms(told.group(1).decode()) if told is not None else None, line.size)
        return True

    def _record(self, record: dict[str, Any]) -> None:
        kind, payload = record.get("type"), object_of(record.get("payload"))
        at = epoch_ms(record.get("timestamp"))
        if kind == "response_item":
            self._item(payload, at)
        elif kind == "event_msg":
            self._event(payload, at)
        elif kind == "session_meta":
            self._meta(payload)
        elif kind == "turn_context":
            self._model = payload["model"] if isinstance(payload.get("model"), str) else self._model
        elif kind == "token_usage_record":
            self._records_usage = True
            self._usage(payload.get("usage"))
        elif kind == "compacted":
            self._compacted(payload, at, 0)
        elif kind in _QUIET_TYPES:
            self._sink.skipped(f"{kind} records")
        else:
            shown = kind if isinstance(kind, str) else "without a type"
            self._sink.unknown(f"record type {shown}")
            self._sink.event("state", f"record {shown}", value=record, at=at, thread=self._lane.name)

    def _meta(self, payload: dict[str, Any]) -> None:
        if self._begun:
            self._sink.skipped("session_meta records of the session this one goes on from")
            return
        self._begun = True
        told = payload.get("base_instructions")
        text = told.get("text") if isinstance(told, dict) else payload.get("instructions")
        if isinstance(text, str) and text:
            self._lane.others["instructions"] = text
        if self._inner:
            return
        named = payload.get("id", payload.get("session_id"))
        self._sink.identify(named if isinstance(named, str) else None)
        facts = (
            "cwd",
            "cli_version",
            "originator",
            "source",
            "model_provider",
            "git",
            "parent_thread_id",
            "forked_from_id",
        )
        self._sink.meta(sessionId=named, **{name: payload.get(name) for name in facts})

    def _item(self, item: dict[str, Any], at: float | None) -> None:
        kind = item.get("type")
        item = with_images(item)
        if is_model_made(item):
            self._model_item(item, at)
            return
        if kind == "ghost_snapshot":
            self._sink.skipped("ghost_snapshot items")
            return
        self._ended = True
        if is_output(item):
            self._lane.say(item, at)
            self._output(item, at)
        elif kind == "message" and item.get("role") == "user" and not is_wrapper(own_text(item)):
            text = own_text(item)
            self._session.title = self._session.title or ("" if self._inner else text)
            self._lane.prompt(item, text, at)
        else:
            if kind not in ("message", "agent_message", "compaction", "compaction_summary"):
                self._sink.unknown(f"response item {kind}")
            self._lane.say(item, at)

    def _model_item(self, item: dict[str, Any], at: float | None) -> None:
        if self._ended or self._answer is None:
            self._answers += 1
            self._ended, self._has_usage = False, False
            self._answer = self._lane.answer(f"answer {self._answers}", self._model, at, named=False)
            self._answer.value.update({"model": self._lane.model, "output": []})
            early, self._early = self._early, None
            self._usage(early)
        self._answer.at = at if at is not None else self._answer.at
        self._answer.value["output"].append(item)
        self._answer.messages.append(item)
        if item.get("type") in ("message", "reasoning"):
            return
        call_id = item.get("call_id") if isinstance(item.get("call_id"), str) else None
        facts = self._facts.get(call_id or "")
        key = facts.key if facts is not None and facts.key else call_key(item)
        if call_id is None and item.get("type") in ("web_search_call", "image_generation_call"):
            self._done_elsewhere(item, key, at)
        else:
            self._session.transcript.call(self._lane, call_id, key, call_input(item), at)

    def _done_elsewhere(self, item: dict[str, Any], key: str, at: float | None) -> None:
        """Take a call that the provider ran itself: the item is all there is of it."""
        failed = item.get("status") == "failed"
        value: Json = {name: fact for name, fact in item.items() if name in ("status", "action", "result")}
        run = self._session.transcript.call(self._lane, None, key, call_input(item), at)
        self._session.transcript.forget(run)
        self._session.transcript.result(run, {"error": value} if failed else value, failed=failed, at=None)

    def _output(self, item: dict[str, Any], at: float | None) -> None:
        call_id = item.get("call_id") if isinstance(item.get("call_id"), str) else None
        run = self._session.transcript.asked(self._lane, call_id, at)
        facts = self._facts.pop(call_id or "", None) or CallFacts()
        output: Json = item.get("output", item.get("tools"))
        told = parsed(output) if isinstance(output, str) else output
        code = exit_code(told) if facts.exit_code is None else facts.exit_code
        failed = bool(code) or facts.failed or item.get("status") == "failed"
        value: Json = returned(told)
        if failed:
            value = {"error": told if told else facts.error}
            if code is not None:
                value["exit_code"] = code
        agent = told.get("agent_id") if isinstance(told, dict) else None
        if run.key == "spawn_agent" and isinstance(agent, str) and not run.answered:
            self._session.read_agent(agent, run)
        self._session.transcript.result(run, value, failed=failed, at=at, ms=facts.ms)

    def _usage(self, told: Json) -> None:
        if self._answer is not None and not self._has_usage and told is not None:
            usage = usage_of(told)
            if usage is not None:
                self._answer.value["usage"] = usage
                self._has_usage = True

    def _event(self, payload: dict[str, Any], at: float | None) -> None:
        kind = payload.get("type")
        if kind == "token_count":
            info = payload.get("info")
            if not self._records_usage and isinstance(info, dict):
                self._token_count(info)
        elif kind == "item_completed":
            told = payload.get("item")
            if isinstance(told, dict) and isinstance(told.get("id"), str):
                self._call_facts(told["id"]).take({**payload, **told})
        elif kind in _ENDS and isinstance(payload.get("call_id"), str):
            self._call_facts(payload["call_id"]).take(payload)
        elif kind in ("error", "stream_error", "turn_aborted", "warning"):
            self._trouble(str(kind), payload, at)
        elif kind == "thread_name_updated":
            name = payload.get("thread_name", payload.get("name"))
            if isinstance(name, str) and name and not self._inner:
                self._session.title = name
        elif kind in _QUIET_EVENTS:
            self._sink.skipped(f"{kind} events")
        else:
            self._sink.unknown(f"event {kind}")
            self._sink.event("state", f"event {kind}", value=payload, at=at, thread=self._lane.name)

    def _token_count(self, info: dict[str, Any]) -> None:
        """Take a count: of the answer that goes on; old versions write it before the items, and all repeat it."""
        if info.get("total_token_usage") == self._counted:
            return
        self._counted = info.get("total_token_usage")
        if self._answer is None or self._has_usage:
            self._early = info.get("last_token_usage")
        else:
            self._usage(info.get("last_token_usage"))

    def _call_facts(self, call_id: str) -> CallFacts:
        return self._facts.setdefault(call_id, CallFacts())

    def _trouble(self, kind: str, payload: dict[str, Any], at: float | None) -> None:
        value: dict[str, Json] = {name: fact for name, fact in payload.items() if name != "type"}
        failed = kind in ("error", "stream_error")
        said = payload.get("message", payload.get("reason"))
        if failed:
            value.setdefault("error", said)
        self._sink.event(
            "note",
            kind,
            value=value,
            outcome="throw" if failed else "return",
            at=at,
            label=f"{kind}: {said}" if isinstance(said, str) else kind,
            thread=self._lane.name,
        )

    def _compacted(self, payload: dict[str, Any] | None, at: float | None, size: int) -> None:
        """Go on from the history after a compaction; a long one is not read, and the prompts that follow say so."""
        history = payload.get("replacement_history") if payload is not None else None
        summary = payload.get("message") if payload is not None else None
        known = isinstance(history, list) or bool(summary)
        facts: dict[str, Json] = {"message": summary} if summary else {}
        facts["history"] = len(history) if isinstance(history, list) else "not read" if payload is None else None
        seq = self._sink.event(
            "note", "compaction", value=facts, at=at, label="conversation compacted", thread=self._lane.name
        )
        self._ended = True
        self._lane.restart()
        for item in history if isinstance(history, list) else ():
            self._lane.say(with_images(item))
        if not isinstance(history, list) and summary:
            self._lane.say({"role": "user", "content": summary})
        if not known:
            self._sink.skipped("histories after a compaction, as they are long")
            self._sink.cut(seq, f"the history after it ({size} bytes) was not read")
            self._lane.say({"role": "system", "content": "[the history before this was compacted and is not shown]"})
