"""A program run on while somebody watches: started and waited for in a thread of its own, asked about from any other.

Nothing here blocks whoever asks; what is asked for often is cheap.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import Recording
from stashdbg_core.programs.process.command import Command
from stashdbg_core.programs.process.run_output import OutputTail
from stashdbg_core.programs.runs.program_run import Output, ProgramRun, RunResult, unhooked
from stashdbg_core.programs.tapes.answering import Say
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.following import Follower
from stashdbg_core.session.words import counted
from stashdbg_core.store.open import open_recording

Make = Callable[[Say, Output], ProgramRun]
"""Makes the program; called once, in the thread that runs it."""


class WatchedRun:
    """One program, from its start to its end.

    Args:
        make: Makes it.
        name: What to call it; recorded text, shortened and safe.
    """

    def __init__(self, make: Make, name: str) -> None:
        self.name = name
        self.tail = OutputTail()
        self.result: RunResult | None = None
        self.failure: StashError | None = None
        """Why it could not be started, or its recording not ended."""
        self._make = make
        self._run: ProgramRun | None = None
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._took = 0.0
        self._told = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="stashdbg-run")
        self._follower: Follower | None = None

    def start(self) -> None:
        """Start it; what goes wrong is told by ``failure``."""
        self._began = time.monotonic()
        self._thread.start()

    def stop(self) -> None:
        """Tell it to end; it is killed if it does not within a few seconds."""
        with self._lock:
            self._told, run = True, self._run
        if run is not None:
            run.stop()

    def join(self) -> None:
        """Wait for its end."""
        if self._thread.ident is not None:
            self._thread.join()

    @property
    def over(self) -> bool:
        """Whether it has ended and its recording is whole."""
        return self._over.is_set()

    @property
    def path(self) -> Path | None:
        """The recording that it made; None while it runs, and if there is none."""
        return None if self.result is None else self.result.path

    def words(self) -> str:
        """Return how far it is: ``running 0:04 · 1 served, 3 live``."""
        seconds = int(self._took if self.over else time.monotonic() - self._began)
        clock = f"{seconds // 60}:{seconds % 60:02d}"
        run = self._run
        if run is None:
            return f"starting {clock}"
        served, live = run.progress()
        state = "ended" if self.over else "stopping" if self._told else "running"
        return f"{state} {clock} · {served:,} served, {live:,} live"

    def ending(self) -> list[str]:
        """Return how it ended, in sentences, the most important first; may hold recorded text."""
        if self.failure is not None:
            return [self.failure.message, *([self.failure.hint] if self.failure.hint else [])]
        if self.result is None or self._run is None:
            return []
        return ending_words(self.result, self._run.command, stopped=self._told)

    def look(self) -> Recording | None:
        """Return the recording as far as it is, if it has gained something since it was looked at; None otherwise.

        Reads a file; to be asked by one thread at a time.

        Raises:
            StashError: It cannot be read.
        """
        try:
            if self._follower is None:
                place = self._place()
                found = None if place is None else open_recording(place)
            else:
                found = self._follower.read() if self._follower.changed() else None
        except StashError as error:
            if error.code == ErrorCode.NOT_FOUND and not self.over:  # it has just become the recording
                return None
            raise
        if found is not None:
            self._follower = Follower(found)
        return found

    def _place(self) -> Path | None:
        """Return the file to look at: none before there is an event in it."""
        run = self._run
        if self.over or run is None:
            return self.path
        return run.journal if run.events else None

    def _work(self) -> None:
        try:
            run = self._make(self._say, self.tail.take)
            run.start()
            with self._lock:
                self._run = run
            if self._told:
                run.stop()
            self.result = run.wait()
        except StashError as error:
            self.failure = error
        except Exception as error:  # noqa: BLE001 - whoever watches is told; nobody else would be
            reason = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
            self.failure = StashError(f"the run failed: {reason}", code=ErrorCode.NOT_FOUND)
        finally:
            self._took = time.monotonic() - self._began
            self._over.set()

    def _say(self, kind: str, message: str) -> None:
        self.tail.note(f"{kind.replace('-', ' ')}: {shorten(message, 300)}")


def ending_words(result: RunResult, command: Command, *, stopped: bool = False) -> list[str]:
    """Return how a run ended, in sentences, the most important first; may hold recorded text.

    Args:
        result: The run's.
        command: What was run.
        stopped: Whether it was told to end.
    """
    report, code = result.report, f"exit code {result.exit_code}"
    if not result.hooked:
        error = unhooked(command)
        return [f"ended with {code}; {error.message}", *([error.hint] if error.hint else [])]
    if report is None:
        return [f"{'stopped' if stopped else 'ended'} with {code}"]
    lines = str(report).splitlines()[1:] if report.divergences else []
    if any(one.kind != "missing-call" for one in report.divergences):
        return ["stopped before the fork point: it did something else than was recorded", *lines]
    if report.divergences:
        left = f"{counted(report.unused, 'recorded call')} never made"
        return [f"{'stopped' if stopped else 'ended'} with {code} before the fork point: {left}", *lines]
    return [f"{'stopped' if stopped else 'ended'} with {code}: {report.matched:,} served, {report.live_words}"]
