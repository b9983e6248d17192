"""Branches of a Claude Code session that its user went back from with ``/rewind``; the file does not mark them.

Two prompts with the same parent are two branches. The live one is the later, or the one that the file names as its
leaf. Following parents from the leaf would lose results of parallel calls, so the order of the file is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

from stashdbg_core.formats.chat import Place
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.transcript import Lane


@dataclass(frozen=True, slots=True)
class _Segment:
    """What follows a prompt, up to the next one."""

    number: int
    first: int
    """``seq`` of its first event."""
    before: int | None
    """The segment that it goes on from."""
    place: Place
    """The conversation before its prompt."""


class Branches:
    """Follows the prompts of one lane.

    Args:
        sink: Told of the events that were abandoned.
        lane: Goes back to an earlier conversation where its user did.
    """

    def __init__(self, sink: RunSink, lane: Lane) -> None:
        self._sink = sink
        self._lane = lane
        self._segments: list[_Segment] = []
        self._by_parent: dict[str, _Segment] = {}
        self._lines: dict[str, int] = {}
        """Segment of each line."""
        self._leaf: str | None = None
        self._forked = False

    def line(self, uuid: str) -> None:
        """Take a line of the lane."""
        if self._segments:
            self._lines[uuid] = len(self._segments) - 1

    def leaf(self, uuid: str) -> None:
        """Take what the file says is the end of the live branch."""
        self._leaf = uuid

    def prompt(self, parent: str, at: float | None) -> None:
        """Take a prompt, before its event is told."""
        self._leaf = None
        sibling = self._by_parent.get(parent)
        self._lane.settle()
        if sibling is not None:
            self._forked = True
            self._lane.restart(self._lane.chat.back_to(sibling.place))
            self._sink.event(
                "note", "rewind", value={"backTo": sibling.first}, at=at, label=f"back to before event {sibling.first}"
            )
        before = sibling.before if sibling is not None else len(self._segments) - 1 if self._segments else None
        place = sibling.place if sibling is not None else self._lane.chat.place()
        segment = _Segment(len(self._segments), len(self._sink), before, place)
        self._segments.append(segment)
        self._by_parent.setdefault(parent, segment)

    def close(self) -> None:
        """Mark what was abandoned."""
        if not self._forked:
            return
        here: int | None = (
            self._lines.get(self._leaf, len(self._segments) - 1) if self._leaf else len(self._segments) - 1
        )
        live: set[int] = set()
        while here is not None:
            live.add(here)
            here = self._segments[here].before
        for segment in self._segments:
            if segment.number not in live:
                last = segment.number + 1 == len(self._segments)
                end = len(self._sink) if last else self._segments[segment.number + 1].first
                for seq in range(segment.first, end):
                    self._sink.abandoned(seq)
                self._sink.note(
                    "abandoned-branch",
                    f"events {segment.first} to {end - 1} are a branch that was left with /rewind",
                    seq=segment.first,
                )
