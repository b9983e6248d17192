"""What stands in the middle while there are no events to show: opening, failed, or empty."""

from __future__ import annotations

from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Middle
from textual.content import Content
from textual.widgets import Static

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_tui import safe

_WAYS_OUT = "Ctrl+O opens another file, q quits"


class Notice(Middle):
    """A centred paragraph; changed only when a file is opened."""

    DEFAULT_CSS = """
    Notice { width: 1fr; align: center middle; }
    Notice Static { width: 100%; padding: 0 4; text-align: center; }
    """

    def compose(self) -> ComposeResult:
        """Make the paragraph."""
        yield Static(id="notice-text", markup=False)

    def show_opening(self, path: Path, part: float | None = None) -> None:
        """Say that a file is being read, and how much of it was."""
        far = "…" if part is None else f"{part:.0%}"
        self._show(("opening ", "$muted"), (safe.line(path.name).plain, "bold"), (f"  {far}\n\nq quits", "$muted"))

    def show_failure(self, path: Path, error: StashError) -> None:
        """Say what is wrong with a file and what to do."""
        hint = f"\n{safe.block(error.hint).plain}" if error.hint else ""
        self._show(
            (f"{safe.line(path.name).plain} cannot be opened\n\n", "bold $text-error"),
            (safe.block(error.message).plain, ""),
            (f"{hint}\n\n{_WAYS_OUT}", "$muted"),
        )

    def show_empty(self, recording: Recording) -> None:
        """Say that a recording has no events, and what else is known."""
        notes = "".join(f"\n{safe.line(note.message).plain}" for note in recording.notes[:5])
        self._show(("this recording has no events", "bold"), (f"{notes}\n\n{_WAYS_OUT}", "$muted"))

    def show_nothing_left(self, words: str, count: int) -> None:
        """Say that a filter hides everything."""
        self._show(
            ("no events match ", "bold"),
            (safe.line(words).plain, "bold"),
            (f"\n\nall {count:,} are hidden\nEsc clears the filter, f changes it, ! inverts it", "$muted"),
        )

    def say(self, title: str, text: str, after: str) -> None:
        """Say anything: a title, recorded text below it, and what to do."""
        self._show((f"{title}\n\n", "bold"), (safe.block(text).plain, ""), (f"\n\n{safe.block(after).plain}", "$muted"))

    def _show(self, *parts: tuple[str, str]) -> None:
        self.query_one(Static).update(Content.assemble(*parts))
