"""Conversations and runs of OpenHands, V1 and V0.

V1 keeps a conversation in a folder, a file an event; V0 one run in a JSON array; evaluations of both a run in a line.
Any file of a conversation stands for the whole of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from stashdbg_core.formats.format import Format, RunSummary, one_run
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.readers.openhands.conversation import read_folder
from stashdbg_core.formats.readers.openhands.folder import Folder
from stashdbg_core.formats.readers.openhands.output import is_output, read_history, read_output, summaries
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource

_SOURCES = ("agent", "user", "environment", "hook")
_STATE = frozenset({"id", "agent", "max_iterations"})
_LONG_LINE = re.compile(rb'\A\s*\{"instance_id": ?"[^"]{1,500}"[^\n]{0,60000}"agent_class": ?"')
"""How a run begins whose line is too long to be looked at whole."""


def detect(head: Head) -> bool:
    """Tell whether a file is part of a conversation, a trajectory, or the output of an evaluation."""
    if _is_conversation(head):
        return True
    if head.first is not None:
        return _is_event(head.first) or _is_old_event(head.first)
    if head.top is not None:
        return is_output(head.top)
    return any(map(is_output, head.lines)) or _LONG_LINE.match(head.data) is not None


def runs(source: ForeignSource) -> Sequence[RunSummary]:
    """Return the runs of an evaluation; anything else is one."""
    head = Head(source)
    return one_run(source) if _is_conversation(head) or head.first is not None else summaries(source)


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read a conversation, a trajectory, or a run of an evaluation."""
    head = Head(source)
    if head.first is not None:
        sink.title(read_history(source.json(), sink, None, None))
    elif not _is_conversation(head):
        read_output(source, run, sink)
    elif source.path is None and head.top is not None and _is_event(head.top):
        sink.title(read_history([source.json()], sink, None, None))
    else:
        is_event = head.top is not None and _is_event(head.top)
        read_folder(Folder(source, events_in=".") if is_event else Folder(source), sink)


def _is_conversation(head: Head) -> bool:
    """Tell whether a file is the state of a conversation, or one event of it."""
    top = head.top
    return top is not None and (_is_state(top) or _is_event(top))


def _is_state(top: Mapping[str, Any]) -> bool:
    return top.keys() >= _STATE and any(name in top for name in ("stats", "execution_status", "confirmation_policy"))


def _is_event(record: Mapping[str, Any]) -> bool:
    """Tell whether an object is an event of V1."""
    named = isinstance(record.get("kind"), str) and isinstance(record.get("id"), str)
    return named and "timestamp" in record and record.get("source") in _SOURCES


def _is_old_event(record: Mapping[str, Any]) -> bool:
    """Tell whether an object is an event of V0."""
    told = isinstance(record.get("action"), str) or isinstance(record.get("observation"), str)
    return told and record.get("source") in _SOURCES and ("args" in record or "extras" in record)


FORMAT = Format(
    "openhands",
    "OpenHands conversation",
    detect,
    runs,
    read,
    exact=(
        "tool inputs and results",
        "answers of the model, in V0 where the file holds them",
        "token usage and latency",
        "branches",
    ),
    inferred=(
        "prompts of model calls: the conversation so far, condensed as OpenHands does",
        "the zone of times, from when costs or responses were noted",
        "which call started a sub-agent, by its prompt",
        "in V0 without ids: which action a result answers",
    ),
    missing=("prompts and answers of condensers", "in V0: system prompt and tool definitions, in most files"),
)
