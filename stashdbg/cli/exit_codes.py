"""What the process says to the shell: every exit code, once.

The numbers are those of BSD's ``sysexits.h`` where it has one; a script may branch on them.
"""

from __future__ import annotations

from typing import Final

from stashdbg_core.errors import ErrorCode, StashError

OK: Final = 0
DIFFERENT: Final = 1
"""The command worked and the answer is no: a difference, a divergence, a secret found, a seal that fails."""
USAGE: Final = 64
BAD_DATA: Final = 65
"""The file was read and is not what it should be."""
NO_INPUT: Final = 66
"""A file cannot be read, or cannot be written."""
INTERNAL: Final = 70
"""A bug of ours; never used for anything the user did."""
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141
"""Whoever read the output went away; what a shell reports for any program that SIGPIPE ends."""

_BY_CODE: Final = {
    ErrorCode.DIVERGENCE: DIFFERENT,
    ErrorCode.RECORDING_EXHAUSTED: DIFFERENT,
    ErrorCode.INVALID_INPUT: USAGE,
    ErrorCode.INVALID_RECORDING: BAD_DATA,
    ErrorCode.NOT_FOUND: NO_INPUT,
}


def exit_code_of(error: StashError) -> int:
    """Return the exit code that stands for an error."""
    if "errno" in error.details:
        return NO_INPUT  # the system refused a file
    return _BY_CODE[error.code]
