"""The whole run in two lines: how long things took, which channel, where it failed, and where the cursor is.

Filled a few milliseconds at a time while events are still unseen; silent afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import ClassVar

from textual import events
from textual.message import Message

from stashdbg_core.session.density import Bucket, Density
from stashdbg_core.session.session import Session
from stashdbg_tui.theme import channel_colour, sign
from stashdbg_tui.widgets.one_line import OneLine, Piece

_BARS = "▁▂▃▄▅▆▇"
_SLICE_SECONDS = 0.003
_PAUSE_SECONDS = 0.012
_STEP = 1000


class Scrubber(OneLine):
    """A strip over the time axis; a click goes there."""

    DEFAULT_CSS = """
    Scrubber { height: 2; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "scrub--error", "scrub--cursor", "scrub--mark", "scrub--rule",
        *(f"scrub--channel-{number}" for number in range(1, 7)),
    }  # fmt: skip

    class Chosen(Message):
        """A person pointed at a place in the run."""

        def __init__(self, position: int) -> None:
            super().__init__()
            self.position = position

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._density: Density | None = None
        self._position = -1
        self.marks: Callable[[int, int], str | None] = lambda start, stop: None
        """Returns the name of the most telling mark from one position up to another."""
        self._drawn: tuple[int, list[Bucket], float] | None = None

    def show_session(self, session: Session) -> None:
        """Show a recording's run."""
        self._density = Density(session.columns, session.count)
        self._position = session.position
        self._drawn = None
        self._fill()

    def show_cursor(self, position: int) -> None:
        """Move the caret; draws only when it reaches another column."""
        before, self._position = self._column(self._position), position
        if self._column(position) != before:
            self.refresh()

    def pieces(self, y: int, width: int) -> Iterable[Piece]:
        """Return the bars, or the marks under them."""
        if self._density is None or not self._density.count:
            yield "─" * width if y else "", "scrub--rule"
            return
        inner = max(width - 2, 1)
        if self._drawn is None or self._drawn[0] != inner:
            buckets = self._density.resampled(inner)
            self._drawn = (inner, buckets, max((_weight(bucket) for bucket in buckets), default=0.0))
        _, buckets, most = self._drawn
        yield " ", ""
        yield from _bars(buckets, most) if y == 0 else self._marks(buckets)

    def _marks(self, buckets: list[Bucket]) -> Iterable[Piece]:
        caret, run = self._column(self._position), ""
        failed = self._failed_columns(buckets)
        for column in range(len(buckets)):
            marked = self._mark_of(column, len(buckets))
            if column != caret and column not in failed and marked is None:
                run += "─"
                continue
            yield run, "scrub--rule"
            run = ""
            if column == caret:
                yield "▲", "scrub--cursor"
            else:
                style = "scrub--error" if column in failed else "scrub--mark"
                yield sign(marked) if marked is not None else "!", style
        yield run, "scrub--rule"

    def _mark_of(self, column: int, inner: int) -> str | None:
        """Return the mark of the events that have their place in a column."""
        assert self._density is not None
        count = self._density.count
        start, stop = (-((inner - 2 * place * count) // (2 * inner)) for place in (column, column + 1))
        return self.marks(max(start, 0), stop) if stop > max(start, 0) else None

    def _failed_columns(self, buckets: list[Bucket]) -> set[int]:
        """Return the columns with a mark: one a bucket, in its middle where it covers several."""
        density, inner = self._density, len(buckets)
        if density is None or inner <= density.size:
            return {column for column, bucket in enumerate(buckets) if bucket.throws}
        return {
            (2 * place + 1) * inner // (2 * density.size)
            for place, bucket in enumerate(density.buckets)
            if bucket.throws
        }

    def _column(self, position: int) -> int:
        if self._density is None or not self._density.count or position < 0:
            return -1
        inner = max(self.size.width - 2, 1)
        return min((2 * position + 1) * inner // (2 * self._density.count), inner - 1)

    def _fill(self) -> None:
        density = self._density
        if density is None:
            return
        until = perf_counter() + _SLICE_SECONDS
        while not density.complete and perf_counter() < until:
            density.extend(_STEP)
        self._drawn = None
        self.refresh()
        if not density.complete:
            self.set_timer(_PAUSE_SECONDS, self._fill)

    def on_click(self, event: events.Click) -> None:
        """Go to the place clicked on."""
        if self._density is not None and self._density.count:
            inner = max(self.size.width - 2, 1)
            place = min(max(event.x - 1, 0), inner - 1)
            self.post_message(self.Chosen(place * self._density.count // inner))


def _weight(bucket: Bucket) -> float:
    return math.log1p(bucket.ms) if bucket.ms else 0.0


def _bars(buckets: list[Bucket], most: float) -> Iterable[Piece]:
    for bucket in buckets:
        channel = bucket.channel
        if channel is None:
            yield " ", ""
            continue
        level = round(_weight(bucket) / most * (len(_BARS) - 1)) if most else 2
        yield _BARS[level], "scrub--error" if bucket.throws else f"scrub--channel-{channel_colour(channel)}"
