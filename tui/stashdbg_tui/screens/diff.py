"""Two recordings side by side: aligned timelines, and under them what differs in the event at the cursor.

Everything shown is computed by the comparison; nothing on the path of a key reads a large value.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from stashdbg_core.diff.result import Row
from stashdbg_core.errors import StashError
from stashdbg_core.session.comparison import Comparison, Shown
from stashdbg_core.session.diff_blocks import CONTEXT, Block, is_quick, row_blocks
from stashdbg_core.session.words import counted
from stashdbg_core.store.limits import Limits
from stashdbg_tui.bindings import bindings
from stashdbg_tui.command import Scope
from stashdbg_tui.copying import to_clipboard
from stashdbg_tui.screens.left_once import LeftOnce
from stashdbg_tui.widgets.choice_line import ChoiceLine
from stashdbg_tui.widgets.diff_lines import DiffFold, DiffHead, DiffStatus, DiffStrip
from stashdbg_tui.widgets.diff_rows import DiffRows
from stashdbg_tui.widgets.diff_text import DiffText
from stashdbg_tui.widgets.key_line import KeyLine
from stashdbg_tui.widgets.notice import Notice
from stashdbg_tui.workers.differ import DiffExplained, DiffFailed, DiffProgress, DiffReady, Job, Side, short_names

_SHOWN: tuple[tuple[str, str, Shown], ...] = (
    ("a", "all", "all"),
    ("d", "differences", "differences"),
    ("c", "changed", "changed"),
    ("r", "right only", "added"),
    ("l", "left only", "removed"),
    ("m", "moved", "moved"),
    ("t", "timing", "timing"),
)
_KEYS = (
    ("change.next/change.previous", "change"),
    ("change.first", "first"),
    ("change.source", "comes from"),
    ("diff.filter", "filter"),
    ("diff.layout", "layout"),
    ("diff.swap", "swap"),
    ("side.open", "debug"),
    ("help", "help"),
    ("view.close", "close"),
)


class RowRead(Message):
    """What a large row holds was found out."""

    def __init__(self, row: Row, blocks: Sequence[Block]) -> None:
        super().__init__()
        self.row = row
        self.blocks = blocks


class DiffScreen(LeftOnce, Screen[None]):
    """The difference of two recordings.

    Args:
        sides: Two files, or recordings that are open.
        limits: What a file may hold before it is refused.
        align: ``content`` or ``identity``.
    """

    CSS_PATH = Path(__file__).with_name("diff.tcss")  # subclasses live elsewhere
    AUTO_FOCUS = "#diff-rows"
    SCOPES: ClassVar[tuple[Scope, ...]] = ("app", "diff", "diff-rows")
    VERTICAL_BREAKPOINTS = [(0, "-short"), (18, "-tall")]  # noqa: RUF012 - as Screen declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("diff", "diff-rows"),
        Binding("escape", "step_out", show=False),
    ]

    rows = getters.query_one("#diff-rows", DiffRows)
    text = getters.query_one("#diff-text", DiffText)
    head = getters.query_one("#diff-head", DiffHead)
    strip = getters.query_one("#diff-strip", DiffStrip)
    fold = getters.query_one("#diff-fold", DiffFold)
    status = getters.query_one("#diff-status", DiffStatus)
    choice = getters.query_one("#diff-choice", ChoiceLine)
    notice = getters.query_one("#diff-notice", Notice)

    def __init__(self, sides: tuple[Side, Side], *, limits: Limits | None = None, align: str = "content") -> None:
        super().__init__()
        self.sides = sides
        self.comparison: Comparison | None = None
        self.failure: StashError | None = None
        self._view: object = None
        """What the panes show of the comparison."""
        self._around = CONTEXT
        self._pane: str | None = None
        self._job = Job(sides, short_names(sides), limits or Limits(), align, self.post_message)

    def compose(self) -> ComposeResult:
        """Make the panes; they are filled when the two are compared."""
        yield DiffHead(id="diff-head")
        yield DiffStrip(id="diff-strip")
        yield DiffRows(id="diff-rows")
        yield DiffFold(id="diff-fold")
        yield DiffText(id="diff-text")
        yield Notice(id="diff-notice")
        yield DiffStatus(id="diff-status")
        yield ChoiceLine(id="diff-choice")
        yield KeyLine(_KEYS, id="diff-keys")

    def on_mount(self) -> None:
        """Start to compare."""
        self.add_class("-notice")
        self.notice.say("comparing", " and ".join(self._job.names), "Esc leaves")
        self._job.start()

    def on_unmount(self) -> None:
        """Stop what is still going on."""
        self._job.cancel()

    # What arrives

    @on(DiffProgress)
    def _progress(self, message: DiffProgress) -> None:
        self.status.progress = message.words
        self.status.show()

    @on(DiffReady)
    def _ready(self, message: DiffReady) -> None:
        comparison = self.comparison = message.comparison
        self.status.progress = "looking for where it comes from…" if not comparison.same else ""
        self.set_class(not comparison.total, "-notice")
        if not comparison.total:
            self.notice.say("no differences", "neither recording has an event", "q closes")
        self._renew()

    @on(DiffExplained)
    def _explained(self) -> None:
        self.status.progress = ""
        self.status.show()
        self.rows.show_cursor()
        self.rows.forget_rows()
        self._show_row(keep=True)

    @on(DiffFailed)
    def _failed(self, message: DiffFailed) -> None:
        self.failure = message.error
        self.status.progress = ""
        self.status.show()
        self.add_class("-notice")
        hint = f"{message.error.hint}\n\n" if message.error.hint else ""
        self.notice.say("they cannot be compared", message.error.message, f"{hint}q closes")

    @on(RowRead)
    def _row_read(self, message: RowRead) -> None:
        comparison = self.comparison
        if comparison is not None and comparison.row(comparison.cursor) == message.row:
            self.text.show_blocks(message.blocks, self._why())

    # What is shown

    def follow(self, refusal: str | None) -> None:
        """Let every pane follow the cursor, or say why it stays."""
        comparison = self.comparison
        if comparison is None:
            return
        if comparison.view != self._view:
            self._renew(refusal)
        elif refusal is None:
            self.rows.show_cursor()
            self.strip.refresh()
            self._show_row()
        self.status.show(refusal)

    def _renew(self, said: str | None = None) -> None:
        """Show the comparison anew after its sides or rows changed."""
        if self.comparison is not None:
            self._view = self.comparison.view
            for pane in (self.head, self.strip, self.rows, self.fold, self.status):
                pane.show_comparison(self.comparison)
            self._show_row()
            self.status.show(said)

    def _why(self) -> list[str]:
        comparison = self.comparison
        return [] if comparison is None else [line.text for line in comparison.cause_lines(comparison.cursor)]

    def _show_row(self, *, keep: bool = False) -> None:
        comparison = self.comparison
        if comparison is None or not comparison.total:
            return
        row = comparison.row(comparison.cursor)
        self.workers.cancel_group(self, "row")
        if is_quick(comparison.result, row):
            blocks = self._blocks(comparison, row)
            self.text.show_blocks(blocks, self._why(), keep=keep)
        elif not keep:
            self.text.show_blocks((), [*self._why(), "reading…"])
            self._read_row(comparison, row)

    def _blocks(self, comparison: Comparison, row: Row) -> list[Block]:
        swapped, folded = comparison.swapped, comparison.folded
        return row_blocks(comparison.result, row, swapped=swapped, context=self._around, folded=folded)

    @work(thread=True, exclusive=True, group="row", exit_on_error=False)
    def _read_row(self, comparison: Comparison, row: Row) -> None:
        worker = get_current_worker()
        blocks = self._blocks(comparison, row)
        if not worker.is_cancelled:
            self.post_message(RowRead(row, blocks))

    # Moves

    def action_step(self, by: int) -> None:
        """Move by rows."""
        if self.comparison is not None:
            self.follow(self.comparison.step(by))

    def action_page(self, pages: float) -> None:
        """Move by pages of rows."""
        self.action_step(round(pages * max(self.rows.page_rows - 1, 1)))

    def action_edge(self, last: bool) -> None:
        """Go to the first or last row."""
        if self.comparison is not None:
            self.follow(self.comparison.edge(last=last))

    def action_change(self, by: int) -> None:
        """Go to the next difference, back if negative."""
        if self.comparison is not None:
            self.follow(self.comparison.next_change(by))

    def action_first(self) -> None:
        """Go to the earliest difference."""
        if self.comparison is not None:
            self.follow(self.comparison.first_divergence())

    def action_source(self) -> None:
        """Go to the earlier difference whose text this event's input holds."""
        comparison = self.comparison
        if comparison is None or not comparison.total:
            return
        source = comparison.source_of(comparison.cursor)
        if source is None:
            self.follow("no text of an earlier difference stands in this event's input")
        else:
            comparison.go(source)
            self.follow(None)

    @on(DiffRows.Chosen)
    def _row_chosen(self, message: DiffRows.Chosen) -> None:
        if self.comparison is not None:
            self.comparison.side = message.side
            self.comparison.go(self.comparison.place_of(message.line))
            self.head.refresh()
            self.follow(None)
            if message.opened:
                self.action_open()

    @on(DiffStrip.Chosen)
    def _strip_chosen(self, message: DiffStrip.Chosen) -> None:
        if self.comparison is not None:
            self.comparison.go(self.comparison.place_of(message.line))
            self.follow(None)

    # Looks

    def action_side(self, side: int) -> None:
        """Choose a side."""
        if self.comparison is not None:
            self.comparison.side = side
            self.head.refresh()
            self.follow(None)

    def action_swap(self) -> None:
        """Change left and right."""
        if self.comparison is not None:
            self.comparison.swap()
            self._renew("sides swapped")

    def action_layout(self) -> None:
        """Change between side by side and unified."""
        self.status.show("side by side" if self.text.toggle_beside() else "unified")

    def action_wrap(self) -> None:
        """Fold long lines or stop to."""
        self.status.show("long lines fold" if self.text.toggle_wrap() else "long lines run on; l and h scroll sideways")

    def action_context(self, by: int) -> None:
        """Show more or fewer equal lines around what differs."""
        self._around = max(self._around * 2 if by > 0 else self._around // 2, 1)
        self._show_row()
        self.status.show(f"{counted(self._around, 'equal line')} around what differs")

    def action_filter(self) -> None:
        """Ask which rows to show."""
        self._pane = self.focused.id if self.focused is not None else None
        self.add_class("-choosing")
        self.choice.open("show", [(key, word, f"show('{shown}')") for key, word, shown in _SHOWN])

    @on(ChoiceLine.Left)
    async def _choice_left(self, message: ChoiceLine.Left) -> None:
        self.remove_class("-choosing")
        self.set_focus(self.query_one(f"#{self._pane or 'diff-rows'}"))
        if message.action is not None:
            await self.run_action(message.action)

    def action_show(self, shown: Shown) -> None:
        """Show only rows of a kind."""
        if self.comparison is not None:
            refusal = self.comparison.show(shown)
            self._renew(refusal or (f"{len(self.comparison):,} of {self.comparison.total:,} rows"))

    def action_measured(self) -> None:
        """Fold measured values, or show them among the others."""
        if self.comparison is not None:
            self._renew(self.comparison.toggle_measured())

    def action_pane(self) -> None:
        """Give the focus to the other pane."""
        other = self.text if self.rows.has_focus else self.rows
        if self.has_class("-zoom-rows") or self.has_class("-zoom-text"):
            self._zoom(other)
        self.set_focus(other)

    def action_zoom(self) -> None:
        """Fill the screen with the focused pane, or bring the other back."""
        zoomed = self.has_class("-zoom-rows") or self.has_class("-zoom-text")
        self._zoom(None if zoomed else self.text if self.text.has_focus else self.rows)

    def _zoom(self, pane: DiffRows | DiffText | None) -> None:
        self.set_class(pane is self.rows, "-zoom-rows")
        self.set_class(pane is self.text, "-zoom-text")

    def action_copy(self) -> None:
        """Copy the command that prints this difference."""
        swapped = self.comparison is not None and self.comparison.swapped
        sides = reversed(self.sides) if swapped else self.sides
        names = [str(side if isinstance(side, Path) else side.path or side.id) for side in sides]
        text = shlex.join(["stashdbg", "diff", *names, "--text", "--explain"])
        self.status.show(to_clipboard(self.app, text, named=True))

    def action_step_out(self) -> None:
        """Step out of what was opened last: a zoom, the lower pane, a filter; then leave."""
        comparison = self.comparison
        if self.has_class("-zoom-rows") or self.has_class("-zoom-text"):
            self._zoom(None)
        elif self.text.has_focus:
            self.set_focus(self.rows)
        elif comparison is not None and comparison.shown != "all":
            self.action_show("all")
        else:
            self.leave()

    def leave(self) -> None:
        """Close this view, unless it is all there is."""
        self.dismiss()

    def action_open(self) -> None:
        """Open the chosen side in the debugger, at this event."""
        comparison = self.comparison
        if comparison is None or not comparison.total:
            return
        side = comparison.side
        event = comparison.event(comparison.cursor, side)
        if event is None:
            self.follow(f"only the {'left' if side else 'right'} recording has this event; h and l choose the side")
            return
        from stashdbg_tui.screens.side import SideScreen

        self.app.push_screen(SideScreen(comparison.recording(side), event.seq))
