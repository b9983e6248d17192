"""The frame lines of a comparison: the two names, where the differences lie, and the status."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import events
from textual.message import Message

from stashdbg_core.sanitize import shorten
from stashdbg_core.session.comparison import Comparison, ViewKind
from stashdbg_core.session.words import counted, duration_words
from stashdbg_tui import safe
from stashdbg_tui.bindings import keys_now
from stashdbg_tui.commands import command
from stashdbg_tui.widgets.diff_rows import GLYPHS
from stashdbg_tui.widgets.one_line import OneLine, Piece

KIND_WORDS: dict[ViewKind, str] = {
    "same": "the same",
    "timing": "the same, timing differs",
    "changed": "changed",
    "moved": "moved",
    "added": "only on the right",
    "removed": "only on the left",
    "measured": "measured",
}


class DiffLine(OneLine):
    """A line about a comparison."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.comparison: Comparison | None = None

    def show_comparison(self, comparison: Comparison) -> None:
        """Draw anew."""
        self.comparison = comparison
        self.refresh()


class DiffHead(DiffLine):
    """The names of the two recordings above their timelines, the side that Enter opens marked."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"head--name", "head--side", "head--muted"}

    def pieces(self, y: int, width: int) -> Iterable[Piece]:
        """Return the names."""
        comparison = self.comparison
        if comparison is None:
            return
        half = (width - 5) // 2
        for side, room in ((0, half + 4), (1, width - half - 4)):
            count = len(comparison.recording(side).events)
            words = f"  {counted(count, 'event')}"
            mark = "▸ " if side == comparison.side else "  "
            name = safe.fit(comparison.name(side), max(room - len(mark) - len(words), 4)).rstrip()
            yield mark, "head--side"
            yield name, "head--side" if side == comparison.side else "head--name"
            left = room - len(mark) - safe.cells(name)
            yield f"{words[:left]:<{left}}", "head--muted"


class DiffStrip(DiffLine):
    """Where the differences lie along the rows that are shown; a click goes there."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "strip--cursor", "strip--same", "strip--timing", "strip--changed", "strip--moved", "strip--added",
        "strip--removed", "strip--measured",
    }  # fmt: skip

    class Chosen(Message):
        """A person pointed at a line."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._drawn: tuple[object, Sequence[ViewKind]] | None = None

    def pieces(self, y: int, width: int) -> Iterable[Piece]:
        """Return a sign for each stretch of rows, and the cursor."""
        comparison, inner = self.comparison, max(width - 2, 1)
        yield " ", ""
        if comparison is None or not len(comparison):
            yield "─" * inner, "strip--same"
            return
        state = (id(comparison), comparison.shown, comparison.folded, comparison.swapped, inner)
        if self._drawn is None or self._drawn[0] != state:
            self._drawn = state, comparison.densities(inner)
        caret = min((2 * comparison.line_of(comparison.cursor) + 1) * inner // (2 * len(comparison)), inner - 1)
        count, line = len(comparison), -1
        for column, kind in enumerate(self._drawn[1]):
            before, line = line, column * count // inner
            if column == caret:
                yield "▲", "strip--cursor"
            elif kind == "same" or line == before:
                yield "─", "strip--same"
            else:
                yield GLYPHS[kind], f"strip--{kind}"

    def on_click(self, event: events.Click) -> None:
        """Go to the place clicked on."""
        if self.comparison is not None and len(self.comparison):
            inner = max(self.size.width - 2, 1)
            place = min(max(event.x - 1, 0), inner - 1)
            self.post_message(self.Chosen(place * len(self.comparison) // inner))


class DiffFold(DiffLine):
    """How many measured values differ, and whether they are folded; a click changes that. No line where none does."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"fold--words", "fold--key"}

    def show_comparison(self, comparison: Comparison) -> None:
        """Draw anew, if there is anything to say."""
        super().show_comparison(comparison)
        self.display = comparison.measured_words is not None

    def pieces(self, y: int, width: int) -> Iterable[Piece]:
        """Return the words, and the key that shows or folds them."""
        comparison = self.comparison
        words = comparison.measured_words if comparison is not None else None
        if comparison is None or words is None:
            return
        if comparison.result.only_measured:
            yield safe.fit(f" {GLYPHS['measured']} {words}", width), "fold--words"
            return
        key = keys_now(self.app, command("diff.measured"))[0]
        tail = f" {'shows' if comparison.folded else 'folds'} them"
        room = max(width - safe.cells(key) - len(tail) - 3, 0)
        yield safe.fit(f" {GLYPHS['measured']} {words}", room).rstrip(), "fold--words"
        yield " · ", "fold--words"
        yield key, "fold--key"
        yield tail, "fold--words"

    async def on_click(self) -> None:
        """Show or fold them."""
        await self.screen.run_action("measured")


class DiffStatus(DiffLine):
    """Where the cursor stands, in words; or why the last move was refused."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"status--strong", "status--notice", "status--muted"}

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.progress = ""
        """What is still going on."""
        self._notice: str | None = None

    def show(self, notice: str | None = None) -> None:
        """Draw the words anew, after a notice when there is one; the next call takes it away."""
        self._notice = notice
        self.refresh()

    def pieces(self, y: int, width: int) -> Iterable[Piece]:
        """Return the words; what does not fit at the end is cut."""
        yield " ", ""
        if self._notice is not None:
            yield f"{shorten(self._notice, 200)}  ", "status--notice"
        groups = list(self._groups())
        room = width - 1 - (safe.cells(shorten(self._notice, 200)) + 2 if self._notice is not None else 0)
        while len(groups) > 1 and sum(safe.cells(text) + 3 for text, _ in groups) - 3 > room:
            groups.pop(-1)
        for place, (text, look) in enumerate(groups):
            yield (" · " if place else "") + text, look

    def _groups(self) -> Iterable[Piece]:
        """Return what there is to say, the most important first."""
        comparison = self.comparison
        if comparison is None:
            yield self.progress, "status--muted"
            return
        counts = comparison.counts
        timing = f"timing differs in {counted(counts['timing'], 'event')}"
        if comparison.same:
            yield f"no differences{f' ({timing})' if counts['timing'] else ''}", "status--strong"
        else:
            number = comparison.change_number()
            total = f"{comparison.change_count:,}"
            yield (
                (f"difference {number:,} of {total}" if number is not None else f"{total} differences"),
                "status--strong",
            )
        if not comparison.total:
            return
        kind = comparison.kind(comparison.cursor)
        yield KIND_WORDS[kind], ""
        yield comparison.place_words(comparison.row(comparison.cursor)), ""
        if kind == "timing":
            yield _took(comparison), ""
        cause = comparison.cause_lines(comparison.cursor)
        if cause:
            yield shorten(cause[0].text, 60), "status--muted"
        if comparison.shown != "all":
            yield f"shown: {comparison.shown}", "status--notice"
        if self.progress:
            yield self.progress, "status--muted"
        if not comparison.same:
            parts = [f"{count:,} {kind}" for kind, count in counts.items() if count and kind != "timing"]
            yield ", ".join(parts), "status--muted"
            if counts["timing"]:
                yield timing, "status--muted"


def _took(comparison: Comparison) -> str:
    taken = [comparison.event(comparison.cursor, side) for side in (0, 1)]
    said = [duration_words(event.ms) if event is not None and event.ms is not None else "–" for event in taken]
    return "started at another time" if said[0] == said[1] else f"{said[0]} → {said[1]}"
