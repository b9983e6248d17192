"""Staying on the last event of a file that grows."""

from __future__ import annotations

from time import monotonic

from textual.timer import Timer

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.session.debugger import Debugger
from stashdbg_tui.screens.base import SessionScreen

FOLLOW_SECONDS = 0.5
_REST = 4
"""How much longer than reading a file took it is left alone."""


class Following(SessionScreen):
    """A recording that is still being made."""

    def __init__(self) -> None:
        super().__init__()
        self._follow_timer: Timer | None = None
        self._look_again = 0.0

    def on_unmount(self) -> None:
        """Leave no process behind that reads a file on."""
        if self.session is not None:
            self.session.unfollow()

    @property
    def follows(self) -> bool:
        """Whether a file is looked at for more."""
        return self._follow_timer is not None

    def action_follow_tail(self) -> None:
        """Stay on the last event of a file that grows, or stop to."""
        if self.follows:
            self.stop_following()
            self.status.show("no longer following")
        elif self.session is None or self.session.recording.path is None:
            self.status.show("nothing to follow: this recording is not in a file")
        else:
            self._start_following(self.session)

    def _start_following(self, session: Debugger) -> None:
        try:
            session.follow()
        except StashError as failure:
            if failure.code == ErrorCode.INVALID_INPUT:
                self.status.show("a file this large of another tool is not followed; Ctrl+O opens it again")
            else:
                self.say_failure(failure)
            return
        self._follow_timer = self.set_interval(FOLLOW_SECONDS, self._look_for_more)
        self.status.progress = "following"
        self.follow(session.last())
        self.status.show("following the file; F stops, and so does going back")

    def stop_following(self) -> None:
        """Look for no more."""
        if self.session is not None:
            self.session.unfollow()
        if self._follow_timer is not None:
            self._follow_timer.stop()
            self._follow_timer = None
            self.status.progress = None

    def _look_for_more(self) -> None:
        """Take in what the file gained, and stay at the end if the cursor was there."""
        session = self.session
        if session is None:
            return
        if not session.at_end:
            self.stop_following()
            self.status.show("no longer following; F follows again")
            return
        started, before = monotonic(), session.recording
        if started < self._look_again:
            return
        try:
            session.refresh()
        except StashError as failure:
            self.stop_following()
            self.say_failure(failure)
            return
        # What has to be read whole is read less often the longer that takes.
        self._look_again = monotonic() + _REST * (monotonic() - started)
        if session.recording is not before:
            self.show_recording(session.recording, progress="following")
            if not session.at_end:
                self.follow(session.last())
        part = session.caught_up
        progress = "following" if part == 1 else f"following, {part:.0%} read"
        if progress != self.status.progress:
            self.status.progress = progress
            self.status.refresh()
