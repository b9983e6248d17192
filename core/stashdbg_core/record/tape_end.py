"""The end of the tape where calls are put on: places, captures, caps, and one lock.

A call's ``seq`` and ``ordinal`` are taken together; captures run outside the lock; an event reaches the ledger before
its call returns. A call that ends inside another's commit, as when the garbage collector closes a stream, waits
its turn in a queue that the running commit empties.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Literal

from stashdbg_core.calls import ABSENT, NO_OPTIONS, CallOptions, current_call
from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.errors import invalid_input
from stashdbg_core.model import RETURN, THROW, Recording
from stashdbg_core.record.call import Call
from stashdbg_core.record.capture import Capture, Kind, stand_in
from stashdbg_core.record.lanes import Lanes
from stashdbg_core.record.ledger import EVENT_BYTES, Ledger, Unfinished
from stashdbg_core.record.losses import (
    AFTER_CLOSE,
    CLOCK_FAILED,
    EVENT_NOT_WRITTEN,
    FILE_NOT_WRITTEN,
    INPUT_NOT_STORED,
    LANE_UNKNOWN,
    OVER_LIMIT,
    VALUE_TOO_LARGE,
    Losses,
)
from stashdbg_core.record.names import Name, Names
from stashdbg_core.record.streams import Chunks, Ending
from stashdbg_core.record.streams import Kind as StreamKind
from stashdbg_core.tags import PENDING, TAG


class Caps:
    """How much a tape takes; None is no limit."""

    __slots__ = ("max_bytes", "max_events", "max_value_bytes")

    def __init__(self, max_events: int | None, max_bytes: int | None, max_value_bytes: int | None) -> None:
        self.max_events = max_events
        self.max_bytes = max_bytes
        self.max_value_bytes = max_value_bytes


def time_of(clock: Callable[[], float], losses: Losses) -> float | None:
    """Return the time in milliseconds since the epoch, or None if the clock fails."""
    try:
        return int(clock() * 1_000_000) / 1000  # to the microsecond; refuses what is no finite number
    except Exception as error:  # noqa: BLE001 - the clock is the program's, or a test's
        losses.lost(CLOCK_FAILED, "the clock failed", error)
        return None


class TapeEnd:
    """Takes calls from any thread.

    Args:
        ledger: Where values and events go.
        names: The names of calls.
        capture: Makes live values storable.
        losses: What could not be recorded.
        caps: How much is recorded.
        clock: Seconds since the epoch.
    """

    def __init__(
        self,
        ledger: Ledger,
        names: Names,
        capture: Capture,
        losses: Losses,
        caps: Caps,
        clock: Callable[[], float],
    ) -> None:
        self._ledger = ledger
        self._names = names
        self._capture = capture
        self._losses = losses
        self._caps = caps
        self._max_events = caps.max_events
        self._clock = clock
        self._lanes = Lanes()
        self._lock = threading.RLock()  # a signal handler or a finaliser may record in the middle of recording
        self._state: Literal["open", "full", "closed"] = "open"
        self._seqs = count()
        self._open: dict[int, Call] = {}
        self._committing = False
        self._deferred: deque[tuple[Call, str, bytes, float]] = deque()
        self.size = 0
        """Events on the tape."""

    @property
    def closed(self) -> bool:
        """Whether the tape has ended."""
        return self._state == "closed"

    def begin(self, channel: str, key: str, input: Any, options: CallOptions, site: str | None) -> Call:
        """Start a call: take its place, then capture its input."""
        name = self._names.of(channel, key)
        at = time_of(self._clock, self._losses)
        if options is NO_OPTIONS:
            thread, parent = self._lane(), current_call.get()
        else:
            thread = options.thread if options.thread is not None else self._lane()
            parent = options.parent if options.parent is not None else current_call.get()
        if thread is not None:
            thread = self._names.text(thread)
        with self._lock:
            if self._state != "open":
                return self._unrecorded(name)
            seq = next(self._seqs)  # in one step: a signal handler may begin a call of its own right here
            if seq == self._max_events:
                self._state = "full"
                return self._unrecorded(name)
            call = Call(self, seq, name.channel, name.key, next(name.ordinals), at, thread, parent, site)
            self._open[seq] = call
        if options.label is not None:
            call.label = self._names.text(options.label)
        if options.call_id is not None:
            call.call_id = self._names.text(options.call_id)
        if input is not ABSENT:
            call.input_ref = self._store_input(self._capture.value(input, call.channel, call.key, "input", seq))
        return call

    def expect_chunks(self, call: Call, kind: StreamKind) -> None:
        """Make a call that has started one whose result comes in chunks."""
        limits = [cap for cap in (self._caps.max_value_bytes, self._caps.max_bytes) if cap is not None]
        call.chunks = Chunks(kind, self._capture.chunk, min(limits, default=None))

    def keep_outcome(self, call: Call, outcome: str, value: Any, kind: Kind) -> None:
        """Capture what a call returned or raised, and put the event on the tape."""
        ms = call.elapsed()
        if call.seq is not None:
            self._commit(call, outcome, self._capture.value(value, call.channel, call.key, kind, call.seq), ms)

    def keep_stream(self, call: Call, ending: Ending, error: BaseException | None, returned: Any) -> None:
        """Put a stream that has ended on the tape; one that failed counts as an error."""
        ms = call.elapsed()
        self._commit(call, *self._stream_outcome(call, ending, error, returned), ms)

    def recording(self, recording_id: str, meta: Callable[[], Mapping[str, Json]]) -> Recording:
        """Return the tape so far, calls in flight as they stand."""
        with self._lock:
            unfinished = self._unfinished()
            return self._ledger.recording(recording_id, meta(), unfinished)

    def close(self, meta: Callable[[], Mapping[str, Json]]) -> None:
        """End the tape: calls in flight become pending, a journal becomes the file. Closing twice does nothing."""
        with self._lock:
            if self._state == "closed":
                return
            self._state = "closed"
            try:
                unfinished = self._unfinished()
                self._open.clear()
                self._ledger.finish(meta, unfinished)
            except Exception as error:  # noqa: BLE001 - a full disk, or a fault of ours, must not replace the run's own end
                self._losses.lost(
                    FILE_NOT_WRITTEN, "the journal could not be made into the final file and stays", error
                )

    def _lane(self) -> str | None:
        try:
            return self._lanes.current()
        except Exception as error:  # noqa: BLE001 - threads and tasks may be of the program's own classes
            self._losses.lost(LANE_UNKNOWN, "a thread or task could not be named", error)
            return None

    def _commit(self, call: Call, outcome: str, stored: bytes, ms: float) -> None:
        with self._lock:
            if self._committing:
                self._deferred.append((call, outcome, stored, ms))
                return
            self._committing = True
            try:
                self._put_on_tape(call, outcome, stored, ms)
                while self._deferred:
                    self._put_on_tape(*self._deferred.popleft())
            finally:
                self._committing = False
            if self._deferred:  # asked again once the flag is down: nothing is left behind
                self._commit(*self._deferred.popleft())

    def _put_on_tape(self, call: Call, outcome: str, stored: bytes, ms: float) -> None:
        if call.seq is None or self._open.pop(call.seq, None) is None:
            self._losses.lost(AFTER_CLOSE, "a call ended after the recorder was closed")
            return
        if self._caps.max_bytes is not None and self._is_full(len(stored)):
            self._losses.lost(OVER_LIMIT, "the recording has reached max_bytes")
            return
        try:
            self._ledger.append(call.event(outcome, self._ledger.store(stored), ms))
        except Exception as error:  # noqa: BLE001 - a full disk, or a fault of ours, is not the program's problem
            self._losses.lost(EVENT_NOT_WRITTEN, f"event {call.seq} could not be written", error)
            return
        self.size += 1

    def _is_full(self, coming: int) -> bool:
        """Tell whether so many bytes would break ``max_bytes``; no call starts after that."""
        cap = self._caps.max_bytes
        if cap is None or self._ledger.size + coming + EVENT_BYTES <= cap:
            return False
        self._state = "full" if self._state == "open" else self._state
        return True

    def _store_input(self, stored: bytes) -> str | None:
        with self._lock:
            if self._caps.max_bytes is not None and self._is_full(len(stored)):
                return None
            try:
                # Inside another call's commit nothing may change the tables that sharing walks.
                return self._ledger.put(stored) if self._committing else self._ledger.store(stored)
            except Exception as error:  # noqa: BLE001 - as for events
                self._losses.lost(INPUT_NOT_STORED, "an input could not be stored", error)
                return None

    def _unrecorded(self, name: Name) -> Call:
        if self._state == "closed":
            self._losses.lost(AFTER_CLOSE, "a call was made after the recorder was closed")
        else:
            self._losses.lost(OVER_LIMIT, "the recording has reached max_events or max_bytes")
        return Call(self, None, name.channel, name.key, 0)

    def _stream_outcome(
        self, call: Call, ending: Ending, error: BaseException | None, returned: Any
    ) -> tuple[str, bytes]:
        chunks, seq = call.chunks, call.seq
        if chunks is None or seq is None:
            raise invalid_input("a call that is no stream was ended as one", hint="use returned() or threw()")
        outcome = THROW if ending == "failed" else RETURN
        if chunks.too_large:
            self._losses.lost(VALUE_TOO_LARGE, "a stream is larger than the recorder's limits")
            return outcome, stand_in("stream larger than the recorder's limits")
        stored = stored_form(chunks.tree(ending, error, returned))
        return outcome, self._capture.stored(stored, call.channel, call.key, "value", seq)

    def _unfinished(self) -> list[Unfinished]:
        """Return the calls in flight as they would be; an open stream is abandoned with the chunks it has."""
        unfinished: list[Unfinished] = []
        for call in self._open.values():
            if call.chunks is not None:
                unfinished.append((call, *self._stream_outcome(call, "abandoned", None, ABSENT)))
            else:
                unfinished.append((call, THROW, stored_form({TAG: PENDING})))
        return unfinished
