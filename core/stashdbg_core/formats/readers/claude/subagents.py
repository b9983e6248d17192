"""Sub-agents of a Claude Code session: their files beside it, and which call of a tool each one belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import Lane, ToolRun, Transcript

SUMMARISER = "acompact-"
"""How the id of the agent begins that writes the summary of a compaction."""
_SPAWNING = ("Task", "Agent")
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_RAW_ID = re.compile(rb'"agentId":"([A-Za-z0-9_-]{1,100})"')
_DEPTH = 50
"""Sub-agents that may be nested in each other; what lies deeper is read at the end."""


class SubAgents:
    """Finds the files and the calls of sub-agents.

    Args:
        source: The session's own file.
        transcript: Has the lanes.
        read: Reads a sub-agent's file into a lane.
    """

    def __init__(
        self, source: ForeignSource, transcript: Transcript, read: Callable[[ForeignSource, Lane, str], object]
    ) -> None:
        self._source = source
        self._transcript = transcript
        self._read = read
        self._folder = source.name.removesuffix(".zst").removesuffix(".jsonl")
        self._names: dict[str, str] = {}
        self._listed_at = -1
        """How often the session had grown when its sub-agents were listed."""
        self._done: set[str] = set()
        self._waiting: list[ToolRun] = []
        """Calls that may have started a sub-agent, of which no trace was seen."""
        self._depth = 0

    def has_file(self, agent: str) -> bool:
        """Tell whether a sub-agent has a file of its own."""
        return agent in self._listed()

    def told_elsewhere(self, raw: bytes) -> bool:
        """Tell whether a line embeds what stands in a sub-agent's own file."""
        found = _RAW_ID.search(raw)
        return found is not None and self.has_file(found.group(1).decode())

    def called(self, run: ToolRun) -> None:
        """Take a tool call; one that may start a sub-agent waits for it."""
        given = run.input if isinstance(run.input, dict) else {}
        if isinstance(given.get("prompt"), str) and (run.key in _SPAWNING or "subagent_type" in given):
            self._waiting.append(run)

    def answered(self, run: ToolRun, rich: Json) -> None:
        """Take a call's result: if it names a sub-agent, its file is read here."""
        agent = rich.get("agentId") if isinstance(rich, dict) else None
        if isinstance(agent, str) and _ID.fullmatch(agent):
            self.lane(agent, run)
            self.read(agent)

    def lane(self, agent: str, run: ToolRun | None) -> Lane:
        """Return the lane of a sub-agent, made if it is new."""
        if run is not None and run in self._waiting:
            self._waiting.remove(run)
        return self._transcript.lane(f"agent-{agent}", run.seq if run is not None else None)

    def called_with(self, prompt: str) -> ToolRun | None:
        """Return the call that a sub-agent with that prompt belongs to: the one with the same, else the only one."""
        open_calls = [run for run in self._waiting if not run.answered]
        found = [run for run in self._waiting if isinstance(run.input, dict) and run.input.get("prompt") == prompt]
        run = found[0] if found else open_calls[0] if len(open_calls) == 1 else None
        if run is not None:
            self._waiting.remove(run)
        return run

    def summariser(self) -> None:
        """Read the file of the agent that summarised for the next compaction."""
        agent = next((name for name in self._listed() if name.startswith(SUMMARISER) and name not in self._done), None)
        if agent is not None:
            self.read(agent)

    def read(self, agent: str) -> None:
        """Read a sub-agent's file, once."""
        source = self._open(agent) if agent not in self._done and self._depth < _DEPTH else None
        if source is None:
            return
        self._done.add(agent)
        self._depth += 1
        self._read(source, self._transcript.lane(f"agent-{agent}"), agent)
        self._depth -= 1

    def rest(self) -> None:
        """Read the files that nothing has led to."""
        left = [agent for agent in self._listed() if agent not in self._done]
        for agent in sorted(left, key=lambda agent: self._first(agent)[1]):
            if agent not in self._done:
                if not agent.startswith(SUMMARISER):
                    self.lane(agent, self._caller(agent))
                self.read(agent)

    def _caller(self, agent: str) -> ToolRun | None:
        beside = self._source.beside(self._folder, "subagents", f"agent-{agent}.meta.json")
        try:
            facts = beside.json() if beside is not None and beside.size < 1 << 20 else None
        except StashError:
            facts = None
        named = facts.get("toolUseId") if isinstance(facts, dict) else None
        if isinstance(named, str) and named in self._transcript.calls:
            return self._transcript.calls[named]
        return self.called_with(self._first(agent)[0])

    def _first(self, agent: str) -> tuple[str, float]:
        """Return the prompt and the time of a sub-agent's first record."""
        source = self._open(agent)
        for record in Head(source).lines if source is not None else ():
            message: Any = record.get("message")
            if isinstance(message, dict):
                content = message.get("content")
                return content if isinstance(content, str) else "", epoch_ms(record.get("timestamp")) or 0.0
        return "", 0.0

    def _listed(self) -> dict[str, str]:
        """Return the file name of each sub-agent that has one."""
        if self._listed_at != self._source.grown:
            self._listed_at = self._source.grown
            found = self._source.names_beside(f"{self._folder}/subagents", "agent-*.jsonl")
            named = ((name.removeprefix("agent-").removesuffix(".jsonl"), name) for name in found)
            self._names = {agent: name for agent, name in named if _ID.fullmatch(agent)}
        return self._names

    def _open(self, agent: str) -> ForeignSource | None:
        name = self._listed().get(agent)
        return None if name is None else self._source.beside(self._folder, "subagents", name)
