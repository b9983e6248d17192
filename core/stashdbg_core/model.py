"""What a recording is, wherever it lies: in memory, in a file, in a journal.

The atom is ``RecordedEvent``; a ``Recording`` is their sequence beside a table of values by content. Both sides are
abstract: a recording of a million events in a file costs what is looked at, and one just recorded is the same type.
The envelope is version 1 of agenticstash's; ``docs/format.md`` specifies ours.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import msgspec

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.parse import parse_json

FORMAT_VERSION = 1

RETURN = "return"
THROW = "throw"

PayloadState: TypeAlias = Literal["ok", "missing", "damaged"]
NO_EXTRA: Mapping[str, bytes] = MappingProxyType({})


# Structs, not dataclasses: made in a fifth of the time, and the garbage collector has nothing to visit.
class RecordedEvent(
    msgspec.Struct,
    frozen=True,
    gc=False,
    omit_defaults=True,
    forbid_unknown_fields=True,
    rename={"input_ref": "inputRef", "call_id": "callId"},
):
    """One recorded call: where it stands on the tape, what it was, and references to what went in and came out.

    The order of the attributes is the order of keys in a file; ``store.event_record`` writes and reads them.
    """

    seq: int
    """Place on the tape, from zero, taken when the call started."""
    channel: str
    """Kind of call: ``llm``, ``tool``, ``mcp``, ``clock``, ``random`` or the program's own."""
    key: str
    """Stable name of the call within its channel."""
    ordinal: int
    """How many calls of the same channel and key started before."""
    outcome: str
    """``return`` or ``throw``; a foreign file may hold another word, which is shown and never replayed as a value."""
    ref: str
    """Reference of the value returned, or of the error raised."""
    input_ref: str | None = None
    """Reference of the input, when one was given. In a foreign file it may name no blob."""
    at: int | float | None = None
    """Start in milliseconds since the epoch; informs, never decides."""
    label: str | None = None
    thread: str | None = None
    """Lane: the thread, task or sub-agent that made the call."""
    parent: int | None = None
    """``seq`` of the call during which this one was made."""
    ms: int | float | None = None
    """Duration in milliseconds."""
    call_id: str | None = None
    """The caller's own name of the call, such as a provider's tool-call id."""
    site: str | None = None
    """The program's own frame that made the call: ``agent.py:42 plan``."""
    extra: Mapping[str, bytes] = NO_EXTRA
    """Keys that this version does not know, as the JSON text that stood in the file."""
    damage: str | None = None
    """What is wrong with this event's own record, if anything; never stored."""

    def replaced(self, **changes: Any) -> RecordedEvent:
        """Return a copy with these attributes set."""
        return msgspec.structs.replace(self, **changes)


class Payload(msgspec.Struct, frozen=True, gc=False):
    """A stored value as it was found."""

    ref: str
    state: PayloadState
    raw: bytes = b""
    """The stored form as it stands in the file, shared pieces still by reference; empty when missing."""
    problem: str | None = None
    """Why it is not ok, in words."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something a reader of the recording should know: damage, loss or oddity."""

    kind: str
    """Stable name, such as ``truncated``, ``missing-blob``, ``seq-gap``, ``duplicate-key``."""
    message: str
    """One sentence for people."""
    seq: int | None = None
    ref: str | None = None
    offset: int | None = None
    """Byte offset in the file."""


class EventSequence(Sequence[RecordedEvent]):
    """Events in ``seq`` order, read when looked at."""

    @abstractmethod
    def position_of(self, seq: int) -> int | None:
        """Return the index of the first event with this ``seq``, or None."""
        ...


class BlobTable(Mapping[str, Json]):
    """Values by reference. ``table[ref]`` is the whole JSON tree, shared pieces put in."""

    @abstractmethod
    def payload(self, ref: str) -> Payload:
        """Return the stored value as found; never raises for a missing or damaged one."""
        ...

    @abstractmethod
    def tree(self, ref: str) -> Json:
        """Return the whole JSON tree of a value, its tags intact, shared pieces put in.

        Raises:
            StashError: ``ERR_NOT_FOUND`` if it, or a piece of it, is missing; ``ERR_INVALID_RECORDING`` if damaged.
        """
        ...

    def text(self, ref: str) -> bytes:
        """Return the whole value as JSON text, its tags intact, shared pieces put in; as spelled where it is spelled.

        Raises:
            StashError: As ``tree``.
        """
        return stored_form(self.tree(ref))

    @abstractmethod
    def refs(self) -> Iterator[str]:
        """Yield every reference in file order, repeated ones once."""
        ...


class RawObject(Mapping[str, Json]):
    """A JSON object that keeps the spelling of what nobody changes: values are parsed when looked at."""

    __slots__ = ("_raw",)

    def __init__(self, raw: Mapping[str, bytes] | None = None) -> None:
        self._raw: dict[str, bytes] = dict(raw or {})

    @classmethod
    def of(cls, tree: Mapping[str, Json]) -> RawObject:
        """Make one from JSON trees."""
        return cls({key: stored_form(value) for key, value in tree.items()})

    @property
    def raw(self) -> Mapping[str, bytes]:
        """JSON text by key, in order."""
        return self._raw

    def replaced(self, **values: Json) -> RawObject:
        """Return a copy with these keys set; a value of None drops its key."""
        raw = {key: text for key, text in self._raw.items() if values.get(key, "") is not None}
        raw.update({key: stored_form(value) for key, value in values.items() if value is not None})
        return RawObject(raw)

    def __getitem__(self, key: str) -> Json:
        return parse_json(self._raw[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)


@dataclass(frozen=True, slots=True)
class Recording:
    """A whole tape: events in ``seq`` order, a table of values, and what is known about the run."""

    id: str
    events: EventSequence
    blobs: BlobTable
    meta: RawObject = field(default_factory=RawObject)
    extra: RawObject = field(default_factory=RawObject)
    """Top-level keys that this version does not know."""
    notes: Sequence[Note] = ()
    """Damage and oddities found while reading."""
    path: Path | None = None
    """The file it was read from."""
    version: int = FORMAT_VERSION

    @property
    def complete(self) -> bool:
        """Whether the run ended while it was being recorded, and the file is whole."""
        return self.meta.get("complete") is not False and not any(n.kind == "truncated" for n in self.notes)
