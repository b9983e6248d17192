"""Answers a program's calls from a recording, and says where the two part.

A call without a recorded counterpart never gets another call's value and never reaches the real service, unless the
live tail was asked for. Values are fresh objects at every call; nothing is redacted on the way out.
"""

from __future__ import annotations

import inspect
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Sequence,
)
from functools import partial
from typing import Any, TypeVar, cast

from stashdbg_core.calls import ABSENT, NO_OPTIONS, CallOptions, Tape, TapeMode, current_call, refuse_awaitable
from stashdbg_core.errors import invalid_input
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.record.masking import DEFAULT, Redaction
from stashdbg_core.record.streams import Ending, relay_async
from stashdbg_core.replay.answers import Answers, Live, OnDivergence, Rules
from stashdbg_core.replay.divergence import Divergence, DivergenceReport
from stashdbg_core.replay.ignore import Ignore, IgnorePattern
from stashdbg_core.replay.matcher import MatchMode
from stashdbg_core.replay.outcomes import Raised
from stashdbg_core.replay.waiting import be_cancelled_again, let_others_run
from stashdbg_core.values import StreamRecord, TypeRegistry, check_types, snapshot

__all__ = ["OnDivergence", "Replayer"]

T = TypeVar("T")


class Replayer:
    """A ``Tape`` that serves a recording; safe to use from threads and tasks.

    Args:
        recording: What to serve.
        match: ``order``: the n-th call of a channel and key is the n-th recorded one, numbered as they start.
            ``input``: a call is the next recorded one with an equal input, which is right for parallel calls too.
        strict: With ``order``, whether inputs are compared; if not, the report counts them as unchecked.
        on_divergence: ``throw``: every divergence raises. ``collect``: a call whose input differs is served what was
            recorded at its place, and all is in the report; a call that the recording does not have still raises.
        live_tail: Run calls for real that lie past the recording, as a fork needs; the report counts them.
        types: Classes that recorded values and errors may be rebuilt as.
        ignore: Parts of inputs that are not compared; see ``replay.ignore``.
        redact: How live inputs are masked before they are compared; by default as ``meta.redaction`` says. A recording
            made with redact functions of the program's own needs them here.
        record: A recorder that takes down this run as well, served calls and live ones on one tape.

    Raises:
        StashError: ``ERR_INVALID_INPUT`` for an unknown option.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        match: MatchMode = "order",
        strict: bool = True,
        on_divergence: OnDivergence = "throw",
        live_tail: bool = False,
        types: TypeRegistry | None = None,
        ignore: Sequence[IgnorePattern] = (),
        redact: Redaction = DEFAULT,
        record: Tape | None = None,
    ) -> None:
        _check("match", match, ("order", "input"))
        _check("on_divergence", on_divergence, ("throw", "collect"))
        rules = Rules(match=match, strict=strict, on_divergence=on_divergence, live_tail=live_tail)
        check_types(types)
        self._answers = Answers(recording, rules, types, Ignore(ignore), redact)
        self._record = record
        self._types = types

    @property
    def mode(self) -> TapeMode:
        """Always ``replay``."""
        return "replay"

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
        """Return the recorded value (a recorded stream as a generator), or raise the recorded error.

        Raises:
            StashError: ``ERR_DIVERGENCE`` or ``ERR_RECORDING_EXHAUSTED`` if the recording has no such call, another
                code if its outcome can't be served.
        """
        if self._record is not None:
            answer = partial(self._call, channel, key, produce, input, options)
            return self._record.call(channel, key, answer, input=input, options=options)
        return self._call(channel, key, produce, input, options)

    def call_async(
        self,
        channel: str,
        key: str,
        produce: Callable[[], Awaitable[T] | T],
        *,
        input: Any = ABSENT,
        options: CallOptions = NO_OPTIONS,
    ) -> Coroutine[Any, Any, T]:
        """As ``call``; lets other tasks run once, as a real call would. The place is taken before that."""
        # Not itself a coroutine: the caller's frame is gone once a task runs it.
        answer = partial(self._call_async, channel, key, produce, input, options, self._answers.site())
        if self._record is not None:
            return self._record.call_async(channel, key, answer, input=input, options=options)
        return answer()

    def stream(
        self,
        channel: str,
        key: str,
        produce: Callable[[], Iterable[T]],
        *,
        input: Any = ABSENT,
        options: CallOptions = NO_OPTIONS,
    ) -> Generator[T, Any, Any]:
        """Return the recorded stream as a generator; the place is taken when the first chunk is asked for."""
        answer = partial(self._stream, channel, key, produce, input, options, self._answers.site())
        if self._record is not None:
            return self._record.stream(channel, key, answer, input=input, options=options)
        return answer()

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
        answer = partial(self._stream_async, channel, key, produce, input, options, self._answers.site())
        if self._record is not None:
            return self._record.stream_async(channel, key, answer, input=input, options=options)
        return answer()

    def value(self, channel: str, key: str, value: T, *, input: Any = ABSENT, options: CallOptions = NO_OPTIONS) -> T:
        """Return the recorded value in place of ``value``."""
        return self.call(channel, key, lambda: value, input=input, options=options)

    def consumed(self) -> int:
        """Return how many recorded calls were served."""
        return self._answers.consumed()

    def remaining(self) -> list[RecordedEvent]:
        """Return the recorded calls that were never asked for; not those made inside a served call."""
        return self._answers.remaining()

    def divergences(self) -> list[Divergence]:
        """Return the divergences met so far, in order; calls never made are in ``report``."""
        return self._answers.divergences()

    def report(self) -> DivergenceReport:
        """Return how the replay went so far, calls never made included."""
        return self._answers.report()

    def _call(self, channel: str, key: str, produce: Callable[[], T], input: Any, options: CallOptions) -> T:
        answer = self._answers.to(channel, key, input, options)
        if isinstance(answer, Live):
            result = produce()
            if inspect.isawaitable(result):
                raise refuse_awaitable(channel, key, result)
            return result
        return cast(T, self._given(answer, options))

    async def _call_async(
        self,
        channel: str,
        key: str,
        produce: Callable[[], Awaitable[T] | T],
        input: Any,
        options: CallOptions,
        site: str | None,
    ) -> T:
        answer = self._answers.to(channel, key, input, options, site=site)
        if isinstance(answer, Live):
            result = produce()
            return await result if inspect.isawaitable(result) else result
        await let_others_run()
        event, outcome = answer
        if isinstance(outcome, Raised):
            await be_cancelled_again(outcome.error, event.ms)
        return cast(T, self._given(answer, options))

    def _stream(
        self,
        channel: str,
        key: str,
        produce: Callable[[], Iterable[T]],
        input: Any,
        options: CallOptions,
        site: str | None,
    ) -> Generator[T, Any, Any]:
        answer = self._answers.to(channel, key, input, options, want="sync", site=site)
        if isinstance(answer, Live):
            return (yield from produce())
        event, outcome = answer
        if isinstance(outcome, Raised):
            raise outcome.error
        return (yield from self._answers.playback(event, outcome, options, site).play())

    def _stream_async(
        self,
        channel: str,
        key: str,
        produce: Callable[[], AsyncIterable[T]],
        input: Any,
        options: CallOptions,
        site: str | None,
    ) -> AsyncGenerator[T, Any]:
        async def opened() -> AsyncIterable[T]:
            answer = self._answers.to(channel, key, input, options, want="async", site=site)
            if isinstance(answer, Live):
                chunks: Any = produce()
                return cast("AsyncIterable[T]", await chunks if inspect.isawaitable(chunks) else chunks)
            await let_others_run()
            event, outcome = answer
            if isinstance(outcome, Raised):
                await be_cancelled_again(outcome.error, event.ms)
                raise outcome.error
            return self._answers.playback(event, outcome, options, site).play_async()

        return relay_async(lambda: _Unrecorded(current_call.get()), opened)

    def _given(self, answer: tuple[RecordedEvent, Any], options: CallOptions) -> Any:
        event, outcome = answer
        if isinstance(outcome, Raised):
            raise outcome.error
        if isinstance(outcome, StreamRecord):
            playback = self._answers.playback(event, outcome, options, None)
            return playback.play_async() if outcome.kind == "async" else playback.play()
        return outcome


def _check(name: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        raise invalid_input(f"{name} is {value!r:.80}", hint=f"give one of {', '.join(known)}")


class _Unrecorded:
    """The call of a stream that is passed on and not recorded."""

    def __init__(self, seq: int | None) -> None:
        self.seq = seq

    def chunk(self, value: Any, /) -> None:
        """Keep nothing."""

    def ended(self, ending: Ending, error: BaseException | None = None, returned: Any = ABSENT) -> None:
        """Keep nothing."""
