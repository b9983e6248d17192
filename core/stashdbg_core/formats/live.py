"""A large file of another tool that is still being written, followed: only what it gained is read.

A process reads on as the file grows (``follow_process``). What it writes is opened here and has no name from then on:
nothing is left when either of the two ends, however it ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

import msgspec

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.formats.conversion import is_large, run_number
from stashdbg_core.formats.convert_process import make_room
from stashdbg_core.formats.converted import cache_folder
from stashdbg_core.formats.findings import notes_of
from stashdbg_core.formats.follow_process import State
from stashdbg_core.formats.format import Format
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.process_lines import command, failure_in
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.model import Recording
from stashdbg_core.store.index_cache import prepare_folder
from stashdbg_core.store.journal_growth import read_growth
from stashdbg_core.store.journal_place import journal_path
from stashdbg_core.store.journal_read import JournalEvents, read_journal
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.source import FileSource, JoinedSource, Source


def is_followable(source: ForeignSource) -> bool:
    """Tell whether a large file can be followed: it consists of lines, and is not compressed."""
    return source.path is not None and not source.is_zstd and bool(Head(source).lines)


def follow_run(known: Format, source: FileSource, inner: str | None, limits: Limits) -> LiveConversion | None:
    """Begin to follow a run of a file whose format is known; None if it is small, and read anew as fast.

    Args:
        known: The format.
        source: The file.
        inner: Number of the run, from 1, as text; None if there is only one.
        limits: Reading limits.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is large, and can only be read as a whole.
    """
    foreign = ForeignSource(source, limits=limits)
    if not is_large(foreign):
        return None
    if not is_followable(foreign):
        raise StashError(
            "a file this large of another tool is not followed", code=ErrorCode.INVALID_INPUT, hint="open it again"
        )
    return LiveConversion(source.path, run_number(known, foreign, inner), inner, limits)


class LiveConversion:
    """One run that is followed, from now until ``stop``.

    Args:
        path: The file.
        run: Which run of it, from 0.
        inner: What names the run in the recording's path, if anything does.
        limits: Reading limits.

    Raises:
        StashError: ``ERR_NOT_FOUND``: the cache folder cannot be made.
    """

    def __init__(self, path: Path, run: int, inner: str | None, limits: Limits) -> None:
        self._path = path if inner is None else path / inner
        self._limits = limits
        self._out = cache_folder() / f"follow-{uuid4().hex}.json"
        self._base: Recording | None = None
        self._journal: FileSource | None = None
        self._ready: Recording | None = None
        self._failure: StashError | None = None
        self.is_over = False
        """Whether the file is another now, or the following failed: see ``take``."""
        self.caught_up = 0.0
        """How much of the file was read before there was something to take; 1 from then on."""
        self._size = max(1, path.stat().st_size)
        prepare_folder(self._out)
        make_room(self._out.parent)
        self._process = subprocess.Popen(
            command("stashdbg_core.formats.follow_process", path.absolute(), run, self._out, limits),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self._changed = Event()
        self._thread = Thread(target=self._listen, name="stashdbg-follow", daemon=True)
        self._thread.start()

    def take(self) -> Recording | None:
        """Return the run as it is now, once for each change; None if it has not changed.

        Raises:
            StashError: Why the following ended.
        """
        self._changed.clear()
        ready, self._ready = self._ready, None
        if ready is not None:
            self._ask()
        elif self._failure is not None:
            raise self._failure
        return ready

    def wait(self, seconds: float) -> bool:
        """Wait until there is something to take, or the following is over; tell whether so."""
        return self._changed.wait(seconds)

    def stop(self) -> None:
        """End the process and remove what it wrote."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._thread.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        for file in self._out.parent.glob(f"{self._out.stem}*"):
            file.unlink(missing_ok=True)

    def _ask(self) -> None:
        """Ask for the next state."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            os.write(self._process.stdin.fileno(), b"\n")

    def _listen(self) -> None:
        """Take what the process says until it ends."""
        assert self._process.stdout is not None
        ended = StashError("the process that follows the file ended", code=ErrorCode.NOT_FOUND, hint="follow it again")
        try:
            for line in self._process.stdout:
                if line.startswith(b"="):
                    self._ready = self._read(msgspec.json.decode(line[1:], type=State))
                    self.caught_up = 1.0
                    self._changed.set()
                elif line.startswith(b"~"):
                    return
                elif line.strip().isdigit():
                    self.caught_up = max(self.caught_up, min(0.99, int(line) / self._size))
                elif (failure := failure_in(line)) is not None:
                    self._failure = failure
                    return
            self._failure = ended
        except StashError as failure:
            self._failure = failure
        finally:
            self.is_over = True
            self._changed.set()

    def _read(self, state: State) -> Recording:
        """Return the run at a state; only what is new is read of its journal."""
        tip = _unnamed(self._out.with_name(state.tip))
        whole: Source = tip
        grown: Recording | None = None
        if state.journal:
            if self._journal is None:
                self._journal = _unnamed(journal_path(self._out))
            known = JoinedSource(self._journal, state.journal)
            before = self._base
            self._base = (read_growth(before, known) if before is not None else None) or read_journal(
                known, self._limits
            )
            whole = JoinedSource(self._journal, state.journal, tip)
            grown = read_growth(self._base, whole)
        recording = grown or read_journal(whole, self._limits)
        assert isinstance(recording.events, JournalEvents)
        recording.events.identity = state.identity
        return replace(recording, path=self._path, notes=(*recording.notes, *notes_of(recording.meta.get("source"))))


def _unnamed(path: Path) -> FileSource:
    """Open a file and take its name away; it is there as long as somebody has it open."""
    source = FileSource(path)
    path.unlink(missing_ok=True)
    return source
