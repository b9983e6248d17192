"""What a recording says about its run: ``meta``.

Neither command, arguments nor environment: the library records what it is given.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from stashdbg_core import __version__
from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_input
from stashdbg_core.record.capture import Capture
from stashdbg_core.record.losses import Losses
from stashdbg_core.record.masking import Masking
from stashdbg_core.values.names import class_name

_LONGEST_MESSAGE = 2_000


class RunMeta:
    """The facts about one run.

    Args:
        given: What the program says about it.
        masking: The recorder's redaction.
        capture: The recorder's way to capture values.
        started: Milliseconds since the epoch, if the clock works.
    """

    def __init__(self, given: Mapping[str, Any], masking: Masking, capture: Capture, started: float | None) -> None:
        self._masking = masking
        self._started = _utc(started)
        self._exception: Json = None
        self._given: dict[str, Json] = {}
        for key, value in given.items():
            if not isinstance(key, str):
                raise invalid_input(f"a meta key is a {type(key).__name__}", hint="name meta facts by str")
            self._given[masking.text(key)] = capture.entry(key, value)

    def made_up_id(self) -> str:
        """Return an id for a recording that was given none: its start and some random digits."""
        moment = self._started.strftime("%Y%m%d-%H%M%S") if self._started is not None else "undated"
        return f"run-{moment}-{os.urandom(4).hex()}"

    def raised(self, error: BaseException) -> None:
        """Note the exception that ended the run."""
        try:
            text = self._masking.text(str(error)[:_LONGEST_MESSAGE])
        except Exception:  # noqa: BLE001 - an exception's own text may fail, and so may a rule; its class is what counts
            text = ""
        self._exception = {"class": class_name(type(error)), "text": text}

    def at_start(self) -> dict[str, Json]:
        """Return what is known before the first call."""
        return {**self._given, **self._own(), "complete": False, "droppedEvents": 0, **self._redaction()}

    def now(self, losses: Losses, *, complete: bool) -> dict[str, Json]:
        """Return what is known by now."""
        meta = {
            **self._given,
            **self._own(),
            "complete": complete,
            "droppedEvents": losses.events,
            **self._redaction(),
        }
        if losses.counts:
            meta["losses"] = dict(sorted(losses.counts.items()))
        if self._exception is not None:
            meta["exception"] = self._exception
        return meta

    def _own(self) -> dict[str, Json]:
        own: dict[str, Json] = {"producer": {"name": "stashdbg", "version": __version__}}
        if self._started is not None:
            own["createdAt"] = self._started.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return own

    def _redaction(self) -> dict[str, Json]:
        return {"redaction": self._masking.describe()}


def _utc(milliseconds: float | None) -> datetime | None:
    try:
        return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
