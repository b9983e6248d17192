"""The recorder: runs the program's calls and puts each on the tape.

It is transparent: the same object, or the same exception object, reaches the program, whatever recording does. A call's
place on the tape is taken when it starts; its input is captured then, its outcome before the call returns.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Coroutine, Generator, Iterable, Mapping
from pathlib import Path
from types import AsyncGeneratorType, GeneratorType, TracebackType
from typing import Any, Final, Literal, Self, TypeVar, cast

from stashdbg_core.calls import ABSENT, NO_OPTIONS, CallOptions, current_call, refuse_awaitable
from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import RETURN, Recording
from stashdbg_core.record.call import Call
from stashdbg_core.record.capture import Capture
from stashdbg_core.record.ledger import JournalLedger, MemoryLedger
from stashdbg_core.record.losses import Losses
from stashdbg_core.record.masking import DEFAULT, Masking, Redaction
from stashdbg_core.record.names import Names
from stashdbg_core.record.run_meta import RunMeta
from stashdbg_core.record.sites import Sites
from stashdbg_core.record.streams import relay, relay_async
from stashdbg_core.record.tape_end import Caps, TapeEnd, time_of
from stashdbg_core.store.writer import write_recording
from stashdbg_core.values import TypeRegistry, check_types, snapshot

T = TypeVar("T")

_PLAIN = frozenset({dict, list, str, int, float, bool, type(None), bytes, tuple})
_getpid = os.getpid


class Recorder:
    """A tape being recorded; safe to use from any thread and task.

    Args:
        id: The recording's id; made up when None.
        path: The file to record to. Each finished call is in a journal beside it before it returns to the program;
            ``close`` turns the journal into the file. A name that is taken becomes ``run-2.json``, ``run-3.json``, ….
        redact: What is masked before it is stored; see ``Redaction``.
        types: Classes with a stored form of their own.
        strict: Raise whatever cannot be recorded, at once, instead of counting it.
        max_events: So many events are stored; later ones are counted in ``meta.droppedEvents``.
        max_bytes: Stop likewise when the tape would grow beyond this.
        max_value_bytes: A value whose stored form is larger becomes a stand-in that says so.
        meta: What the program says about the run; masked as values are.
        force: Replace the file at ``path`` when the recording is closed.
        clock: Seconds since the epoch.

    Raises:
        StashError: A wrong option; or the journal cannot be created.
    """

    mode: Final[Literal["record"]] = "record"

    def __init__(
        self,
        id: str | None = None,
        path: str | os.PathLike[str] | None = None,
        *,
        redact: Redaction = DEFAULT,
        types: TypeRegistry | None = None,
        strict: bool = False,
        max_events: int | None = None,
        max_bytes: int | None = None,
        max_value_bytes: int | None = None,
        meta: Mapping[str, Any] | None = None,
        force: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        for name, cap in (("max_events", max_events), ("max_bytes", max_bytes), ("max_value_bytes", max_value_bytes)):
            if cap is not None and (type(cap) is not int or cap < 0):
                raise invalid_input(f"{name} is not a count", hint=f"give {name} as an integer from 0, or None")
        check_types(types)
        self._types = types
        self._pid = _getpid()
        losses = Losses(strict=strict)
        masking = Masking(redact)
        capture = Capture(masking, losses, types, max_value_bytes)
        self._losses = losses
        self._sites = Sites()
        self._meta = RunMeta(meta or {}, masking, capture, time_of(clock, losses))
        self.id: str = id if id is not None else self._meta.made_up_id()
        self._journal: JournalLedger | None = None
        if path is not None:
            self._journal = JournalLedger(Path(path), self.id, self._meta.at_start(), force=force)
        caps = Caps(max_events, max_bytes, max_value_bytes)
        self._tape = TapeEnd(self._journal or MemoryLedger(), Names(masking), capture, losses, caps, clock)
        self._keep = self._tape.keep_outcome

    # What a program calls

    def storable(self, value: Any) -> bool:
        """Tell whether a value can be stored whole, with the classes that were registered."""
        return not snapshot(value, self._types).losses

    def call(
        self,
        channel: str,
        key: str,
        produce: Callable[[], T],
        *,
        input: Any = ABSENT,
        options: CallOptions = NO_OPTIONS,
    ) -> T:
        """Run ``produce`` and record what it returns or raises; see ``Tape.call``."""
        call = self._begin(channel, key, input, options, self._sites.current())
        outer = current_call.get()
        current_call.set(call.seq)
        try:
            result = produce()
        except BaseException as error:
            current_call.set(outer)
            call.threw(error)
            raise
        current_call.set(outer)
        if type(result) not in _PLAIN:
            return cast("T", self._unusual(call, result))
        self._keep(call, RETURN, result, "value")
        return result

    def call_async(
        self,
        channel: str,
        key: str,
        produce: Callable[[], Awaitable[T] | T],
        *,
        input: Any = ABSENT,
        options: CallOptions = NO_OPTIONS,
    ) -> Coroutine[Any, Any, T]:
        """Return a coroutine that runs ``produce``, awaits it and records; see ``Tape.call_async``."""
        # Not itself a coroutine: the caller's frame is gone once a task runs it.
        coroutine: Any = self._call_async(channel, key, produce, input, options, self._sites.current())
        coroutine.__name__ = key  # names the lane of a task made of it
        return cast("Coroutine[Any, Any, T]", coroutine)

    def stream(
        self,
        channel: str,
        key: str,
        produce: Callable[[], Iterable[T]],
        *,
        input: Any = ABSENT,
        options: CallOptions = NO_OPTIONS,
    ) -> Generator[T, Any, Any]:
        """Pass a stream on, chunk by chunk, and record it as one event; see ``Tape.stream``."""
        site = self._sites.current()
        return relay(lambda: self._begin_stream(channel, key, input, options, site, "sync"), produce)

    def stream_async(
        self,
        channel: str,
        key: str,
        produce: Callable[[], AsyncIterable[T]],
        *,
        input: Any = ABSENT,
        options: CallOptions = NO_OPTIONS,
    ) -> AsyncGenerator[T, Any]:
        """As ``stream``, for an async generator, or an awaitable of one."""
        site = self._sites.current()
        return relay_async(lambda: self._begin_stream(channel, key, input, options, site, "async"), produce)

    def value(self, channel: str, key: str, value: T, *, input: Any = ABSENT, options: CallOptions = NO_OPTIONS) -> T:
        """Record a value the program has already, and return it."""
        self._begin(channel, key, input, options, self._sites.current()).returned(value)
        return value

    def begin(self, channel: str, key: str, input: Any = ABSENT, options: CallOptions = NO_OPTIONS) -> Call:
        """Start a call that takes its outcome by ``Call.returned`` or ``Call.threw``."""
        return self._begin(channel, key, input, options, self._sites.current())

    # Looking at the tape, and ending it

    @property
    def size(self) -> int:
        """How many events are on the tape; calls in flight are not."""
        return self._tape.size

    @property
    def path(self) -> Path | None:
        """The file that is, or will be, written."""
        return self._journal.path if self._journal is not None else None

    @property
    def closed(self) -> bool:
        """Whether the tape has ended."""
        return self._tape.closed

    @property
    def losses(self) -> Mapping[str, int]:
        """What could not be recorded so far, by kind."""
        return dict(self._losses.counts)

    def recording(self) -> Recording:
        """Return the tape so far; calls in flight are on it as pending, open streams as far as they got.

        Raises:
            StashError: In a forked process.
        """
        if _getpid() != self._pid:
            raise _refused_process()
        return self._tape.recording(self.id, self._meta_now)

    def save(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write the tape so far as a recording, and return the path it got.

        Args:
            path: Where to; a name that is taken becomes ``run-2.json``. None is the recorder's own file.

        Raises:
            StashError: There is no path, or the file cannot be written.
        """
        if path is not None:
            return write_recording(self.recording(), Path(path))
        if self._journal is None:
            raise invalid_input("the recorder has no file of its own", hint="give save() a path, or record to a path")
        return self._journal.path if self.closed else self._journal.save(self.recording())

    def close(self) -> None:
        """End the tape: calls in flight become pending, and a recorder with a path writes its file.

        Never raises for what goes wrong with the file unless ``strict``: the journal stays, and can be opened.
        Closing twice does nothing; nor does closing in a forked process.
        """
        if _getpid() == self._pid:
            self._tape.close(self._meta_now)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self._meta.raised(error)
        self.close()

    def __reduce__(self) -> str:
        raise _refused_process()

    def _meta_now(self) -> Mapping[str, Json]:
        return self._meta.now(self._losses, complete=self._tape.closed)

    def _begin(self, channel: str, key: str, input: Any, options: CallOptions, site: str | None) -> Call:
        if _getpid() != self._pid:
            raise _refused_process()
        return self._tape.begin(channel, key, input, options, site)

    def _begin_stream(
        self, channel: str, key: str, input: Any, options: CallOptions, site: str | None, kind: Literal["sync", "async"]
    ) -> Call:
        call = self._begin(channel, key, input, options, site)
        self._tape.expect_chunks(call, kind)
        return call

    async def _call_async(
        self,
        channel: str,
        key: str,
        produce: Callable[[], Awaitable[T] | T],
        input: Any,
        options: CallOptions,
        site: str | None,
    ) -> T:
        call = self._begin(channel, key, input, options, site)
        outer = current_call.get()
        current_call.set(call.seq)
        try:
            result: Any = produce()
            if type(result) not in _PLAIN and hasattr(result, "__await__"):
                result = await result
        except BaseException as error:
            current_call.set(outer)
            call.threw(error)
            raise
        current_call.set(outer)
        if type(result) not in _PLAIN:
            result = self._unusual(call, result, awaited=True)
        else:
            call.returned(result)
        return cast("T", result)

    def _unusual(self, call: Call, result: Any, *, awaited: bool = False) -> Any:
        """Take a result that may be more than a value."""
        if type(result) is GeneratorType:
            self._tape.expect_chunks(call, "sync")
            return relay(lambda: call, lambda: result)
        if type(result) is AsyncGeneratorType:
            self._tape.expect_chunks(call, "async")
            return relay_async(lambda: call, lambda: result)
        if not awaited and hasattr(type(result), "__await__"):
            error = refuse_awaitable(call.channel, call.key, result)
            call.threw(error)
            raise error
        call.returned(result)
        return result


def _refused_process() -> StashError:
    return invalid_input(
        "a recorder cannot be used from another process than its own",
        hint="record a program with worker processes by `stashdbg record`, or make a recorder in each process",
    )
