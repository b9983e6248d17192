"""The inspector: which part of the event is shown, and how."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message
from textual.worker import get_current_worker

from stashdbg_core.errors import StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.inspection import Inspection, Part, inspect_part, is_quick
from stashdbg_tui.screens.base import SessionScreen
from stashdbg_tui.widgets.payload_view import PayloadView
from stashdbg_tui.widgets.tabs_line import TabsLine

# The first frame needs none of the verbs: what they take is imported by the verb that takes it.
if TYPE_CHECKING:
    from stashdbg_tui.history import History


class Inspected(Message):
    """A large value was read and can be shown."""

    def __init__(self, position: int, inspection: Inspection) -> None:
        super().__init__()
        self.position = position
        self.inspection = inspection


class Inspecting(SessionScreen):
    """What is seen of the event at the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self._raw_of: Part = "value"
        self._part_before: Part = "value"

    @property
    def history(self) -> History:
        """What is kept between sessions."""
        return self.stash_app.history

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where the user said that the program's sources may be read."""
        return self.history.folders(self.session.recording) if self.session is not None else ()

    def inspect(self) -> None:
        """Show the part of the event at the cursor, a large one as soon as it is read."""
        session = self.session
        event = session.event if session is not None else None
        if session is None or event is None:
            self.payload.show_lines(None)
        elif is_quick(session.recording, event, self.part):
            self.workers.cancel_group(self, "inspect")
            self._show(
                inspect_part(session.recording, event, self.part, position=session.position, raw_of=self._raw_of)
            )
        else:
            self.payload.show_lines(None)
            self._show_tab(self.part, "reading…")
            folders = self.folders if self.part == "source" else ()
            self._inspect_later(session.recording, event, session.position, self.part, self._raw_of, folders)

    @work(thread=True, exclusive=True, group="inspect", exit_on_error=False)
    def _inspect_later(
        self,
        recording: Recording,
        event: RecordedEvent,
        position: int,
        part: Part,
        raw_of: Part,
        folders: tuple[Path, ...],
    ) -> None:
        worker = get_current_worker()
        inspection = inspect_part(recording, event, part, position=position, raw_of=raw_of, folders=folders)
        if not worker.is_cancelled:
            self.post_message(Inspected(position, inspection))

    def _show(self, inspection: Inspection) -> None:
        self.payload.show_lines(inspection.lines, inspection.closed)
        words = inspection.words + (" · CRLF line ends" if inspection.lines.has_crlf else "")
        self._show_tab(inspection.part, words, trouble=inspection.trouble)
        if inspection.part == "source" and inspection.lines.count:
            lines = (inspection.lines.line(index) for index in range(inspection.lines.count))
            self.payload.go_to_line(next((place for place, line in enumerate(lines) if line.tokens[0][1] == "role"), 0))

    def _show_tab(self, part: Part, words: str, *, trouble: bool = False) -> None:
        is_other = part != self.tabs.part
        self.tabs.show(part, words, trouble=trouble)
        if is_other:
            self.show_keys()

    @on(Inspected)
    def _inspected(self, message: Inspected) -> None:
        session = self.session
        if session is not None and (message.position, message.inspection.part) == (session.position, self.part):
            self._show(message.inspection)

    def action_tab(self, part: Part) -> None:
        """Show another part of the event."""
        if part == "raw" and self.part != "raw":
            self._raw_of = "input" if self.part == "input" else "value"
        if part != self.part:
            self._part_before, self.part = self.part, part
            self.inspect()

    def action_raw(self) -> None:
        """Change between the stored text and the tab before."""
        self.action_tab(self._part_before if self.part == "raw" else "raw")

    @on(TabsLine.Chosen)
    def _tab_chosen(self, message: TabsLine.Chosen) -> None:
        self.action_tab(message.part)

    @on(PayloadView.Opened)
    def _line_opened(self, message: PayloadView.Opened) -> None:
        if self.part == "source":
            self.action_edit_source()

    def action_edit_source(self) -> None:
        """Open the place of the call in the editor."""
        event = self.session.event if self.session is not None else None
        if event is None or event.site is None:
            self.status.show("the recording does not say where this call was made")
            return
        from stashdbg_core.session.source_lines import source_lines
        from stashdbg_tui.editor import edit_at

        try:
            found = source_lines(event.site, self.folders)
        except StashError as failure:
            self.status.show(f"{failure.message}; :source FOLDER confirms one")
            return
        self.status.show(edit_at(self.app, found.path, found.line))
        self.inspect()

    def confirm_sources(self, folder: str) -> None:
        """Let the program's lines be read from a folder."""
        path = Path(folder).expanduser()
        if self.session is None or not path.is_dir():
            self.status.show(f"{shorten(folder, 60)} is no folder")
            return
        kept = self.history.add_folder(self.session.recording, path.resolve())
        self.part = "source"
        self.inspect()
        if kept:
            self.status.show("kept for the recordings of this folder")

    def action_wrap(self) -> None:
        """Fold long lines or stop to."""
        folds = self.payload.toggle_wrap()
        self.status.show("long lines fold" if folds else "long lines run on; l and h scroll sideways")
