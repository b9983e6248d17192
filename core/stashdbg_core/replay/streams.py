"""A recorded stream played again: the same chunks, without waiting, and the end it had.

An exhausted stream ends (with its return value), a failed one raises where it failed. A stream that its consumer closed
has no known continuation: whoever asks for more than was consumed gets a divergence. Leaving earlier is fine and noted.
What a consumer sends or throws into it went into the recorded stream too, so what came next there comes next here.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.replay.waiting import be_cancelled_again
from stashdbg_core.values import StreamRecord, encode_exception


@dataclass(frozen=True, slots=True)
class Playback:
    """One recorded stream and what to do at its edges."""

    record: StreamRecord
    chunk: Callable[[Json], Any]
    """Makes a fresh chunk of a recorded one."""
    error: Callable[[Json], BaseException]
    """Makes the exception that ended it."""
    beyond: Callable[[str], StashError]
    """Reports a consumer that asks for more than was recorded, and returns what to raise."""
    left: Callable[[str], None]
    """Notes a consumer that left before the recorded end."""
    ms: float | None = None
    """How long the recorded stream took."""

    def play(self) -> Generator[Any, Any, Any]:
        """Return the stream as a generator."""
        for place, chunk in enumerate(self.record.chunks):
            try:
                yield self.chunk(chunk)
            except GeneratorExit:
                self._leave(place + 1)
                raise
            except BaseException as error:  # the recorded stream may have caught it
                if self._passes_on(error, place + 1):
                    raise
        if self.record.ending == "exhausted":
            return None if self.record.returned is None else self.chunk(self.record.returned)
        raise self._end()

    async def play_async(self) -> AsyncGenerator[Any, Any]:
        """Return the stream as an async generator."""
        for place, chunk in enumerate(self.record.chunks):
            try:
                yield self.chunk(chunk)
            except GeneratorExit:
                self._leave(place + 1)
                raise
            except BaseException as error:  # the recorded stream may have caught it
                if self._passes_on(error, place + 1):
                    raise
        if self.record.ending != "exhausted":
            end = self._end()
            last = self.record.times_ms[-1] if self.record.times_ms else 0.0
            await be_cancelled_again(end, None if self.ms is None else self.ms - last)
            raise end

    def _passes_on(self, error: BaseException, taken: int) -> bool:
        """Tell whether the recorded stream let through what its consumer threw in, or has no known answer to it."""
        if taken < len(self.record.chunks) or self.record.ending == "exhausted":
            return False
        return self.record.ending != "failed" or encode_exception(error) == self.record.error

    def _end(self) -> BaseException:
        if self.record.ending == "failed" and self.record.error is not None:
            return self.error(self.record.error)
        count = len(self.record.chunks)
        how = "was closed by its consumer" if self.record.ending == "closed" else "was never finished"
        return self.beyond(f"the recorded stream {how} after {count} {_chunks(count)}, the program asks for more")

    def _leave(self, taken: int) -> None:
        count = len(self.record.chunks)
        if taken < count or self.record.ending in ("exhausted", "failed"):
            self.left(f"left after {taken} of {count} {_chunks(count)}; recorded was {self.record.ending}")


def _chunks(count: int) -> str:
    return "chunk" if count == 1 else "chunks"
