"""Commitments to the values of a recording, and how far a pass over its events is: what sealing and comparing share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import TypeAlias

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import Recording
from stashdbg_core.seal.chain import commitment
from stashdbg_core.seal.whole import WholeValues
from stashdbg_core.store.events import FileEvents

Progress: TypeAlias = Callable[[int, int], object]
"""Is told now and then how many events of how many are done; what it raises passes through."""
STEP = 256
"""Events between two reports of progress."""


def value_commitment(values: WholeValues, ref: str | None, salt: bytes, number: int = -1) -> bytes:
    """Return the commitment to a value or an input: absent, missing and null are three things.

    Raises:
        StashError: It is damaged, or a piece of it is missing.
    """
    if ref is None:
        return commitment(salt, b"")
    try:
        return values.commitment(ref, salt, number)
    except StashError as error:
        if error.code is ErrorCode.NOT_FOUND and error.details.get("ref") == ref:
            return commitment(salt, b"missing " + stored_form(ref))
        raise


def blob_numbers(recording: Recording) -> Iterator[tuple[int, int]]:
    """Yield the numbers of each event's value and input in a file's table; negative where not known."""
    events = recording.events
    if not isinstance(events, FileEvents):
        return repeat((-1, -1), len(events))
    return zip(*(events.blob_column(part, 0, len(events)) for part in ("ref", "input_ref")), strict=True)
