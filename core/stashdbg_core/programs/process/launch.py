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
from typing import IO, Any, Literal, TypeAlias

from stashdbg_core.errors import StashError, not_found
from stashdbg_core.programs.process.command import Command
from stashdbg_core.sanitize import shorten

Streams: TypeAlias = Literal["ours", "errors", "pipes"]
"""``ours``: the program has our streams; ``errors``: its output goes to our standard error; ``pipes``: it has pipes of
its own, and no input."""


def start(
    command: Command, variables: Mapping[str, str], streams: Streams, *, offline: bool = False
) -> subprocess.Popen[bytes]:
    """Start a program; ``offline``: without a network, as far as the system can do that, for all that it starts.

    Raises:
        StashError: ``ERR_NOT_FOUND``: it is not there, or cannot be run.
    """
    options: dict[str, Any] = {"close_fds": streams == "pipes"}  # else it has what a shell would hand it
    if streams == "errors":
        options["stdout"] = 2
    elif streams == "pipes":
        pipe = subprocess.PIPE
        options |= {"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe, "start_new_session": True}

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


def _not_started(command: Command, error: OSError | ValueError) -> StashError:
    shown = shorten(command.argv[0], 120)
    reason = (error.strerror if isinstance(error, OSError) else None) or "the system refused"
    if isinstance(error, OSError) and error.filename == os.fspath(command.cwd):
        return not_found(
            f"cannot enter {shorten(str(command.cwd), 200)}: {reason}",
            hint="make the folder, or type the command after --",
        )
    return not_found(f"cannot run {shown}: {reason}", hint="name a program that is there, as you would in a shell")
