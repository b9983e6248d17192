"""The façade: a program is instrumented once, and records or replays as its stash was made.

    with Stash.record("run.json") as stash:
        answer = stash.intercept("llm", "plan", lambda: client.complete(prompt), input=prompt)

Every name of agenticstash's ``Stash`` is here in snake case; the sync name is bare, the async one ends in ``_async``.
"""

from __future__ import annotations

import os
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, TypedDict, TypeVar, Unpack, overload

from stashdbg_core.calls import ABSENT, NO_OPTIONS, CallOptions, TapeMode
from stashdbg_core.errors import invalid_input
from stashdbg_core.interceptors.wrap import wrapped
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.record.masking import Redaction
from stashdbg_core.record.recorder import Recorder
from stashdbg_core.replay.divergence import Divergence, DivergenceReport
from stashdbg_core.replay.ignore import IgnorePattern
from stashdbg_core.replay.matcher import MatchMode
from stashdbg_core.replay.replayer import OnDivergence, Replayer
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import decode_recording, encode_recording, write_recording
from stashdbg_core.values import TypeRegistry

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class FileOptions(TypedDict, total=False):
    """Options of ``Stash.record``; ``Recorder`` says what they mean."""

    id: str | None
    redact: Redaction
    types: TypeRegistry | None
    strict: bool
    max_events: int | None
    max_bytes: int | None
    max_value_bytes: int | None
    meta: Mapping[str, Any] | None
    force: bool
    clock: Callable[[], float]


class RecordOptions(FileOptions, total=False):
    """Options of a recording stash."""

    path: str | os.PathLike[str] | None


class ReplayOptions(TypedDict, total=False):
    """Options of a replaying stash; ``Replayer`` says what they mean."""

    match: MatchMode
    strict: bool
    on_divergence: OnDivergence
    live_tail: bool
    types: TypeRegistry | None
    ignore: Sequence[IgnorePattern]
    redact: Redaction
    record: Recorder | None


class CallArguments(TypedDict, total=False):
    """What may be said of a call; ``input`` is what goes into it, compared on replay."""

    label: str | None
    call_id: str | None
    thread: str | None
    parent: int | None
    returns: type[Any] | None


class Stash:
    """Records a program's calls, or answers them from a recording.

    Args:
        tape: A ``Recorder`` or ``Replayer``.
        replayed: What the replayer replays.
    """

    def __init__(self, tape: Recorder | Replayer, replayed: Recording | None = None) -> None:
        self.tape = tape
        self._replayed = replayed

    @classmethod
    def record(cls, path: str | os.PathLike[str] | None = None, **options: Unpack[FileOptions]) -> Self:
        """Return a stash that records, to a file if ``path`` is given; use it in ``with`` or ``async with``."""
        return cls(Recorder(path=path, **options))

    @classmethod
    def replay(cls, recording: Recording | str | bytes | os.PathLike[str], **options: Unpack[ReplayOptions]) -> Self:
        """Return a stash that replays a recording; see ``load_stash`` for what it may be."""
        replayed = _recording_of(recording)
        return cls(Replayer(replayed, **options), replayed)

    @property
    def mode(self) -> TapeMode:
        """``record`` or ``replay``."""
        return self.tape.mode

    def intercept(
        self,
        channel: str,
        key: str,
        produce: Callable[[], T],
        *,
        input: Any = ABSENT,
        **about: Unpack[CallArguments],
    ) -> T:
        """Run ``produce`` and record its result; replaying, return or raise what was recorded instead.

        Args:
            channel: Kind of call: ``llm``, ``tool``, ``mcp``, ``clock``, ``random`` or a word of your own.
            key: Stable name of the call within its channel.
            produce: Makes the call. A generator it returns is passed on, and recorded, as a stream.
            input: What goes into the call; compared on replay.
            **about: What else may be said; see ``CallArguments``.

        Raises:
            StashError: ``produce`` gave an awaitable; or a divergence, replaying.
        """
        return self.tape.call(channel, key, produce, input=input, options=_options(about))

    @overload
    def intercept_async(
        self,
        channel: str,
        key: str,
        produce: Callable[[], Awaitable[T]],
        *,
        input: Any = ABSENT,
        **about: Unpack[CallArguments],
    ) -> Coroutine[Any, Any, T]: ...
    @overload
    def intercept_async(
        self,
        channel: str,
        key: str,
        produce: Callable[[], T],
        *,
        input: Any = ABSENT,
        **about: Unpack[CallArguments],
    ) -> Coroutine[Any, Any, T]: ...
    def intercept_async(
        self,
        channel: str,
        key: str,
        produce: Callable[[], Any],
        *,
        input: Any = ABSENT,
        **about: Unpack[CallArguments],
    ) -> Coroutine[Any, Any, Any]:
        """As ``intercept``, for a ``produce`` that returns an awaitable, such as a coroutine function."""
        return self.tape.call_async(channel, key, produce, input=input, options=_options(about))

    def value(self, channel: str, key: str, value: T, *, input: Any = ABSENT, **about: Unpack[CallArguments]) -> T:
        """Return ``value`` and record it; replaying, return the recorded one instead."""
        return self.tape.value(channel, key, value, input=input, options=_options(about))

    def stream(
        self,
        channel: str,
        key: str,
        produce: Callable[[], Iterable[T]],
        *,
        input: Any = ABSENT,
        **about: Unpack[CallArguments],
    ) -> Generator[T, Any, Any]:
        """Pass a stream on chunk by chunk and record it as one event; replaying, give the recorded chunks."""
        return self.tape.stream(channel, key, produce, input=input, options=_options(about))

    def stream_async(
        self,
        channel: str,
        key: str,
        produce: Callable[[], AsyncIterable[T]],
        *,
        input: Any = ABSENT,
        **about: Unpack[CallArguments],
    ) -> AsyncGenerator[T, Any]:
        """As ``stream``, for an async generator."""
        return self.tape.stream_async(channel, key, produce, input=input, options=_options(about))

    def wrapped(
        self,
        channel: str,
        key: str | None = None,
        *,
        returns: type[Any] | None = None,
        leave_out: Collection[str] = (),
        label: str | None = None,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Return a decorator that intercepts every call of a function; see ``interceptors.wrap``."""
        return wrapped(self.tape, channel, key, returns=returns, leave_out=leave_out, label=label)

    def recording(self) -> Recording:
        """Return the tape so far; replaying, the recording that is replayed.

        Raises:
            StashError: The stash was made of a replayer without its recording.
        """
        if isinstance(self.tape, Recorder):
            return self.tape.recording()
        if self._replayed is None:
            raise invalid_input(
                "the stash does not know what it replays", hint="make it by load_stash() or Stash.replay()"
            )
        return self._replayed

    @overload
    def save(self) -> str: ...
    @overload
    def save(self, path: str | os.PathLike[str]) -> Path: ...
    def save(self, path: str | os.PathLike[str] | None = None) -> str | Path:
        """Return the recording's JSON text; or write it to ``path`` and return the path it got.

        Raises:
            StashError: The file cannot be written.
        """
        recording = self.recording()
        return encode_recording(recording) if path is None else write_recording(recording, path)

    @property
    def path(self) -> Path | None:
        """The file that is recorded to or replayed from, if any."""
        if isinstance(self.tape, Recorder):
            return self.tape.path
        return self._replayed.path if self._replayed is not None else None

    def consumed(self) -> int:
        """Return how many recorded calls were served; 0 when recording."""
        return 0 if isinstance(self.tape, Recorder) else self.tape.consumed()

    def remaining(self) -> list[RecordedEvent]:
        """Return the recorded calls not asked for yet; none when recording."""
        return [] if isinstance(self.tape, Recorder) else self.tape.remaining()

    def divergences(self) -> list[Divergence]:
        """Return the divergences met so far; none when recording."""
        return [] if isinstance(self.tape, Recorder) else self.tape.divergences()

    def report(self) -> DivergenceReport:
        """Return how the replay went so far; an empty report when recording."""
        if isinstance(self.tape, Recorder):
            return DivergenceReport(divergences=(), matched=0, unused=0, unchecked=0)
        return self.tape.report()

    def close(self) -> None:
        """End a recording; its file, if any, is whole from then on."""
        if isinstance(self.tape, Recorder):
            self.tape.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(self.tape, Recorder):
            self.tape.__exit__(kind, error, traceback)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)


@overload
def create_stash(*, replay: None = None, **options: Unpack[RecordOptions]) -> Stash: ...
@overload
def create_stash(*, replay: Recording | str | bytes | os.PathLike[str], **options: Unpack[ReplayOptions]) -> Stash: ...
def create_stash(*, replay: Recording | str | bytes | os.PathLike[str] | None = None, **options: Any) -> Stash:
    """Return a stash that records, or one that replays if ``replay`` is given."""
    return Stash(Recorder(**options)) if replay is None else Stash.replay(replay, **options)


def load_stash(source: Recording | str | bytes | os.PathLike[str], **options: Unpack[ReplayOptions]) -> Stash:
    """Return a stash that replays.

    Args:
        source: A recording, its JSON text, or the path of its file. Text that begins with ``{`` is JSON.
        **options: See ``Replayer``.

    Raises:
        StashError: ``ERR_NOT_FOUND`` or ``ERR_INVALID_RECORDING``.
    """
    return Stash.replay(source, **options)


def create_recorder(**options: Unpack[RecordOptions]) -> Recorder:
    """Return a ``Recorder``."""
    return Recorder(**options)


def create_replayer(
    recording: Recording | str | bytes | os.PathLike[str], **options: Unpack[ReplayOptions]
) -> Replayer:
    """Return a ``Replayer`` of a recording; see ``load_stash`` for what it may be."""
    return Replayer(_recording_of(recording), **options)


def _recording_of(source: Recording | str | bytes | os.PathLike[str]) -> Recording:
    if isinstance(source, Recording):
        return source
    if isinstance(source, bytes) or (isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("{")):
        return decode_recording(source)
    return open_recording(source)


def _options(about: CallArguments) -> CallOptions:
    return CallOptions(**about) if about else NO_OPTIONS
