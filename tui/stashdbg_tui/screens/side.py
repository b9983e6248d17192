"""The debugger over another view: opened from a comparison or a tree, closed by ``q``, back where one came from."""

from __future__ import annotations

from stashdbg_core.model import Recording
from stashdbg_tui.screens.main import MainScreen


class SideScreen(MainScreen):
    """The debugger on one recording.

    Args:
        recording: What to debug.
        seq: The event to start at; the first if None.
    """

    def __init__(self, recording: Recording, seq: int | None = None) -> None:
        super().__init__()
        self._recording = recording
        self._seq = seq
        self._below: MainScreen | None = None

    def on_mount(self) -> None:
        """Show the recording; commands and messages of the app come here while this screen is open."""
        app = self.stash_app
        self._below, app.main_screen = app.main_screen, self
        self.show_recording(self._recording)
        if self._seq is not None and self.session is not None:
            self.follow(self.session.to_seq(self._seq))

    def on_unmount(self) -> None:
        """Give the app its screen back."""
        app = self.stash_app
        if self._below is not None and app.main_screen is self:
            app.main_screen = self._below
