"""Starting a program so that it records itself, as it would run without us: its streams, its terminal, its signals.

The program stands in our process group and has our terminal, so what is typed reaches it; signals sent to us alone are
passed on. Nothing is started through a shell.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any, Literal, TypeAlias

from stashdbg_core.errors import StashError, not_found
from stashdbg_core.programs.command import Command
from stashdbg_core.sanitize import shorten

CHILD = Path(__file__).parent / "child"
"""The folder that a program's Python loads."""
_OURS = "STASHDBG_"
_KEPT = frozenset({"STASHDBG_TRACEBACK"})
_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_TYPED = frozenset({"SIGINT", "SIGQUIT"})
"""Signals that a terminal sends to every process in its foreground, the program among them."""

Streams: TypeAlias = Literal["ours", "errors", "pipes"]
"""``ours``: the program has our streams; ``errors``: its output goes to our standard error; ``pipes``: it has pipes of
its own, and no input."""


def environment(command: Command, mode: str, socket: Path, token: str, base: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a program.

    Args:
        command: The program.
        mode: ``record``, ``replay`` or ``continue``: what a program does that cannot reach us depends on it.
        socket: Where its questions are answered.
        token: What it has to know.
        base: The environment it would have without us.
    """
    kept = {name: value for name, value in base.items() if not name.startswith(_OURS) or name in _KEPT}
    path = [part for part in base.get("PYTHONPATH", "").split(os.pathsep) if part and part != os.fspath(CHILD)]
    hidden = "" if "PYTHONHASHSEED" in base else "PYTHONHASHSEED"
    return kept | {
        "STASHDBG_HIDE": hidden,
        "PYTHONPATH": os.pathsep.join([os.fspath(CHILD), *path]),
        "PYTHONHASHSEED": str(command.hash_seed),
        "STASHDBG_MODE": mode,
        "STASHDBG_SOCKET": os.fspath(socket),
        "STASHDBG_TOKEN": token,
    }


def start(
    command: Command, variables: Mapping[str, str], streams: Streams, *, offline: bool = False
) -> subprocess.Popen[bytes]:
    """Start a program; ``offline``: without a network, as far as the system can do that, for all that it starts.

    Raises:
        StashError: ``ERR_NOT_FOUND``: it is not there, or cannot be run.
    """
    options: dict[str, Any] = {}
    if streams == "errors":
        options = {"stdout": 2}
    elif streams == "pipes":
        pipe = subprocess.PIPE
        options = {"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe, "start_new_session": True}

    def make() -> subprocess.Popen[bytes]:
        return subprocess.Popen(command.argv, env=dict(variables), cwd=command.cwd, **options)

    try:
        return _offline(make) if offline else make()
    except (OSError, ValueError) as error:
        raise _not_started(command, error) from None


def _offline(make: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """Start a process from a thread of which the kernel refuses connections: what it starts inherits that."""
    from concurrent.futures import ThreadPoolExecutor

    from stashdbg_core.programs.child.stash_child.seccomp import refuse_connections

    def work() -> subprocess.Popen[bytes]:
        refuse_connections()  # where it cannot, the program says so
        return make()

    with ThreadPoolExecutor(1, "stashdbg-start") as pool:
        return pool.submit(work).result()


def exit_code(returncode: int) -> int:
    """Return what a shell would say of a process: its own code, or 128 and the signal that ended it."""
    return returncode if returncode >= 0 else 128 - returncode


def exit_facts(returncode: int) -> dict[str, Any]:
    """Return ``meta.exit``: the code, or the name of the signal."""
    if returncode >= 0:
        return {"code": returncode}
    try:
        return {"signal": signal.Signals(-returncode).name}
    except ValueError:
        return {"signal": str(-returncode)}


class PassedOn:
    """Passes signals that reach this process on to a program; only the main thread can catch them."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._before: dict[signal.Signals, Any] = {}
        self._early: list[int] = []

    def catch(self) -> None:
        """Catch signals from here on; those that come before there is a program wait for it."""
        if threading.current_thread() is not threading.main_thread():
            return
        for name in _PASSED_ON:
            number = signal.Signals[name]
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:
                self._before[number] = before
                signal.signal(number, self._caught)

    def pass_to(self, process: subprocess.Popen[bytes]) -> None:
        """Pass them on to this program."""
        self._process = process
        for number in self._early:
            self._send(number)

    def release(self) -> None:
        """Let signals do what they did before."""
        for number, before in self._before.items():
            signal.signal(number, signal.SIG_DFL if before is None else before)
        self._before.clear()

    def _caught(self, number: int, _: FrameType | None) -> None:
        if self._process is None:
            self._early.append(number)
        elif signal.Signals(number).name not in _TYPED or not _is_in_foreground():
            self._send(number)  # otherwise the terminal has sent it to the program, too

    def _send(self, number: int) -> None:
        if self._process is not None:
            with suppress(OSError):
                self._process.send_signal(number)


def read_output(stream: IO[bytes] | None, take: Any) -> threading.Thread | None:
    """Hand what a program writes to ``take``, in a thread of its own."""
    if stream is None:
        return None

    def read() -> None:
        while data := os.read(stream.fileno(), 1 << 16):
            take(data)
        stream.close()

    thread = threading.Thread(target=read, name="stashdbg-output", daemon=True)
    thread.start()
    return thread


def _is_in_foreground() -> bool:
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _not_started(command: Command, error: OSError | ValueError) -> StashError:
    shown = shorten(command.argv[0], 120)
    reason = (error.strerror if isinstance(error, OSError) else None) or "the system refused"
    if isinstance(error, OSError) and error.filename == os.fspath(command.cwd):
        return not_found(
            f"cannot enter {shorten(str(command.cwd), 200)}: {reason}",
            hint="make the folder, or type the command after --",
        )
    return not_found(f"cannot run {shown}: {reason}", hint="name a program that is there, as you would in a shell")
