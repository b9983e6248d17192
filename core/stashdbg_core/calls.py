"""A call on a tape: the seam between a program and whatever records or replays it.

``Recorder`` and ``Replayer`` are both a ``Tape``; a program, and every interceptor, is written against it once. A call
is named by channel and key, its ordinal is counted, and ``produce`` is run only where no recorded result is served.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Generator, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar

from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.sanitize import shorten

T = TypeVar("T")
TapeMode: TypeAlias = Literal["record", "replay"]


class Marker(Enum):
    """Values that no program's own value can be."""

    ABSENT = "absent"
    DROP = "drop"

    def __repr__(self) -> str:
        return self.name


ABSENT: Final = Marker.ABSENT
"""No input was given; distinct from an input of None."""
DROP: Final = Marker.DROP
"""What a redact function returns so that a value is not stored at all."""
MEASURED_CHANNELS: Final = frozenset({"clock", "random"})
"""Channels of values that a program reads and gives nothing for: from a clock, or from chance."""
MODEL_CHANNELS: Final = frozenset({"llm", "model", "chat"})
"""Channels of calls to a language model."""


@dataclass(frozen=True, slots=True)
class CallOptions:
    """What a caller may say about a call beside its channel, key and input."""

    label: str | None = None
    call_id: str | None = None
    """The caller's own name of the call, such as a provider's tool-call id."""
    thread: str | None = None
    """Lane; found from the running thread and task when None."""
    parent: int | None = None
    """``seq`` of the enclosing call; ``current_call`` when None."""
    returns: type[Any] | None = None
    """Class of the result, rebuilt on replay as if it were registered."""


NO_OPTIONS: Final = CallOptions()


@dataclass(frozen=True, slots=True)
class RedactContext:
    """Which value a redact function is looking at."""

    channel: str
    key: str
    kind: Literal["input", "value", "error", "chunk"]
    seq: int


RedactFunction: TypeAlias = Callable[[Any, RedactContext], Any]
"""Gets a copy of a value and returns what to store instead, or ``DROP``."""

current_call: ContextVar[int | None] = ContextVar("stashdbg_current_call", default=None)
"""``seq`` of the call whose ``produce`` is running in this thread or task: the parent of calls made meanwhile."""


def read_site(given: Any) -> str | None:
    """Return the site that is all the input of a value which a program read, such as the time; None for any other."""
    if type(given) is not dict or not {"lane", "site"} <= given.keys() <= {"lane", "site", "soft"}:
        return None
    return str(given["site"])


class Tape(Protocol):
    """Something that answers calls: by running and recording them, or from a recording.

    A ``call`` whose ``produce`` returns a generator (sync or async) is a stream: the program gets a generator, and the
    value recorded is a stream. An awaitable from ``call`` is refused (``refuse_awaitable``). ``stream`` and
    ``stream_async`` start at their first ``next``: one never asked is no event.
    """

    @property
    def mode(self) -> TapeMode:
        """Whether results are recorded or served."""
        ...

    def storable(self, value: Any) -> bool:
        """Tell whether a value can be stored whole."""
        ...

    def call(
        self,
        channel: str,
        key: str,
        produce: Callable[[], T],
        *,
        input: Any = ABSENT,
        options: CallOptions = NO_OPTIONS,
    ) -> T:
        """Return what the call returns, or raise what it raises."""
        ...

    async def call_async(
        self,
        channel: str,
        key: str,
        produce: Callable[[], Awaitable[T] | T],
        *,
        input: Any = ABSENT,
        options: CallOptions = NO_OPTIONS,
    ) -> T:
        """As ``call``, for a ``produce`` that may return an awaitable."""
        ...

    def stream(
        self,
        channel: str,
        key: str,
        produce: Callable[[], Iterable[T]],
        *,
        input: Any = ABSENT,
        options: CallOptions = NO_OPTIONS,
    ) -> Generator[T, Any, Any]:
        """Return a generator over what ``produce`` yields, chunk by chunk; send, throw and close reach it."""
        ...

    def stream_async(
        self,
        channel: str,
        key: str,
        produce: Callable[[], AsyncIterable[T]],
        *,
        input: Any = ABSENT,
        options: CallOptions = NO_OPTIONS,
    ) -> AsyncGenerator[T, Any]:
        """As ``stream``, for an async generator."""
        ...

    def value(self, channel: str, key: str, value: T, *, input: Any = ABSENT, options: CallOptions = NO_OPTIONS) -> T:
        """Return ``value`` when recording, the recorded one when replaying."""
        ...


def refuse_awaitable(channel: str, key: str, result: Any) -> StashError:
    """Return the error for a sync call that produced an awaitable; a coroutine is closed, not left unawaited."""
    if hasattr(result, "send") and hasattr(result, "close"):
        result.close()
    return invalid_input(
        f"the sync intercept of {shorten(channel, 80)}/{shorten(key, 80)} produced an awaitable",
        hint="use `await stash.intercept_async(...)` for coroutines and futures",
        channel=channel,
        key=key,
    )
