"""Commands that event loops start: what passes between them and the program goes past ``Popen``'s own streams."""

from __future__ import annotations

import _thread
import os

from . import lanes
from .recorded_process import RecordedProcess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PIPE = -1


def hook_transport(module: Any) -> None:
    """Watch what ``asyncio``'s transports read from a process, and how it ends."""
    cls = module.BaseSubprocessTransport
    received, exited = cls._pipe_data_received, cls._process_exited

    def pipe_data_received(self: Any, fd: int, data: bytes) -> None:
        watched = _watched(self)
        if watched is not None:
            watched.took(fd, data)
        received(self, fd, data)

    def process_exited(self: Any, returncode: int) -> None:
        watched = _watched(self)
        if watched is not None:
            watched.exited(returncode)
        exited(self, returncode)

    cls._pipe_data_received = lanes.like(pipe_data_received, received)
    cls._process_exited = lanes.like(process_exited, exited)


def hook_streams(module: Any) -> None:
    """Watch what the program writes to a process of ``asyncio``'s."""
    cls = module.SubprocessStreamProtocol
    made = cls.connection_made

    def connection_made(self: Any, transport: Any) -> None:
        made(self, transport)
        watched, writer = _watched(transport), self.stdin
        if watched is None or writer is None:
            return
        write = writer.write

        def write_watched(data: Any) -> None:
            watched.wrote(bytes(data))
            write(data)

        writer.write = write_watched
        writer.writelines = lambda parts: write_watched(b"".join(parts))

    cls.connection_made = lanes.like(connection_made, made)


def hook_uvloop(module: Any) -> None:
    """Have uvloop start processes as asyncio does: its own way is C code that nothing can watch."""

    async def subprocess_exec(self: Any, factory: Any, program: Any, *args: Any, **named: Any) -> Any:
        return await _start(self, factory, (program, *args), False, **named)

    async def subprocess_shell(self: Any, factory: Any, command: Any, **named: Any) -> Any:
        return await _start(self, factory, command, True, **named)

    module.Loop.subprocess_exec = lanes.like(subprocess_exec, module.Loop.subprocess_exec)
    module.Loop.subprocess_shell = lanes.like(subprocess_shell, module.Loop.subprocess_shell)


async def _start(
    loop: Any, factory: Any, args: Any, shell: bool, stdin: Any = PIPE, stdout: Any = PIPE, stderr: Any = PIPE,
    bufsize: int = 0, **named: Any,
) -> Any:  # fmt: skip
    from asyncio import unix_events

    for name in ("universal_newlines", "shell", "encoding", "errors", "text"):
        if named.pop(name, None):
            raise ValueError("%s must not be set" % name)
    protocol, waiter = factory(), loop.create_future()
    cls: Any = unix_events._UnixSubprocessTransport  # type: ignore[attr-defined]
    transport = cls(loop, protocol, args, shell, stdin, stdout, stderr, bufsize, waiter=waiter, **named)
    _thread.start_new_thread(_wait, (loop, transport, transport.get_pid()))
    try:
        await waiter
    except BaseException:
        transport.close()
        await transport._wait()
        raise
    return transport, protocol


def _wait(loop: Any, transport: Any, pid: int) -> None:
    try:
        _, status = os.waitpid(pid, 0)
        returncode = -(status & 0x7F) if status & 0x7F else status >> 8
    except ChildProcessError:  # somebody else has waited for it
        returncode = 255
    try:
        loop.call_soon_threadsafe(transport._process_exited, returncode)
    except RuntimeError:  # the loop is closed
        return


def _watched(transport: Any) -> RecordedProcess | None:
    watched = getattr(getattr(transport, "_proc", None), "__dict__", {}).get("_stashdbg")
    return watched if isinstance(watched, RecordedProcess) else None
