"""A program started before anything that records it is loaded: both load at once.

A Python runs nothing of its program before it is welcomed, so it may be started before it is known whether it can be
recorded. Loads next to nothing.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the interpreter's own half of ``signal``
import _thread
import gc
import os
import sys

from stashdbg_core.programs.process.child_environment import environment, hash_seed_of
from stashdbg_core.programs.process.passed_on import PassedOn
from stashdbg_core.programs.process.python_command import is_python, isolating_flag
from stashdbg_core.programs.wire.door import Door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stashdbg_core.programs.tapes.server import Server

_SWITCH_S = 0.005
"""Python's own interval at which threads take turns."""
_QUICK_SWITCH_S = 0.0005
_BEGINNING = 16 << 10
"""Bytes for which there has to be room: a command and a few calls."""
_IGNORED = tuple(getattr(_signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(_signal, name))
"""Signals that this interpreter ignores, and a program should not."""


class Started:
    """A process that has our streams: as much of ``subprocess.Popen`` as a run needs of one.

    Args:
        pid: A child of this process, for which nobody else waits.
    """

    stdout = None
    stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._returncode: int | None = None
        self._reaping = _thread.allocate_lock()

    def poll(self) -> int | None:
        """Return how it ended, or None; never waits."""
        if self._reaping.acquire(False):  # else somebody is waiting for its end, and will know
            try:
                self._reap(os.WNOHANG)
            finally:
                self._reaping.release()
        return self._returncode

    def wait(self) -> int:
        """Wait for its end, and return how it ended."""
        with self._reaping:
            while self._returncode is None:
                self._reap(0)
            return self._returncode

    def send_signal(self, sig: int) -> None:
        """Send it a signal, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, sig)

    def _reap(self, options: int) -> None:
        if self._returncode is not None:
            return
        try:
            pid, status = os.waitpid(self.pid, options)
        except ChildProcessError:  # children are reaped by the system, as whoever started us wished: nobody can tell
            self._returncode = 0
            return
        if pid == self.pid:
            self._returncode = os.waitstatus_to_exitcode(status)


class HeadStart:
    """A program that was started to be recorded, and runs once its server is open.

    Args:
        process: The program.
        server: What welcomes it.
        signals: What reaches this process is passed on to it.
        seed: Of its random numbers, 32 bytes in hex.
    """

    def __init__(self, process: Started, server: Server, signals: PassedOn, seed: str) -> None:
        self.process = process
        self.server = server
        self.signals = signals
        self.seed = seed

    def settle(self) -> None:
        """Go on at the usual pace: what answers the program is loaded, and stays to the end."""
        gc.freeze()  # or this process would look through all of it once more when it ends
        gc.enable()
        sys.setswitchinterval(_SWITCH_S)

    def abandon(self) -> None:
        """End the program, and leave nothing of it."""
        self.signals.release()
        self.process.send_signal(_signal.SIGKILL)
        self.process.wait()
        self.server.stop()


def head_start(argv: tuple[str, ...]) -> HeadStart | None:
    """Start a program to be recorded here, with our streams.

    Returns:
        None if it is no Python that waits to be welcomed, or if anything is odd: then it is started, or refused, with
        more care.
    """
    if not is_python(argv[0]) or isolating_flag(argv) or not hasattr(os, "posix_spawnp") or not _are_open(0, 1, 2):
        return None
    try:
        door = Door()
    except OSError:
        return None
    variables = environment(hash_seed_of(os.environ), "record", door.path, door.token, os.environ)
    signals = PassedOn()
    signals.catch()
    try:
        pid = os.posix_spawnp(argv[0], argv, variables, setsigdef=_IGNORED)
    except (OSError, ValueError):
        signals.release()
        door.close()
        return None
    process = Started(pid)
    signals.pass_to(process)
    from stashdbg_core.programs.tapes.server import Server

    # What is loaded from here on is not to hold up the threads that answer.
    gc.disable()
    sys.setswitchinterval(_QUICK_SWITCH_S)
    seed = os.urandom(32).hex()
    return HeadStart(process, Server("record", seed, door), signals, seed)


def may_be_recorded(output: str) -> bool:
    """Tell whether nothing stands against recording to a file: it can be made, and no rules of the user's may fail."""
    return not any(map(os.path.exists, config_folders())) and can_begin(output)


def can_begin(output: str) -> bool:
    """Tell whether a recording to a file can begin: whether a disk is full, only trying tells."""
    if not os.path.basename(output) or (os.path.lexists(output) and not os.path.isfile(output)):
        return False  # or, with a symlink, it takes a closer look
    probe = f"{os.path.dirname(output) or os.curdir}/.stashdbg-{os.urandom(4).hex()}"
    try:
        descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:
        return False
    try:
        return os.write(descriptor, bytes(_BEGINNING)) == _BEGINNING
    except OSError:
        return False
    finally:
        os.close(descriptor)
        os.unlink(probe)


def config_folders() -> tuple[str, ...]:
    """Return where the user's settings may lie, on whichever system this is."""
    home = os.path.expanduser("~")
    usual = os.environ.get("XDG_CONFIG_HOME", "").strip() or f"{home}/.config"
    return f"{usual}/stashdbg", f"{home}/Library/Application Support/stashdbg"


def _are_open(*descriptors: int) -> bool:
    try:
        for descriptor in descriptors:
            os.fstat(descriptor)
    except OSError:
        return False
    return True
