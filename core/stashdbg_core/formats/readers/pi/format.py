"""Sessions of pi: ``~/.pi/agent/sessions/<folder>/<time>_<id>.jsonl``, a line an entry.

From version 2 on the entries are a tree: each names its parent, and the last entry is the end of the live branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stashdbg_core.formats.format import Format, RunSummary, one_session
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.readers.pi.session import PiSession
from stashdbg_core.formats.record_by_record import each_record
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import text_of


def detect(head: Head) -> bool:
    """Tell whether a file is a session: a header with its folder."""
    return any(record.get("type") == "session" and "cwd" in record and "id" in record for record in head.lines)


def runs(source: ForeignSource) -> Sequence[RunSummary]:
    """Return the one run of a session, with its first prompt."""
    return one_session(source, _about)


def _about(record: dict[str, Any]) -> tuple[float | None, str, str | None]:
    message = record.get("message")
    if record.get("type") == "session":
        return epoch_ms(record.get("timestamp")), str(record.get("cwd") or ""), None
    asks = isinstance(message, dict) and message.get("role") == "user"
    return None, "", text_of(message.get("content")) if asks and isinstance(message, dict) else None


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read a session."""
    session = PiSession(sink)
    each_record(source.records(sink), sink, session.record)
    session.close()


FORMAT = Format(
    name="pi",
    title="pi session",
    detect=detect,
    runs=runs,
    read=read,
    exact=("answers of the model", "tool inputs and results", "token usage and cost", "branches"),
    inferred=(
        "prompts of model calls: the conversation so far",
        "duration of a tool call: from its request to its result",
    ),
    missing=("system prompt and tool definitions",),
)
