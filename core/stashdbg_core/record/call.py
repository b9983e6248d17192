"""One call while it is being recorded: from its start on the tape to its outcome."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Protocol

from stashdbg_core.calls import ABSENT
from stashdbg_core.errors import invalid_input
from stashdbg_core.model import RETURN, THROW, RecordedEvent
from stashdbg_core.record.capture import Kind
from stashdbg_core.record.streams import Chunks, Ending


class Outcomes(Protocol):
    """Takes the one outcome of a call."""

    def keep_outcome(self, call: Call, outcome: str, value: Any, kind: Kind) -> None:
        """Take what a call returned or raised."""
        ...

    def keep_stream(self, call: Call, ending: Ending, error: BaseException | None, returned: Any) -> None:
        """Take a stream that has ended."""
        ...


class Call:
    """A call that has started; it takes one outcome.

    ``returned`` and ``threw`` are for programs that cannot put their call into a function. A call that is not recorded
    (over a cap, or after the recorder was closed) takes its outcome without a word, its ``seq`` is None.
    """

    __slots__ = (
        "_ended", "_tape", "at", "call_id", "channel", "chunks", "input_ref", "key", "label", "ordinal", "parent",
        "seq", "site", "started", "thread",
    )  # fmt: skip

    def __init__(
        self,
        tape: Outcomes,
        seq: int | None,
        channel: str,
        key: str,
        ordinal: int,
        at: float | None = None,
        thread: str | None = None,
        parent: int | None = None,
        site: str | None = None,
    ) -> None:
        self._tape = tape
        self._ended = False
        self.seq = seq
        self.channel = channel
        self.key = key
        self.ordinal = ordinal
        self.at = at
        self.thread = thread
        self.parent = parent
        self.site = site
        self.label: str | None = None
        self.call_id: str | None = None
        self.input_ref: str | None = None
        self.chunks: Chunks | None = None
        self.started = perf_counter()

    def returned(self, value: Any) -> None:
        """Record the value that the call returned.

        Raises:
            StashError: The call has an outcome already; or, on a strict recorder, a loss.
        """
        self._end(RETURN, value, "value")

    def threw(self, error: BaseException) -> None:
        """Record the exception that the call raised.

        Raises:
            StashError: The call has an outcome already; or, on a strict recorder, a loss.
        """
        self._end(THROW, error, "error")

    def chunk(self, value: Any) -> None:
        """Capture one chunk of a stream."""
        if self.chunks is not None:
            self.chunks.add(value)

    def ended(self, ending: Ending, error: BaseException | None = None, returned: Any = ABSENT) -> None:
        """Record a stream and how it ended."""
        if self.seq is not None and self.chunks is not None and not self._ended:
            self._ended = True
            self._tape.keep_stream(self, ending, error, returned)

    def event(self, outcome: str, ref: str, ms: float) -> RecordedEvent:
        """Return the event that this call is with this outcome, after so many milliseconds."""
        return RecordedEvent(
            self.seq if self.seq is not None else -1,
            self.channel,
            self.key,
            self.ordinal,
            outcome,
            ref,
            self.input_ref,
            self.at,
            self.label,
            self.thread,
            self.parent,
            ms,
            self.call_id,
            self.site,
        )

    def elapsed(self) -> float:
        """Return the milliseconds since the call started, to the microsecond."""
        return int((perf_counter() - self.started) * 1_000_000) / 1000

    def _end(self, outcome: str, value: Any, kind: Kind) -> None:
        if self._ended:
            raise invalid_input(
                "a call was given a second outcome",
                hint="call returned() or threw() once, or begin() another call",
                channel=self.channel,
                key=self.key,
            )
        self._ended = True
        if self.seq is not None:
            self._tape.keep_outcome(self, outcome, value, kind)
