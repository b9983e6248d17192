"""Sessions of Claude Code: ``~/.claude/projects/<folder>/<session>.jsonl``, and the files of its sub-agents beside it.

The vendor calls the line format internal and unstable; what this knows was seen in files of versions 1.0 to 2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stashdbg_core.formats.format import Format, RunSummary, one_session
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.readers.claude.conversation import is_prompt
from stashdbg_core.formats.readers.claude.lines import KNOWN_TYPES
from stashdbg_core.formats.readers.claude.session import ClaudeSession
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript_labels import prompt_text


def detect(head: Head) -> bool:
    """Tell whether a file is a session: lines with a session's id and a uuid, or of a type that only they have."""
    for record in head.lines:
        kind = record.get("type")
        known = isinstance(kind, str) and kind in KNOWN_TYPES
        if isinstance(record.get("sessionId"), str) and "projectHash" not in record:
            if known or isinstance(record.get("uuid"), str):
                return True
        elif (kind == "summary" and "leafUuid" in record) or (kind == "file-history-snapshot" and "snapshot" in record):
            return True
    return False


def runs(source: ForeignSource) -> Sequence[RunSummary]:
    """Return the one run of a session file, with its first prompt."""
    return one_session(source, _about)


def _about(record: dict[str, Any]) -> tuple[float | None, str, str | None]:
    folder, message = record.get("cwd"), record.get("message")
    asks = record.get("type") == "user" and isinstance(message, dict) and is_prompt(record)
    prompt = prompt_text(message.get("content")) if asks and isinstance(message, dict) else None
    return epoch_ms(record.get("timestamp")), folder if isinstance(folder, str) else "", prompt


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read a session."""
    ClaudeSession(source, sink).read()


FORMAT = Format(
    name="claude-code",
    title="Claude Code session",
    detect=detect,
    runs=runs,
    read=read,
    exact=("answers of the model, block by block", "tool inputs and results as the model saw them", "token usage"),
    inferred=(
        "prompts of model calls: the conversation so far",
        "start of a model call: its newest input",
        "duration of a tool call: from its request to its result",
    ),
    missing=("system prompt and tool definitions", "sampling settings"),
)
