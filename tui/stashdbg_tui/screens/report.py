"""A bug report in the making: a checklist of what is in it, a meter of its size, and every file of it to read.

What is previewed is what is written; nothing is sent anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.redact.user_rules import rule_set
from stashdbg_core.report.bundle import CEILING, Bundle, describe
from stashdbg_core.report.choice import Choice, bundle_words, scan_words
from stashdbg_core.report.manifest import ReportFile
from stashdbg_core.report.units import Unit
from stashdbg_core.session.inspection import HEAD_BYTES
from stashdbg_core.session.payload_lines import PayloadLines
from stashdbg_core.session.raw_lines import RawLines
from stashdbg_core.session.words import size_words
from stashdbg_tui import safe
from stashdbg_tui.bindings import bindings
from stashdbg_tui.commands import Scope
from stashdbg_tui.screens.left_once import LeftOnce
from stashdbg_tui.screens.report_export import ReportExportDialog
from stashdbg_tui.widgets.key_line import KeyLine
from stashdbg_tui.widgets.one_line import OneLine, Piece
from stashdbg_tui.widgets.panel import Panel, PanelRow
from stashdbg_tui.widgets.payload_view import PayloadView

_FULL, _EMPTY = "█", "░"
_KEYS = (
    ("report.tick", "include"),
    ("report.pane", "other pane"),
    ("report.write", "export…"),
    ("help", "help"),
    ("report.close", "close, nothing is written"),
)


class Described(Message):
    """What can be reported is known."""

    def __init__(self, choice: Choice, bundle: Bundle) -> None:
        super().__init__()
        self.choice = choice
        self.bundle = bundle


class Previewed(Message):
    """What a choice would give is known."""

    def __init__(self, ids: frozenset[str], bundle: Bundle) -> None:
        super().__init__()
        self.ids = ids
        self.bundle = bundle


class ReportFailed(Message):
    """A report cannot be made of this."""

    def __init__(self, failure: StashError) -> None:
        super().__init__()
        self.failure = failure


class ReportList(Panel):
    """Units to tick, and the files that come of them."""

    class Reached(Message):
        """The cursor stands on another row."""

        def __init__(self, target: object) -> None:
            super().__init__()
            self.target = target

    @property
    def target(self) -> object:
        """What the row at the cursor is about."""
        return self.rows[self.cursor].target if self.cursor < len(self.rows) else None

    def action_go(self, by: int) -> None:
        """Move to the next row, and show what it is about."""
        before = self.cursor
        super().action_go(by)
        if self.cursor != before:
            self.post_message(self.Reached(self.target))


class ReportMeter(OneLine):
    """How large the archive is, and what a scan of it found."""

    DEFAULT_CSS = "ReportMeter { height: 2; }"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "meter--full", "meter--over", "meter--empty", "meter--words", "meter--problem",
    }  # fmt: skip

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.bundle: Bundle | None = None
        self.notice = "masking…"

    def show(self, bundle: Bundle | None, notice: str = "") -> None:
        """Draw anew."""
        self.bundle, self.notice = bundle, notice
        self.refresh()

    def pieces(self, y: int, width: int) -> Iterable[Piece]:
        """Return the meter, and under it the scan's words or a notice."""
        bundle = self.bundle
        yield " ", ""
        if y == 1:
            if self.notice:
                yield safe.fit(self.notice, width - 2), "meter--problem"
            elif bundle is not None:
                yield scan_words(bundle), "meter--problem" if bundle.suspicious else "meter--words"
            return
        if bundle is None:
            return
        words = f"  {bundle_words(bundle)} of {size_words(CEILING)}"
        share = bundle.total_bytes / CEILING
        cells = max(min(width - len(words) - 2, 40), 4)
        full = min(max(round(share * cells), 1), cells)
        over = share > 1
        yield _FULL * full, "meter--over" if over else "meter--full"
        yield _EMPTY * (cells - full), "meter--empty"
        yield f"{words}{', too large' if over else ''}", "meter--problem" if over else "meter--words"


class ReportScreen(LeftOnce, Screen[str]):
    """Returns a sentence about the archive that was written, or None.

    Args:
        recordings: What can be in it.
    """

    CSS_PATH = "report.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 - as Screen declares it
    SCOPES: ClassVar[tuple[Scope, ...]] = ("app", "report")
    BINDINGS: ClassVar[list[BindingType]] = bindings("report")

    def __init__(self, recordings: Sequence[Recording]) -> None:
        super().__init__()
        self._recordings = recordings
        self.choice: Choice | None = None
        self.bundle: Bundle | None = None
        self._shown: ReportFile | None = None

    def compose(self) -> ComposeResult:
        """Make the list, the preview, the meter and the keys."""
        with Container(id="report-panes"):
            yield ReportList(id="report-list")
            yield PayloadView(id="report-preview")
        yield ReportMeter(id="report-meter")
        yield KeyLine(_KEYS, id="report-keys")

    @property
    def settled(self) -> bool:
        """Whether nothing is being worked on."""
        return all(worker.is_finished for worker in self.workers)

    def on_mount(self) -> None:
        """Begin to mask."""
        self.list = self.query_one(ReportList)
        self.preview = self.query_one(PayloadView)
        self.meter = self.query_one(ReportMeter)
        self.list.show_rows(
            "masking", "bug report", [PanelRow([("masking, so that no secret gets into it…", "muted")])]
        )
        self.list.focus()
        self._describe()

    # Work

    @work(thread=True, exclusive=True, group="report", exit_on_error=False)
    def _describe(self) -> None:
        worker = get_current_worker()
        try:
            choice = Choice(describe(self._recordings, rules=rule_set()), datetime.now(UTC))
            bundle = choice.bundle()
        except StashError as failure:
            if not worker.is_cancelled:
                self.post_message(ReportFailed(failure))
            return
        if not worker.is_cancelled:
            self.post_message(Described(choice, bundle))

    @work(thread=True, exclusive=True, group="report", exit_on_error=False)
    def _preview(self, choice: Choice, ids: frozenset[str]) -> None:
        worker = get_current_worker()
        try:
            bundle = choice.bundle(ids)
        except StashError as failure:
            if not worker.is_cancelled:
                self.post_message(ReportFailed(failure))
            return
        if not worker.is_cancelled:
            self.post_message(Previewed(ids, bundle))

    @on(Described)
    def _described(self, message: Described) -> None:
        self.choice, self.bundle = message.choice, message.bundle
        self._show()

    @on(Previewed)
    def _previewed(self, message: Previewed) -> None:
        if self.choice is not None and message.ids == self.choice.ids:
            self.bundle = message.bundle
            self._show()

    @on(ReportFailed)
    def _failed(self, message: ReportFailed) -> None:
        self.bundle = None
        self.meter.show(None, f"{message.failure.message}; {message.failure.hint or 'leave out what holds it'}")

    # What is shown

    def _show(self, notice: str = "") -> None:
        choice, bundle = self.choice, self.bundle
        assert choice is not None
        self.list.show_rows("report", f"Bug report from {self._recordings[0].id}", _rows(choice, bundle))
        self.meter.show(bundle, notice)
        if bundle is not None:
            self._show_file(self._file_at(self.list.target, bundle))

    def _file_at(self, target: object, bundle: Bundle) -> ReportFile | None:
        """Return the file that a row is about: its own, or that of a unit."""
        if isinstance(target, Unit):
            return next((file for file in bundle.files if target.id in file.units), None)
        return next((file for file in bundle.files if file.name == target), None)

    def _show_file(self, file: ReportFile | None) -> None:
        if file is self._shown:
            return
        self._shown = file
        if file is None:
            self.preview.border_title = " not in the archive "
            self.preview.show_lines(None)
            return
        text = file.data[:HEAD_BYTES].decode("utf-8", "replace")
        rest = len(file.data) - HEAD_BYTES
        more = f", of which the first {size_words(HEAD_BYTES)} are shown" if rest > 0 else ""
        masked = f", {file.masked} masked" if file.masked else ""
        self.preview.border_title = safe.line(f" {file.name}  {size_words(len(file.data))}{masked}{more} ")
        is_json = file.name.endswith(".json")
        self.preview.show_lines(PayloadLines(text, omitted=max(rest, 0)) if is_json else RawLines(text))

    @on(ReportList.Reached)
    def _reached(self, message: ReportList.Reached) -> None:
        if self.bundle is not None:
            self._show_file(self._file_at(message.target, self.bundle))

    @on(Panel.Chosen)
    def _chosen(self, message: Panel.Chosen) -> None:
        message.stop()
        if isinstance(message.target, Unit):
            self.action_tick()
        elif self.bundle is not None:
            self._show_file(self._file_at(message.target, self.bundle))
            self.preview.focus()

    # What is asked

    def action_tick(self) -> None:
        """Tick the unit at the cursor, or stop to."""
        unit = self.list.target
        if self.choice is None or not isinstance(unit, Unit):
            self.meter.show(self.bundle, "only what stands under “to include” can be ticked")
            return
        reason = self.choice.toggle(unit)
        if reason is not None:
            self.meter.show(self.bundle, reason)
            return
        self.bundle = None
        self.list.show_rows("report", f"Bug report from {self._recordings[0].id}", _rows(self.choice, None))
        self._preview(self.choice, self.choice.ids)

    def action_pane(self) -> None:
        """Give the focus to the other pane."""
        (self.preview if self.list.has_focus else self.list).focus()

    def action_export(self) -> None:
        """Ask for the words, and write the archive."""
        if self.choice is None or self.bundle is None:
            self.meter.show(self.bundle, "there is nothing to write yet")
        else:
            self.app.push_screen(ReportExportDialog(self.choice, self.bundle, self._recordings[0].path), self._exported)

    def _exported(self, words: str | None) -> None:
        if words is not None:
            self.dismiss(words)

    def action_leave(self) -> None:
        """Close with nothing written."""
        self.workers.cancel_group(self, "report")
        self.dismiss(None)


def _rows(choice: Choice, bundle: Bundle | None) -> list[PanelRow]:
    units = choice.offer.units
    wide = max(len(unit.id) for unit in units)
    rows = [PanelRow([("to include", "muted")])]
    for unit in units:
        ticked = unit.id in choice.ids
        look = "text" if ticked else "muted"
        pieces = [
            ("[x] " if ticked else "[ ] ", "strong" if ticked else "muted"),
            (f"{unit.id:<{wide}}  ", look),
            (f"{size_words(unit.bytes):>8}  ", "muted"),
            (unit.label, look),
        ]
        rows.append(PanelRow(pieces, unit))
    if bundle is None:
        return [*rows, PanelRow([("", "muted")]), PanelRow([("in the archive: working…", "muted")])]
    rows += [PanelRow([("", "muted")]), PanelRow([("in the archive", "muted")])]
    name = max(len(file.name) for file in bundle.files)
    for file in bundle.files:
        masked = f"  {file.masked} masked" if file.masked else ""
        size = f"{size_words(len(file.data)):>8}"
        rows.append(PanelRow([(f"{file.name:<{name}}  ", "text"), (size, "muted"), (masked, "evidence")], file.name))
    manifest: dict[str, Any] = bundle.manifest
    if manifest["warnings"] or manifest["notes"]:
        rows.append(PanelRow([("", "muted")]))
    rows += [PanelRow([("! ", "error"), (text, "error")]) for text in manifest["warnings"]]
    rows += [PanelRow([("note: ", "muted"), (text, "muted")]) for text in manifest["notes"]]
    return rows
