"""``python -m stashdbg_core.formats.follow_process FILE RUN JOURNAL [LIMIT=N …]``: one run followed as its file grows.

What is known for good goes to the journal. At the end of the file a copy of this process reads on as if the file were
whole: calls in flight, open answers, marks and facts about the run, which the next line may change, go to a file of
their own (the tip), which continues the journal. The process itself keeps where the reader stands, waits, and reads on
when the file grows.

Standard output has a line for each step: what ``process_lines`` says, ``=`` and a state, and ``~`` when the file is
another or was cut. A line on standard input asks for the next state; its end ends the process.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from select import select
from time import monotonic

import msgspec

from stashdbg_core.errors import ErrorCode, StashError, not_found
from stashdbg_core.formats.opening import detect, read_into
from stashdbg_core.formats.process_lines import say, say_failure
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import Cancelled, ForeignSource
from stashdbg_core.record.ledger import JournalLedger
from stashdbg_core.store.journal_place import JOURNAL_SUFFIX, journal_path
from stashdbg_core.store.limits import Limits

_SECONDS = 0.2
_REST = 4
"""How much longer than telling a state took the next one is left."""
_SEAM = 256
"""Bytes before the end that are compared before reading on."""
_FAILED = 65


class State(msgspec.Struct, frozen=True):
    """How far a file has been read, and where what was made of it lies."""

    identity: tuple[int, int, int, int]
    """Device, inode, size and time of the file."""
    journal: int
    """Bytes of the journal that count."""
    tip: str
    """Name of the file beside the journal that continues it."""


class Following:
    """Follows one run.

    Args:
        path: The file.
        run: Which run of it, from 0.
        out: What the journal is named after.
        limits: Reading limits.
    """

    def __init__(self, path: Path, run: int, out: Path, limits: Limits) -> None:
        self._run = run
        self._out = out
        self._is_copy = False
        self._tips = 0
        self._wanted = True
        self._told_at = -1
        self._rested = 0.0
        self._said = 0.0
        self._ledger: JournalLedger | None = None
        self._seam = b""
        self._source = ForeignSource(path, limits=limits, progress=self._progress, cancelled=self._is_unwanted)
        known = detect(self._source)
        if known is None:
            raise not_found(f"{self._source.name} is in no format that stashdbg knows")
        self._known = known
        self._sink = RunSink(known.name, self._source, run, open_ledger=self._open_ledger)

    def read(self) -> None:
        """Read until nobody follows any more.

        Raises:
            StashError: It cannot be read; ``ERR_INVALID_INPUT``: it is of a kind that is read only as a whole.
            formats.source.Cancelled: Nobody follows any more.
        """
        self._source.at_end = self._wait
        code = 1
        try:
            read_into(self._known, self._source, self._run, self._sink)
            if self._is_copy:
                self._sink.end()
                assert isinstance(self._sink.ledger, JournalLedger)
                self._sink.ledger.note(self._sink.meta_tree())
                code = 0
        finally:
            if self._is_copy:
                os._exit(code)
        raise StashError(
            f"a {self._known.title} as large as this is read as a whole, and not followed",
            code=ErrorCode.INVALID_INPUT,
            hint="open it again",
        )

    def remove(self) -> None:
        """Remove what was written."""
        for file in (journal_path(self._out), self._tip()):
            file.unlink(missing_ok=True)

    def _wait(self, end: int) -> bool:
        """Tell the state at the end of the file and wait until there is more; return at once in the copy."""
        self._seam = self._source.read_at(max(0, end - _SEAM), min(end, _SEAM))
        while True:
            if self._wanted and self._told_at != end and monotonic() >= self._rested:
                self._tell(end)
                if self._is_copy:
                    return False
            if self._is_unwanted(_SECONDS):
                raise Cancelled
            grown = self._source.grow()
            if self._source.read_at(max(0, end - _SEAM), min(end, _SEAM)) != self._seam:
                raise not_found(f"{self._source.name} was written anew")
            if grown:
                return True

    def _tell(self, end: int) -> None:
        """Let a copy of this process finish the reading, and say where it wrote that."""
        began = monotonic()
        length = self._ledger.append_values() if self._ledger is not None else 0
        self._tips += 1
        copy = os.fork()
        if not copy:
            gc.disable()
            self._is_copy, self._source.at_end = True, None
            if self._ledger is not None:
                self._ledger.go_on_in(self._tip())
            return
        _, status = os.waitpid(copy, 0)
        self._told_at = end
        if status:  # nothing that can be shown as yet: the next line may change that
            self._tip().unlink(missing_ok=True)
        elif self._source.identity is not None:
            self._wanted = False
            say("=" + msgspec.json.encode(State(self._source.identity, length, self._tip().name)).decode())
        now = monotonic()
        self._rested = now + _REST * (now - began)

    def _tip(self) -> Path:
        return journal_path(self._out.with_name(f"{self._out.stem}-{self._tips}.json"))

    def _open_ledger(self, recording_id: str) -> JournalLedger:
        out = Path(str(self._tip()).removesuffix(JOURNAL_SUFFIX)) if self._is_copy else self._out
        ledger = JournalLedger(out, recording_id, {"complete": False}, force=True)
        self._ledger = None if self._is_copy else ledger
        return ledger

    def _is_unwanted(self, seconds: float = 0) -> bool:
        """Take what is asked for within some seconds; tell whether nobody is there any more."""
        if self._is_copy or not select([0], [], [], seconds)[0]:
            return False
        asked = os.read(0, 1 << 10)
        self._wanted = self._wanted or bool(asked)
        return not asked

    def _progress(self, done: int) -> None:
        now = monotonic()
        if not self._is_copy and now - self._said >= _SECONDS:
            self._said = now
            say(str(done))


def main(arguments: Sequence[str]) -> int:
    """Follow the run that the arguments name, and return the exit code."""
    path, run, out, *settings = arguments
    following: Following | None = None
    try:
        following = Following(Path(path), int(run), Path(out), Limits.parse(settings))
        following.read()
    except Cancelled:
        return 0
    except (StashError, OSError) as error:
        if following is not None and isinstance(error, StashError) and error.code == ErrorCode.NOT_FOUND:
            say("~")
        else:
            say_failure(error)
        return _FAILED
    finally:
        if following is not None:
            following.remove()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
