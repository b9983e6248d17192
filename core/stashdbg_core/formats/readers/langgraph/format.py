"""Checkpoints of LangGraph: the database that its ``SqliteSaver`` keeps. A thread is a run."""

from __future__ import annotations

from collections.abc import Sequence

from stashdbg_core.formats.format import Format, RunSummary
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.readers.langgraph.store import CheckpointStore, Thread, is_store, time_of, untold
from stashdbg_core.formats.readers.langgraph.thread import ThreadEvents, said_first
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.sqlite_file import open_database

_TITLED = 300
"""Threads of which a picker shows what was said first."""


def _detect(head: Head) -> bool:
    return is_store(head.tables)


def _runs(source: ForeignSource) -> Sequence[RunSummary]:
    with open_database(source) as database:
        store = CheckpointStore(database, untold)
        return [_summary(store, thread, number < _TITLED) for number, thread in enumerate(store.threads())]


def _summary(store: CheckpointStore, thread: Thread, is_titled: bool) -> RunSummary:
    said = said_first(store, thread) if is_titled else ""
    counted = "1 checkpoint" if thread.checkpoints == 1 else f"{thread.checkpoints:,} checkpoints"
    return RunSummary(label_of(str(thread.id)), time_of(thread.first), None, label_of(f"{counted} {said}"))


def _read(source: ForeignSource, run: int, sink: RunSink) -> None:
    def told(what: str, why: str) -> None:
        sink.unknown(f"{what} that stays as it is stored")
        sink.note("not-read", f"a {what} is kept as it is stored: {why}")

    with open_database(source) as database:
        store = CheckpointStore(database, told)
        thread = store.threads()[run]
        sink.identify(f"{thread.id}-{thread.first}")
        ThreadEvents(store, thread, sink, source).write()


FORMAT = Format(
    "langgraph",
    "LangGraph checkpoints",
    _detect,
    _runs,
    _read,
    exact=("states, what each node wrote, errors, interrupts", "steps and branches", "answers of models"),
    inferred=(
        "model and tool calls: from the messages that nodes wrote",
        "prompts of model calls: the messages in the state",
        "tool inputs: from the call of that id",
        "duration of a node: from its checkpoint to the next",
    ),
    missing=("instructions and tools that a node gives to its model", "calls that left no message in the state"),
)
