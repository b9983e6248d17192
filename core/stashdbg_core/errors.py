"""The one error type of stashdbg.

There is no class hierarchy to catch by: branch on ``StashError.code``, never on the message. A message is one
sentence that says what is wrong and where; ``hint`` says what to do about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeGuard


class ErrorCode(StrEnum):
    """Why an operation failed; stable across releases."""

    DIVERGENCE = "ERR_DIVERGENCE"
    """A replay saw a call that does not match the recording."""
    RECORDING_EXHAUSTED = "ERR_RECORDING_EXHAUSTED"
    """A replay asked for a call beyond the recorded ones, with no live tail."""
    INVALID_RECORDING = "ERR_INVALID_RECORDING"
    """A file or object is not a recording, or breaks a limit."""
    INVALID_INPUT = "ERR_INVALID_INPUT"
    """A malformed argument, option or value."""
    NOT_FOUND = "ERR_NOT_FOUND"
    """A missing or unreadable file, blob, event or program."""


class StashError(Exception):
    """What stashdbg raises on purpose.

    Args:
        message: One sentence for people: what is wrong and where.
        code: The stable reason.
        hint: One sentence: what to do about it.
        details: Machine-readable facts (JSON types); safe to log, holds no recorded secrets.
    """

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode,
        hint: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.details: Mapping[str, Any] = MappingProxyType(dict(details or {}))


def is_stash_error(value: object) -> TypeGuard[StashError]:
    """Tell whether ``value`` is an error raised by stashdbg on purpose."""
    return isinstance(value, StashError)


def invalid_recording(message: str, *, hint: str | None = None, **details: Any) -> StashError:
    """Make the error for a file or object that is not a usable recording."""
    return StashError(message, code=ErrorCode.INVALID_RECORDING, hint=hint, details=details)


def invalid_input(message: str, *, hint: str | None = None, **details: Any) -> StashError:
    """Make the error for a malformed argument, option or value."""
    return StashError(message, code=ErrorCode.INVALID_INPUT, hint=hint, details=details)


def not_found(message: str, *, hint: str | None = None, **details: Any) -> StashError:
    """Make the error for a missing or unreadable file, blob, event or program."""
    return StashError(message, code=ErrorCode.NOT_FOUND, hint=hint, details=details)
