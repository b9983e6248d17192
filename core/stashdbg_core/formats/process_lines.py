"""What a process that converts a file says to the one that started it: lines on its standard output.

Digits are how many bytes it has read; ``!`` begins an error. A process may say more than that in lines of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.store.limits import Limits

Progress: TypeAlias = Callable[[int, int], object]
"""Is told now and then how many bytes of how many were read."""


def command(module: str, source: Path, run: int, out: Path, limits: Limits) -> Sequence[str]:
    """Return the command of a process that reads one run of a file into another."""
    settings = [f"{name}={getattr(limits, name)}" for name in limits.__slots__]
    return [sys.executable, "-P", "-m", module, str(source), str(run), str(out), *settings]


def say(line: str) -> None:
    """Say a line, at once."""
    sys.stdout.buffer.write(f"{line}\n".encode())
    sys.stdout.buffer.flush()


def say_failure(error: StashError | OSError) -> None:
    """Say what went wrong."""
    if isinstance(error, StashError):
        told = [str(error.code), error.message, error.hint]
    else:
        told = [ErrorCode.NOT_FOUND.value, error.strerror or "it cannot be written", None]
    say("!" + stored_form(told).decode())


def failure_in(line: bytes) -> StashError | None:
    """Return the error that a line tells of; None if it tells of none."""
    if not line.startswith(b"!"):
        return None
    code, message, hint = msgspec.json.decode(line[1:], type=tuple[str, str, str | None])
    return StashError(message, code=ErrorCode(code), hint=hint)
