"""Many runs of one program at once: over any executor, each with its output taken, and all of them stopped together.

A trial is plain data and can be handed to another process; what a program writes is kept as a digest and its head.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from stashdbg_core.errors import invalid_input
from stashdbg_core.programs.process.command import Command
from stashdbg_core.programs.runs.continuing_run import Name, WhatIf
from stashdbg_core.programs.runs.program_run import Output, ProgramRun, RunResult
from stashdbg_core.programs.runs.rerunning import continue_program, record_again, replay_program
from stashdbg_core.programs.tapes.secrets import Secrets
from stashdbg_core.redact.rule_file import RuleSet
from stashdbg_core.replay.ignore import IgnorePattern
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.open import open_recording

_HEAD = 1 << 16
"""Bytes of a program's output that are kept."""
_JOBS = 4
MAX_CALLS = 1000
"""Live calls of one run at most, unless somebody says so: nobody watches each of many runs."""
Progress = Callable[[int, int], None]
"""Told how many runs of how many are over."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the calls of all runs are compared, served and masked; see ``continue_program``."""

    rerun: tuple[Name, ...] = ()
    secrets: Secrets | None = None
    ignore: tuple[IgnorePattern, ...] = ()
    rules: RuleSet = field(default_factory=RuleSet)
    max_calls: int | None = MAX_CALLS


@dataclass(frozen=True, slots=True)
class Trial:
    """One run that is to be made.

    Args:
        kind: ``replay``: offline; ``continue``: on from a recording, recorded anew; ``record``: all of it for real.
        file: The recording; of ``record``, nothing is read of it.
        command: What is run.
        path: Where it is recorded; None for a replay.
        settings: How calls are compared, served and masked.
        what_if: As for ``continue_program``.
    """

    kind: Literal["replay", "continue", "record"]
    file: Path
    command: Command
    path: Path | None = None
    settings: Settings = field(default_factory=Settings)
    what_if: WhatIf | None = None

    def run(self, output: Output, say: Callable[[str, str], None]) -> ProgramRun:
        """Return the run, not yet started.

        Raises:
            StashError: The recording cannot be read, or the new one cannot be made.
        """
        settings = self.settings
        if self.path is None:
            recording = open_recording(self.file)
            return replay_program(
                recording,
                self.command,
                on_divergence="collect",
                ignore=settings.ignore,
                rules=settings.rules,
                say=say,
                output=output,
            )
        if self.kind == "record":
            return record_again(self.command, self.path, rules=settings.rules, say=say, output=output)
        return continue_program(
            open_recording(self.file),
            self.command,
            self.path,
            rerun=settings.rerun,
            secrets=settings.secrets,
            ignore=settings.ignore,
            rules=settings.rules,
            what_if=self.what_if,
            max_calls=settings.max_calls,
            say=say,
            output=output,
        )


@dataclass(frozen=True, slots=True)
class Written:
    """What a program wrote to one stream."""

    digest: str
    size: int
    head: bytes

    @property
    def lines(self) -> list[str]:
        """The lines of its head, unsanitised."""
        return self.head.decode("utf-8", "replace").splitlines()


@dataclass(frozen=True, slots=True)
class Outcome:
    """A trial that is over."""

    number: int
    """From 1, in the order in which the trials were given."""
    result: RunResult
    stdout: Written
    stderr: Written
    said: tuple[tuple[str, str], ...] = ()
    """What was noted while it ran, by kind and sentence."""
    killed: bool = False
    """Whether we stopped it."""


class Trials:
    """Runs trials, and stops them: from any thread, or when ``run`` is interrupted.

    Args:
        executor: Where they run: a thread each here by default. It is left open; ours is closed.
        jobs: How many run at once, of our own executor.
    """

    def __init__(self, executor: Executor | None = None, jobs: int | None = None) -> None:
        self._executor = executor
        self._jobs = jobs or default_jobs()
        self._group = secrets.token_hex(8)
        self._futures: list[Future[Outcome | None]] = []
        self.interrupted = False
        """Whether some of the runs were stopped, or never begun."""

    def run(self, trials: Sequence[Trial], progress: Progress | None = None) -> list[Outcome]:
        """Run them all and return how they ended, in their order; after an interrupt, those that had begun.

        Raises:
            StashError: A run could not be made; the others were stopped.
        """
        own = ThreadPoolExecutor(self._jobs, "stashdbg-trial") if self._executor is None else None
        executor = own or self._executor
        assert executor is not None
        if self.interrupted:
            return []
        try:
            self._futures = [
                executor.submit(_run_trial, trial, number, self._group) for number, trial in enumerate(trials, 1)
            ]
            return self._wait(progress or (lambda done, total: None))
        finally:
            if own is not None:
                own.shutdown()

    def stop(self) -> None:
        """Begin no further run, and end those that run here; what they recorded is kept."""
        self.interrupted = True
        for future in self._futures:
            future.cancel()
        stop_group(self._group)

    def _wait(self, progress: Progress) -> list[Outcome]:
        total = len(self._futures)
        try:
            for done, future in enumerate(as_completed(self._futures), 1):
                with suppress(CancelledError):
                    future.result()
                progress(done, total)
        except KeyboardInterrupt:
            self.stop()
        except BaseException:
            self.stop()
            raise
        found = []
        for future in self._futures:
            with suppress(CancelledError):
                outcome = future.result()
                found += [outcome] if outcome is not None else []
        return found


@contextmanager
def run_folder(folder: Path) -> Iterator[None]:
    """Make the folder for the recordings of several runs; it goes again if nothing came to be in it.

    Raises:
        StashError: It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        shown = shorten(str(folder), 200)
        raise invalid_input(
            f"cannot make {shown}: {error.strerror}", hint="name another folder with -o", errno=error.errno
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):
            folder.rmdir()


def default_jobs() -> int:
    """Return how many programs run at once unless somebody says so."""
    return min(_JOBS, os.cpu_count() or 1)


_lock = threading.Lock()
_running: dict[str, set[ProgramRun]] = {}
_stopped: set[str] = set()


def stop_group(group: str) -> None:
    """End the trials of a group that run in this process, and let no other of it begin."""
    with _lock:
        _stopped.add(group)
        runs = list(_running.get(group, ()))
    for run in runs:
        run.stop()


def _run_trial(trial: Trial, number: int, group: str) -> Outcome | None:
    """Make one run; None if its group was stopped before."""
    taken = {"stdout": _Taken(), "stderr": _Taken()}
    said: dict[tuple[str, str], None] = {}
    with _lock:
        if group in _stopped:
            return None
    run = trial.run(lambda stream, data: taken[stream].take(data), lambda kind, text: said.setdefault((kind, text)))
    run.start()
    with _lock:
        _running.setdefault(group, set()).add(run)
        late = group in _stopped
    try:
        if late:
            run.stop()
        result = run.wait()
    finally:
        with _lock:
            _running[group].discard(run)
            killed = group in _stopped
    return Outcome(number, result, taken["stdout"].written(), taken["stderr"].written(), tuple(said), killed)


class _Taken:
    """Takes a stream's bytes in."""

    def __init__(self) -> None:
        self._hasher = hashlib.sha256()
        self._head = bytearray()
        self._size = 0

    def take(self, data: bytes) -> None:
        self._hasher.update(data)
        self._size += len(data)
        self._head += data[: max(_HEAD - len(self._head), 0)]

    def written(self) -> Written:
        return Written(self._hasher.hexdigest(), self._size, bytes(self._head))
