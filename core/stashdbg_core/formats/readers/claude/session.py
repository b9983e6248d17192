"""A Claude Code session file, line by line: lanes, branches, compactions, notes, titles."""

from __future__ import annotations

import re
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.readers.claude.branches import Branches
from stashdbg_core.formats.readers.claude.conversation import ClaudeConversation, is_prompt
from stashdbg_core.formats.readers.claude.lines import AGENT_PROGRESS, KNOWN_TYPES, PROGRESS, with_images
from stashdbg_core.formats.readers.claude.subagents import SubAgents
from stashdbg_core.formats.record_by_record import reading
from stashdbg_core.formats.shapes import object_of
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource, Line
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import Lane, ToolRun, Transcript, text_of
from stashdbg_core.formats.transcript_labels import prompt_text

_NOTES = {
    "compact_boundary": "compaction", "microcompact_boundary": "microcompaction", "api_error": "api_error",
    "error": "error", "api_refusal": "refusal", "model_refusal_fallback": "refusal", "informational": "informational",
}  # fmt: skip
"""Subtypes of ``system`` records that are events, and the keys of those."""
_QUIET = frozenset(
    {
        "turn_duration", "stop_hook_summary", "local_command", "session_start", "init", "bridge_status", "away_summary",
        "memory_saved", "scheduled_task_fire", "permission_retry", "agents_killed", "thinking", "file_snapshot",
    }
)  # fmt: skip
_SAVED = re.compile(r"(?:saved to|persisted to|written to):? ([^\n<>]{1,500}\.[a-z]{2,5})")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_WHOLE_OUTPUT = 64 << 20


class ClaudeSession:
    """Reads a session file and those of its sub-agents into a sink."""

    def __init__(self, source: ForeignSource, sink: RunSink) -> None:
        self.source = source
        self.sink = sink
        self.transcript = Transcript(sink)
        self.agents = SubAgents(source, self.transcript, self._read_agent)
        self.conversation = ClaudeConversation(
            self.transcript,
            on_call=self.agents.called,
            on_result=self.agents.answered,
            full_output=self._full_output,
        )
        self.titles: dict[str, str] = {}
        self.facts: dict[str, Json] = {}

    def read(self) -> None:
        """Read everything."""
        _File(self, self.source, self.transcript.lane(), None).read()
        self.agents.rest()
        self.transcript.close()
        named = (self.titles[name] for name in ("custom", "ai", "summary", "prompt") if name in self.titles)
        self.sink.title(next(named, None))
        self.sink.meta(**self.facts)

    def about(self, record: dict[str, Any]) -> None:
        """Take what the first records say of the session."""
        if "sessionId" not in self.facts and isinstance(record.get("sessionId"), str):
            named = _UUID.match(self.source.name)
            own = named.group() if named is not None else record["sessionId"]
            agent = record.get("agentId") if record.get("isSidechain") is True else None
            self.sink.identify(f"{own}-{agent}" if isinstance(agent, str) else own)
            self.facts["sessionId"] = record["sessionId"]
        for name in ("cwd", "gitBranch", "version"):
            if name not in self.facts and isinstance(record.get(name), str) and record[name]:
                self.facts[name] = record[name]

    def _read_agent(self, source: ForeignSource, lane: Lane, agent: str) -> None:
        _File(self, source, lane, agent).read()

    def _full_output(self, run: ToolRun, rich: Json, shown: Json) -> str | None:
        """Return the output of a call that was too long for the session, from its file beside it."""
        path = rich.get("persistedOutputPath") if isinstance(rich, dict) else None
        if not isinstance(path, str):
            text = text_of(shown)
            found = _SAVED.search(text[:2000]) if text.startswith("<persisted-output>") else None
            path = found.group(1) if found is not None else None
        if not isinstance(path, str) or not path:
            return None
        name = path.replace("\\", "/").rsplit("/", 1)[-1]
        folder = self.source.name.removesuffix(".zst").removesuffix(".jsonl")
        file = self.source.beside(folder, "tool-results", name)
        try:
            if file is not None and file.size <= _WHOLE_OUTPUT:
                return file.data().decode("utf-8", "replace")
        except StashError:
            pass
        self.sink.cut(run.seq, f"the whole output was in {name}, which is not beside the session")
        return None


class _File:
    """One file of a session: the main one, or a sub-agent's."""

    def __init__(self, session: ClaudeSession, source: ForeignSource, home: Lane, agent: str | None) -> None:
        self._session = session
        self._source = source
        self._sink = session.sink
        self._home = home
        self._agent = agent
        self._inner = agent is not None
        self._seen: set[int] = set()
        self._begun = False
        """Whether a message was seen."""
        self._side: dict[str, Lane] = {}
        """Lanes of side chains by the uuids of their lines."""
        self._chains = 0
        self._last_chain: Lane | None = None
        self._branches = Branches(self._sink, home)

    def read(self) -> None:
        """Read the file."""
        for line, record in self._source.records(self._sink, skip=self._skip):
            with reading(record, self._sink, line):
                self._record(record, line)
        self._branches.close()

    def _skip(self, line: Line) -> bool:
        if PROGRESS not in line.raw:
            return False
        if AGENT_PROGRESS in line.raw and not self._session.agents.told_elsewhere(line.raw):
            return False
        self._sink.skipped("progress records")
        return True

    def _record(self, record: dict[str, Any], line: Line) -> None:
        kind = record.get("type")
        if not self._inner:
            self._session.about(record)
        if kind in ("assistant", "user"):
            self._message(record, kind, line)
        elif kind == "progress":
            self._progress(record)
        elif kind == "system":
            self._system(record)
        elif kind == "attachment":
            self._attachment(record)
        elif kind in KNOWN_TYPES:
            self._other(record, kind)
        else:
            shown = kind if isinstance(kind, str) else "without a type"
            self._sink.unknown(f"record type {shown}")
            self._sink.event(
                "state", f"record {shown}", value=record, at=epoch_ms(record.get("timestamp")), thread=self._home.name
            )

    def _message(self, record: dict[str, Any], kind: str, line: Line) -> None:
        uuid, parent = record.get("uuid"), record.get("parentUuid")
        if isinstance(uuid, str):
            mark = hash((uuid, kind, line.size))
            if mark in self._seen:
                self._sink.skipped("repeated records")
                return
            self._seen.add(mark)
        lane = self._lane_of(record)
        if lane is self._home:
            if kind == "user" and isinstance(parent, str) and is_prompt(record):
                self._branches.prompt(parent, epoch_ms(record.get("timestamp")))
            if isinstance(uuid, str):
                self._branches.line(uuid)
        if kind == "assistant":
            self._session.conversation.assistant(record, lane)
            return
        if "prompt" not in self._session.titles and is_prompt(record) and not self._inner:
            said = prompt_text(record["message"].get("content"))
            if said.strip() and not said.startswith("[Request interrupted"):
                self._session.titles["prompt"] = said
        self._session.conversation.user(record, lane)

    def _lane_of(self, record: dict[str, Any]) -> Lane:
        agent = record.get("agentId") if isinstance(record.get("agentId"), str) else None
        first, self._begun = not self._begun, True
        if first and not self._inner and record.get("isSidechain") is True:
            self._agent = agent or ""  # the file of a sub-agent, opened by itself
        if record.get("isSidechain") is not True or (self._agent is not None and (agent or "") == self._agent):
            return self._home
        if agent is not None:
            return self._session.agents.lane(agent, None)
        return self._chain(record)

    def _chain(self, record: dict[str, Any]) -> Lane:
        """Return the lane of a side chain that stands in the session itself, as old versions wrote them."""
        parent = record.get("parentUuid")
        lane = self._side.get(parent) if isinstance(parent, str) else None
        if lane is None and isinstance(parent, str):
            lane = self._last_chain
        if lane is None:
            message = record.get("message")
            run = self._session.agents.called_with(text_of(message.get("content")) if isinstance(message, dict) else "")
            self._chains += 1
            lane = self._session.transcript.lane(f"agent-{self._chains}", run.seq if run is not None else None)
        self._last_chain = lane
        if isinstance(record.get("uuid"), str):
            self._side[record["uuid"]] = lane
        return lane

    def _progress(self, record: dict[str, Any]) -> None:
        data = object_of(record.get("data"))
        agent, message = data.get("agentId"), data.get("message")
        told = data.get("type") == "agent_progress" and isinstance(agent, str)
        if not told or not isinstance(message, dict) or self._session.agents.has_file(str(agent)):
            self._sink.skipped("progress records")
            return
        uuid = message.get("uuid")
        if isinstance(uuid, str):
            if hash(uuid) in self._seen:
                return
            self._seen.add(hash(uuid))
        run = self._session.transcript.calls.get(str(record.get("parentToolUseID")))
        lane = self._session.agents.lane(str(agent), run)
        if message.get("type") == "assistant":
            self._session.conversation.assistant(message, lane)
        elif message.get("type") == "user":
            self._session.conversation.user(message, lane)

    def _system(self, record: dict[str, Any]) -> None:
        subtype = record.get("subtype")
        key = _NOTES.get(subtype) if isinstance(subtype, str) else None
        at = epoch_ms(record.get("timestamp"))
        if key is None:
            if subtype in _QUIET:
                self._sink.skipped(f"system records {subtype}")
                return
            self._sink.unknown(f"system record {subtype}")
            self._sink.event("state", f"system {subtype}", value=record, at=at, thread=self._home.name)
            return
        if key == "compaction":
            self._session.agents.summariser()
        failed = key in ("api_error", "error")
        names = ("content", "error", "compactMetadata", "level", "retryAttempt", "maxRetries", "retryInMs", "cause")
        more = ("apiRefusalCategory", "apiRefusalExplanation", "originalModel", "fallbackModel")
        value: dict[str, Json] = {name: record[name] for name in (*names, *more) if record.get(name) is not None}
        if failed:
            value.setdefault("error", text_of(record.get("content")) or key)
        self._sink.event(
            "note",
            key,
            value=value,
            outcome="throw" if failed else "return",
            at=at,
            label=_note_label(key, record),
            thread=self._home.name,
        )
        if key == "compaction":
            self._home.restart()

    def _attachment(self, record: dict[str, Any]) -> None:
        told = object_of(record.get("attachment"))
        kind = told.get("type")
        lane, at = self._lane_of(record), epoch_ms(record.get("timestamp"))
        if kind == "queued_command":
            content = with_images(told.get("prompt"))
            said: Json = {"role": "user", "content": content}
            if told.get("commandMode") == "prompt":
                lane.prompt(said, prompt_text(content), at)
            else:
                lane.say(said, at)
        elif kind in (
            "hook_blocking_error",
            "hook_non_blocking_error",
            "hook_cancelled",
            "hook_error_during_execution",
        ):
            key = str(told.get("hookName") or told.get("hookEvent") or "hook")
            self._sink.event("hook", key, value=told, outcome="throw", at=at, thread=lane.name)
        elif any(told.get(name) for name in ("content", "snippet", "text")):
            lane.say({"role": "user", "content": [told]})
            self._sink.skipped("attachments told to the model (in its prompts, no events)")
        else:
            self._sink.skipped("attachments without text")

    def _other(self, record: dict[str, Any], kind: str) -> None:
        for name, title, text in (
            ("custom-title", "custom", "customTitle"),
            ("ai-title", "ai", "aiTitle"),
            ("summary", "summary", "summary"),
        ):
            said = record.get(text) if kind == name and not self._inner else None
            if isinstance(said, str) and not said.startswith("API Error"):
                self._session.titles[title] = said
        if kind == "last-prompt" and isinstance(record.get("leafUuid"), str):
            self._branches.leaf(record["leafUuid"])
        self._sink.skipped(f"{kind} records")


def _note_label(key: str, record: dict[str, Any]) -> str:
    error = record.get("error")
    said = record.get("content")
    if isinstance(error, dict):
        said = error.get("message") or error.get("formatted") or said
    if key == "compaction" and isinstance(record.get("compactMetadata"), dict):
        facts = record["compactMetadata"]
        return f"conversation compacted ({facts.get('trigger')}, {facts.get('preTokens')} tokens before)"
    return f"{key}: {said}" if isinstance(said, str) and said else key
