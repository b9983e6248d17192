"""What a recorded call gave: the value to return, the exception to raise or the stream to play.

Whatever cannot be served as it was raises a ``StashError`` that names event and reference; nothing is made up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import ErrorCode, StashError, invalid_recording
from stashdbg_core.model import RETURN, THROW, RecordedEvent, Recording
from stashdbg_core.replay.divergence import call_name
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.sharing_tags import names_tag
from stashdbg_core.tags import DROPPED, PENDING, STREAM, TAG, UNSTORABLE
from stashdbg_core.values import StreamRecord, TypeRegistry, decode_exception, decode_stored, decode_value

_NOT_STORED = {DROPPED: "was dropped by a redact function", UNSTORABLE: "could not be stored"}


class Raised:
    """The recorded outcome is an exception."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Outcomes:
    """Reads outcomes of one recording."""

    def __init__(self, recording: Recording, types: TypeRegistry | None) -> None:
        self._blobs = recording.blobs
        self._types = types if types is not None else TypeRegistry()
        self._with_types: dict[type[Any], TypeRegistry] = {}

    def read(self, event: RecordedEvent, returns: type[Any] | None = None) -> Any:
        """Return a fresh value, a ``StreamRecord`` or a ``Raised``.

        Args:
            event: The recorded call.
            returns: A class to rebuild as if it were registered.

        Raises:
            StashError: The outcome is missing, damaged, of an unknown kind, was not stored, or never came to be.
        """
        if event.damage is not None:
            raise invalid_recording(f"{event_name(event)} is damaged: {shorten(event.damage, 120)}", seq=event.seq)
        if event.outcome not in (RETURN, THROW):
            raise _refused(event, f"it ended as {shorten(event.outcome, 40)!r}, which is neither a value nor an error")
        try:
            text = self._blobs.text(event.ref)
            if event.outcome == RETURN and not names_tag(text):
                return decode_stored(text)
            tree = self._blobs.tree(event.ref)
        except StashError as problem:
            raise _refused(event, problem.message, code=problem.code, hint=problem.hint) from None
        tag = tree.get(TAG) if type(tree) is dict else None
        if tag == STREAM:
            return self._decoded(event, lambda: StreamRecord.from_tree(tree))
        if event.outcome == RETURN:
            return self._decoded(event, lambda: decode_value(tree, types=self._types_with(returns)))
        if tag == PENDING:
            raise StashError(
                f"{event_name(event)} never finished in the recording",
                code=ErrorCode.RECORDING_EXHAUSTED,
                hint="the recorded run was cut short here; replay with live_tail=True to run on for real",
                details={"seq": event.seq, "ref": event.ref},
            )
        if tag in _NOT_STORED:
            raise _refused(event, f"its error {_NOT_STORED[tag]}")
        return Raised(decode_exception(tree, self._types))

    def chunk(self, event: RecordedEvent, tree: Json, returns: type[Any] | None = None) -> Any:
        """Return one chunk, or the value a stream returned, as a fresh object.

        Raises:
            StashError: It was not stored.
        """
        return self._decoded(event, lambda: decode_value(tree, types=self._types_with(returns)))

    def error(self, tree: Json) -> BaseException:
        """Return the exception that ended a stream."""
        return decode_exception(tree, self._types)

    def _types_with(self, returns: type[Any] | None) -> TypeRegistry:
        if returns is None:
            return self._types
        types = self._with_types.get(returns)
        if types is None:
            types = self._with_types[returns] = self._types.with_types(returns)
        return types

    def _decoded(self, event: RecordedEvent, decode: Callable[[], Any]) -> Any:
        try:
            return decode()
        except StashError as problem:
            raise _refused(event, problem.message, code=problem.code, hint=problem.hint) from None


def event_name(event: RecordedEvent) -> str:
    """Return an event's place and name for a message."""
    return f"seq {event.seq} {call_name(event.channel, event.key)} #{event.ordinal}"


def _refused(
    event: RecordedEvent, why: str, *, code: ErrorCode = ErrorCode.INVALID_RECORDING, hint: str | None = None
) -> StashError:
    return StashError(
        f"{event_name(event)} cannot be replayed: {why}",
        code=code,
        hint=hint,
        details={"seq": event.seq, "ref": shorten(event.ref, 100)},
    )
