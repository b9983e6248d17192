"""One run of a program from its start to its end: started, watched, stopped, waited for.

Works without a terminal and from any thread. While it runs, the recording grows in ``journal``, which opens like any
recording.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.programs.process.child_environment import environment
from stashdbg_core.programs.process.command import Command, isolated
from stashdbg_core.programs.process.launch import Streams, exit_code, exit_facts, read_output, start
from stashdbg_core.programs.process.passed_on import PassedOn
from stashdbg_core.programs.process.python_command import isolating_flag
from stashdbg_core.programs.runs import trust
from stashdbg_core.programs.runs.head_start import HeadStart, Started
from stashdbg_core.programs.tapes.answering import Answering
from stashdbg_core.programs.tapes.server import Server

if TYPE_CHECKING:
    from stashdbg_core.programs.wire.frames import Mode
    from stashdbg_core.replay.divergence import DivergenceReport

_PATIENCE = 5.0
"""Seconds that a program has to end after it was told to."""
Process: TypeAlias = subprocess.Popen[bytes] | Started
Output = Callable[[str, bytes], None]
"""Takes what a program with pipes writes: ``stdout`` or ``stderr``, and the bytes; called from other threads."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended."""

    exit_code: int
    """The program's own; 128 and the number of the signal that ended it."""
    path: Path | None
    """The recording it made, the journal if there was no room for more; None if nothing was recorded."""
    report: DivergenceReport | None
    """How what was served compares; None for a program that was only recorded."""
    notes: dict[tuple[str, str], int]
    """What was noted, by kind and sentence, and how often."""
    hooked: bool
    """Whether the program loaded the hooks at all."""
    stopped: bool = False
    """Whether it was ended by a divergence, with recorded calls still to come."""
    limited: bool = False
    """Whether it was ended for making too many live calls."""
    lost: int = 0
    """Calls that could not be written down."""
    unreached: int | None = None
    """``seq`` of the call from which it was to run on, if it never came to it."""

    @property
    def diverged(self) -> bool:
        """Whether the program did something else than was recorded."""
        return self.report is not None and not self.report.ok


class ProgramRun:
    """A program that is, or will be, running.

    Args:
        answering: What its calls are answered by; it is closed when the run ends. A function makes it after the
            program was started, whose first question then waits for it.
        mode: The kind of run.
        command: What is started.
        streams: Where its standard streams go.
        output: Takes what it writes, if it has pipes.
        begun: The program, if it was started already.
    """

    def __init__(
        self,
        answering: Answering | Callable[[], Answering],
        mode: Mode,
        command: Command,
        *,
        streams: Streams = "pipes",
        output: Output | None = None,
        begun: HeadStart | None = None,
    ) -> None:
        self._answering = answering
        self._mode: Mode = mode
        self.command = command
        self._streams: Streams = streams
        self._output = output or (lambda stream, data: None)
        self._server: Server | None = None if begun is None else begun.server
        self._begun = begun
        self._process: Process | None = None if begun is None else begun.process
        self._signals = PassedOn() if begun is None else begun.signals
        self._readers: list[threading.Thread] = []
        self._result: RunResult | None = None
        self._over = threading.Event()
        self._lock = threading.Lock()

    @property
    def answering(self) -> Answering:
        """What the program's calls are answered by."""
        if not isinstance(self._answering, Answering):
            self._answering = self._answering()
        return self._answering

    @property
    def journal(self) -> Path | None:
        """The file that grows while the program runs; None for a replay."""
        tape = self.answering.tape
        return None if tape is None else tape.journal

    @property
    def events(self) -> int:
        """How many calls are on the tape so far."""
        tape = self.answering.tape
        return 0 if tape is None else tape.size

    def progress(self) -> tuple[int, int]:
        """Return how many calls were served so far, and how many ran for real."""
        return self.answering.progress()

    def start(self) -> None:
        """Start the program.

        Raises:
            StashError: It cannot be started; what was to be recorded leaves no file.
        """
        try:
            if self._server is None:
                self._server = Server(self._mode, self.command.seed)
            self._server.open()
            if self._process is None:
                self._process = self._started(self._server)
            self._server.attach(self.answering)
        except BaseException as error:
            self._abandon()
            if isinstance(error, OSError):
                raise invalid_input(
                    f"no socket for the program could be made: {error.strerror}",
                    hint="free space in the temporary folder, or name another in TMPDIR",
                ) from None
            raise
        for name in ("stdout", "stderr"):
            reader = read_output(getattr(self._process, name), lambda data, name=name: self._output(name, data))
            self._readers += [reader] if reader is not None else []

    def _started(self, server: Server) -> Process:
        variables = environment(self.command.hash_seed, self._mode, server.path, server.token, os.environ)
        if self._streams != "pipes":
            self._signals.catch()
        process = start(self.command, variables, self._streams, offline=self._mode == "replay")
        self._signals.pass_to(process)
        return process

    def stop(self) -> None:
        """Tell the program to end; it is killed if it does not within a few seconds. ``wait`` returns then."""
        if self._process is not None and self._process.poll() is None:
            self._signal(signal.SIGTERM)
            killer = threading.Timer(_PATIENCE, self._signal, (signal.SIGKILL,))
            killer.daemon = True
            killer.start()

    def wait(self) -> RunResult:
        """Wait for the program's end, and end its recording."""
        with self._lock:
            if self._result is None:
                self._result = self._waited()
            return self._result

    def _waited(self) -> RunResult:
        process, server = self._process, self._server
        if process is None or server is None:
            raise invalid_input("the program was not started", hint="call start() first")
        try:
            watch = threading.Thread(target=self._end_if_told, name="stashdbg-watch", daemon=True)
            watch.start()
            returncode = process.wait()
            self._over.set()
            stopped = self.answering.stopped.is_set()
            self.answering.stopped.set()
            for reader in self._readers:
                reader.join(_PATIENCE)
            server.drain()
            server.stop()
            return self._ended(returncode, stopped=stopped)
        finally:
            self._signals.release()

    def _end_if_told(self) -> None:
        """Stop a program that was told to end and does not: it may hang in a thread that waits for another."""
        self.answering.stopped.wait()
        if not self._over.wait(_PATIENCE):
            self.stop()

    def _ended(self, returncode: int, *, stopped: bool) -> RunResult:
        answering, tape = self.answering, self.answering.tape
        hooked = bool(answering.hellos)
        path = None
        if tape is None:
            answering.close()
        elif not hooked:
            tape.discard()
        else:
            answering.close(exit=exit_facts(returncode))
            path = tape.written
            trust.remember(path)
        notes = {} if tape is None else tape.notes
        lost = 0 if tape is None else tape.lost
        report, limited, unreached = answering.report(), answering.limited, answering.unreached()
        return RunResult(exit_code(returncode), path, report, notes, hooked, stopped, limited, lost, unreached)

    def _abandon(self) -> None:
        """Leave nothing of a run that could not begin."""
        self._signals.release()
        if self._begun is not None:
            self._begun.abandon()
        elif self._process is not None:
            self._signal(signal.SIGKILL)
            self._process.wait()
        if self._server is not None:
            self._server.stop()
        if isinstance(self._answering, Answering) and self._answering.tape is not None:
            self._answering.tape.discard()

    def _signal(self, number: signal.Signals) -> None:
        process = self._process
        if process is None or process.poll() is not None:
            return
        with suppress(OSError):
            if self._streams == "pipes":  # it leads a session of its own
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)


def not_reached(seq: int) -> StashError:
    """Return the error for a program that ended before the call from which it was to run on."""
    return invalid_input(
        f"the program ended before it came to event {seq}, so nothing ran on from there",
        hint="run the program that was recorded, as it was run then",
    )


def unhooked(command: Command) -> StashError:
    """Return the error for a program that ended without having loaded the hooks."""
    flag = isolating_flag(command.argv)
    if flag is not None:
        return isolated(flag)
    return invalid_input(
        f"nothing was recorded or served: no Python that {command.words(80)} started has loaded stashdbg's hooks",
        hint="name a Python program; one started with -I, -E or -S, or without PYTHONPATH, cannot be recorded",
    )
