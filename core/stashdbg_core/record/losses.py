"""What a recorder could not record: counted by kind, said once, never the program's problem.

A loss of a whole event counts in ``events`` (``meta.droppedEvents``); a value replaced by a stand-in, a time that could
not be read and the like count in ``counts`` (``meta.losses``). With ``strict`` every loss raises instead, at once.
"""

from __future__ import annotations

import sys
import threading
import warnings
from types import FrameType
from typing import Final

from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.sanitize import shorten

EVENT_NOT_WRITTEN: Final = "event-not-written"
"""The event could not be stored: disk full, or a fault of the recorder."""
OVER_LIMIT: Final = "over-limit"
"""``max_events`` or ``max_bytes`` was reached."""
AFTER_CLOSE: Final = "after-close"
"""The call was made, or ended, after the recorder was closed."""
UNSTORABLE_VALUE: Final = "unstorable-value"
"""A value, or a part of one, was replaced by a stand-in."""
VALUE_TOO_LARGE: Final = "value-too-large"
"""``max_value_bytes``: a stand-in with the size was stored."""
INPUT_NOT_STORED: Final = "input-not-stored"
"""The event is there, its input is not."""
REDACTION_FAILED: Final = "redaction-failed"
"""A redact function or rule raised: the value was dropped, not stored in clear."""
CLOCK_FAILED: Final = "clock-failed"
"""The clock raised or gave no number: the event has no time."""
LANE_UNKNOWN: Final = "lane-unknown"
"""The thread or task could not be named: the event is in the main lane."""
FILE_NOT_WRITTEN: Final = "file-not-written"
"""The journal could not be made into the final file; it stays."""

_WHOLE_EVENTS = frozenset({EVENT_NOT_WRITTEN, OVER_LIMIT, AFTER_CLOSE})


class RecordingLossWarning(UserWarning):
    """A recording lacks something that happened; given once per recorder, the counts are in the recording's meta."""


class Losses:
    """Counts of one recorder."""

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.counts: dict[str, int] = {}
        self.events = 0
        self._said = False
        self._lock = threading.RLock()

    def lost(self, kind: str, what: str, cause: BaseException | None = None) -> None:
        """Count a loss; the first one is said in a warning.

        Args:
            kind: One of this module's constants.
            what: One sentence without recorded data.
            cause: What went wrong, if something raised.

        Raises:
            StashError: ``strict`` is on.
        """
        with self._lock:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if kind in _WHOLE_EVENTS:
                self.events += 1
            first, self._said = not self._said, True
        if self.strict:
            raise _error(kind, what, cause) from cause
        if first:
            why = f" ({_reason(cause)})" if cause is not None else ""
            _warn(f"the recording is not whole: {what}{why}; further losses are only counted, in its meta.losses")


def _error(kind: str, what: str, cause: BaseException | None) -> StashError:
    if isinstance(cause, StashError):
        return StashError(cause.message, code=cause.code, hint=cause.hint, details={**cause.details, "loss": kind})
    why = f": {_reason(cause)}" if cause is not None else ""
    return invalid_input(what + why, hint="record without strict=True to go on and count such losses", loss=kind)


def _reason(cause: BaseException) -> str:
    """Name the cause; only texts of the operating system and of ours are shown, others may quote recorded data."""
    name = type(cause).__name__
    if isinstance(cause, OSError):
        return f"{name}: {shorten(cause.strerror or '', 120)}"
    return f"{name}: {shorten(cause.message, 200)}" if isinstance(cause, StashError) else name


def _warn(message: str) -> None:
    warning = RecordingLossWarning(message)
    try:
        warnings.warn(warning, stacklevel=_level_of_program())
    except RecordingLossWarning:  # the program turns warnings into errors; a recorder's must not become its error
        warnings.showwarning(warning, RecordingLossWarning, __file__, 0)


def _level_of_program() -> int:
    """Return the ``stacklevel`` by which ``_warn`` points to the first frame that is not ours."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("stashdbg_core."):
        frame = frame.f_back
        level += 1
    return level
