"""What a run was, in a line: events, model calls, tokens, errors, connections that nobody recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stashdbg_core.canonical import Json
from stashdbg_core.model import THROW, Recording
from stashdbg_core.session.usage import Usage, usage_of_event
from stashdbg_core.session.words import counted

UNHOOKED = "unhooked-connection"
"""Kind of a note on a connection that went past the hooks."""


@dataclass(frozen=True, slots=True)
class RunCounts:
    """A recorded run in numbers."""

    events: int
    llm_calls: int
    usage: Usage
    errors: int
    unhooked: int

    def to_json(self) -> dict[str, Json]:
        """Return the numbers as JSON."""
        return {
            "events": self.events,
            "llmCalls": self.llm_calls,
            **self.usage.to_json(),
            "errors": self.errors,
            "unhookedConnections": self.unhooked,
        }

    def words(self) -> str:
        """Return the numbers as a phrase: ``42 events, 3 model calls, 1,204 tokens in, 310 out, 1 error``."""
        parts = [counted(self.events, "event")]
        if self.llm_calls:
            parts.append(counted(self.llm_calls, "model call"))
        if self.usage != Usage():
            parts.append(f"{self.usage.input:,} tokens in, {self.usage.output:,} out")
        if self.errors:
            parts.append(counted(self.errors, "error"))
        if self.unhooked:
            parts.append(f"{counted(self.unhooked, 'connection')} NOT recorded")
        return ", ".join(parts)


def run_counts(recording: Recording, notes: Mapping[tuple[str, str], int]) -> RunCounts:
    """Count a recorded run.

    Args:
        recording: What it left.
        notes: What was noted while it ran.
    """
    calls = errors = 0
    usage = Usage()
    for event in recording.events:
        errors += event.outcome == THROW
        if event.channel == "llm":
            calls += 1
            usage += usage_of_event(recording, event) or Usage()
    unhooked = sum(count for (kind, _), count in notes.items() if kind == UNHOOKED)
    return RunCounts(len(recording.events), calls, usage, errors, unhooked)
