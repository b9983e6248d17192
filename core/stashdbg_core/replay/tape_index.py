"""Which recorded calls there are, by channel and key, and which of them a replay has used.

Channel and key stay two things: joined, ``("a", "b:c")`` and ``("a:b", "c")`` would be one. Not thread-safe by itself.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

from stashdbg_core.model import EventSequence, Recording
from stashdbg_core.store.events import FileEvents

UNUSED, SERVED, DIVERGED, COVERED = range(4)
"""What became of a recorded call; COVERED: made inside a call that was served, so the program never makes it."""


class Group:
    """The recorded calls of one channel and key, and how many of them the live program has asked for."""

    __slots__ = ("asked", "by_input", "channel", "key", "ordinals", "positions", "repeated")

    def __init__(self, channel: str, key: str) -> None:
        self.channel = channel
        self.key = key
        self.positions = array("q")
        """Indexes into the recording's events, in tape order."""
        self.ordinals: dict[int, int] | None = None
        """Position by ordinal; None as long as the ordinals are 0, 1, 2, …"""
        self.repeated: set[int] = set()
        """Ordinals that more than one event claims."""
        self.asked = 0
        """The ordinal of the next live call."""
        self.by_input: dict[str | None, list[int]] | None = None
        """Positions by digest of the input, last first; None is the key of those without an input to compare."""

    def add(self, ordinal: int, position: int) -> None:
        """Take in one recorded call."""
        if self.ordinals is None and ordinal != len(self.positions):
            self.ordinals = dict(enumerate(self.positions))
        self.positions.append(position)
        if self.ordinals is not None:
            if ordinal in self.ordinals:
                self.repeated.add(ordinal)
            self.ordinals.setdefault(ordinal, position)

    def at(self, ordinal: int) -> int | None:
        """Return the position of the call with this ordinal, or None."""
        if self.ordinals is not None:
            return self.ordinals.get(ordinal)
        return self.positions[ordinal] if ordinal < len(self.positions) else None


class TapeIndex:
    """Every group of a recording, and the state of each of its events.

    Args:
        recording: The recorded calls.
        compared: Gives the form in which channels and keys are compared.
    """

    def __init__(self, recording: Recording, compared: Callable[[str], str]) -> None:
        self.groups: dict[tuple[str, str], Group] = {}
        self.state = bytearray(len(recording.events))
        """UNUSED, SERVED, DIVERGED or COVERED by position."""
        self._children: dict[int, list[int]] = {}
        self._seqs: dict[int, int] = {}
        by_name: dict[tuple[str, str], Group] = {}
        for position, (channel, key, ordinal, parent, seq) in enumerate(_rows(recording.events)):
            group = by_name.get((channel, key))
            if group is None:
                name = compared(channel), compared(key)
                group = by_name[channel, key] = self.groups.setdefault(name, Group(*name))
            group.add(ordinal, position)
            if parent is not None and parent != seq:
                self._children.setdefault(parent, []).append(position)
                self._seqs[position] = seq

    def channels(self) -> list[str]:
        """Return the recorded channels, in the order they first occur."""
        return list(dict.fromkeys(channel for channel, _ in self.groups))

    def keys(self, channel: str) -> list[str]:
        """Return the recorded keys of a channel, in the order they first occur."""
        return [key for name, key in self.groups if name == channel]

    def next_ordinal(self, group: Group) -> int:
        """Count a live call and return its ordinal, past the calls that served ones had made inside them."""
        ordinal = group.asked
        position = group.at(ordinal)
        while position is not None and self.state[position] == COVERED:
            ordinal += 1
            position = group.at(ordinal)
        group.asked = ordinal + 1
        return ordinal

    def serve(self, position: int, seq: int) -> None:
        """Note that a call was served: the program does not make the calls inside it."""
        self.state[position] = SERVED
        if not self._children:
            return
        todo = list(self._children.get(seq, ()))
        while todo:
            child = todo.pop()
            if self.state[child] == UNUSED:
                self.state[child] = COVERED
                todo += self._children.get(self._seqs[child], ())

    def unused(self) -> Iterator[int]:
        """Yield the positions of the calls that were never asked for, in tape order."""
        position = self.state.find(UNUSED)
        while position >= 0:
            yield position
            position = self.state.find(UNUSED, position + 1)


def _rows(events: EventSequence) -> Iterator[tuple[str, str, int, int | None, int]]:
    """Yield channel, key, ordinal, parent and ``seq`` of every event; those of a file are not read for it."""
    if not isinstance(events, FileEvents):
        yield from ((event.channel, event.key, event.ordinal, event.parent, event.seq) for event in events)
        return
    for index in range(len(events)):
        yield (
            events.channel_at(index),
            events.key_at(index),
            events.ordinal_at(index),
            events.parent_at(index),
            events.seq_at(index),
        )
