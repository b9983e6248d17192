"""The tables of LangGraph's ``SqliteSaver``: checkpoints and the writes of the tasks that ran at each, of all versions.

A thread has checkpoints in one namespace for the graph and one for each subgraph; their ids grow with time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from stashdbg_core.canonical import Json
from stashdbg_core.formats.readers.langgraph.values import Unreadable, mapping, stored_value
from stashdbg_core.formats.sqlite_file import Database
from stashdbg_core.formats.times import epoch_ms

_GREGORIAN = 0x01B21DD213814000
"""Steps of 100 ns from the first day of the Gregorian calendar, where such ids begin to count, to 1970."""
Told = Callable[[str, str], object]
"""Told what could not be read, and why."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread, as a list of threads shows it."""

    id: Json
    checkpoints: int
    first: str
    """Id of its first checkpoint."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a checkpoint stands."""

    namespace: str
    """Empty for the graph itself; ``node:task`` for a subgraph, ``|`` between the levels."""
    id: str
    parent: str | None
    metadata: Mapping[str, Any]

    @property
    def at(self) -> float | None:
        """When it was made, as its id tells."""
        return time_of(self.id)

    @property
    def source(self) -> str:
        """What made it: ``input``, ``loop``, ``update`` or ``fork``."""
        return str(self.metadata.get("source") or "")


@dataclass(frozen=True, slots=True)
class Write:
    """What a task wrote to a channel."""

    task: str
    path: str
    index: int
    channel: str
    value: Json


class CheckpointStore:
    """The tables of a database.

    Args:
        database: The database.
        told: Told of what could not be read.
    """

    def __init__(self, database: Database, told: Told) -> None:
        self._database = database
        self._told = told
        checkpoints = database.tables.get("checkpoints", frozenset())
        self._writes = database.tables.get("writes", frozenset())
        self._id, self._parent = _id_columns(checkpoints)
        self._namespace = _or_else(checkpoints, "checkpoint_ns", "''")
        self._kind = _or_else(checkpoints, "type", "NULL")
        self._metadata = _or_else(checkpoints, "metadata", "NULL")

    def quiet(self) -> CheckpointStore:
        """Return the same tables, nobody told of what cannot be read."""
        return CheckpointStore(self._database, untold)

    def threads(self) -> list[Thread]:
        """Return the threads, by their first checkpoint."""
        counts: dict[Json, int] = {}
        firsts: dict[Json, str] = {}
        for thread, found in self._database.rows(f"SELECT thread_id, {self._id} FROM checkpoints"):
            name = str(found)
            counts[thread] = counts.get(thread, 0) + 1
            firsts[thread] = min(firsts.get(thread, name), name)
        threads = [Thread(thread, count, firsts[thread]) for thread, count in counts.items()]
        return sorted(threads, key=lambda thread: (thread.first, str(thread.id)))

    def places(self, thread: Thread) -> list[Place]:
        """Return the checkpoints of a thread, of all namespaces, in the order in which they were made."""
        query = (
            f"SELECT {self._namespace}, {self._id}, {self._parent}, {self._metadata} "
            "FROM checkpoints WHERE thread_id IS ?"
        )
        found: dict[tuple[str, str], Place] = {}
        for namespace, name, parent, metadata in self._database.rows(query, (thread.id,)):
            facts = mapping(self._value("metadata", None, metadata))
            place = Place(str(namespace or ""), str(name), None if parent is None else str(parent), facts)
            found.setdefault((place.namespace, place.id), place)
        return sorted(found.values(), key=lambda place: (place.id, place.namespace))

    def checkpoint(self, thread: Thread, place: Place) -> Mapping[str, Any]:
        """Return a checkpoint's content."""
        query = f"SELECT {self._kind}, checkpoint FROM checkpoints WHERE {self._at()}"
        for kind, data in self._database.rows(query, self._named(thread, place)):
            return mapping(self._value("checkpoint", kind, data))
        return {}

    def writes(self, thread: Thread, place: Place) -> list[Write]:
        """Return what the tasks that ran at a checkpoint wrote, task by task."""
        columns = ("task_id", "idx", "channel", "value")
        if not self._writes.issuperset((self._id, "thread_id", *columns)):
            return []
        path, kind = _or_else(self._writes, "task_path", "''"), _or_else(self._writes, "type", "NULL")
        query = f"SELECT {', '.join(columns)}, {path}, {kind} FROM writes WHERE {self._at()}"
        found = [
            Write(
                str(task),
                str(task_path or ""),
                index if type(index) is int else 0,
                str(channel),
                self._value(f"write to {channel}", kind, value),
            )
            for task, index, channel, value, task_path, kind in self._database.rows(query, self._named(thread, place))
        ]
        return sorted(found, key=lambda write: (write.path, write.task, write.index))

    def _at(self) -> str:
        there = "" if self._namespace == "''" else " AND checkpoint_ns IS ?"
        return f"thread_id IS ? AND {self._id} IS ?{there}"

    def _named(self, thread: Thread, place: Place) -> tuple[Any, ...]:
        return (thread.id, place.id) if self._namespace == "''" else (thread.id, place.id, place.namespace)

    def _value(self, what: str, kind: Json, data: Json) -> Json:
        try:
            return stored_value(kind, data)
        except Unreadable as error:
            self._told(what, str(error))
            return data


def untold(what: str, why: str) -> None:
    """Take no notice."""


def is_store(tables: Mapping[str, frozenset[str]]) -> bool:
    """Tell from a database's tables whether it holds checkpoints."""
    columns = tables.get("checkpoints", frozenset())
    return columns.issuperset(("thread_id", "checkpoint")) and columns.issuperset(_id_columns(columns))


def time_of(name: str) -> float | None:
    """Return the time that an id begins with, in milliseconds since the epoch: a UUID of version 6, or a date."""
    try:
        number = UUID(name)
    except ValueError:
        return epoch_ms(name) if "-" in name else None
    if number.version != 6:
        return None
    steps = number.time_low << 28 | number.time_mid << 12 | number.time_hi_version & 0xFFF
    return round((steps - _GREGORIAN) / 10_000, 3)


def _id_columns(columns: frozenset[str]) -> tuple[str, str]:
    old = "checkpoint_id" not in columns and "thread_ts" in columns
    return ("thread_ts", "parent_ts") if old else ("checkpoint_id", "parent_checkpoint_id")


def _or_else(columns: frozenset[str], name: str, otherwise: str) -> str:
    return name if name in columns else otherwise
