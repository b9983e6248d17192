"""The tape behind whatever an interceptor is given."""

from __future__ import annotations

from typing import Protocol, cast

from stashdbg_core.calls import Tape
from stashdbg_core.errors import invalid_input


class HasTape(Protocol):
    """A façade over a tape, such as ``Stash``."""

    @property
    def tape(self) -> Tape:
        """The tape that answers calls."""
        ...


def tape_of(stash: Tape | HasTape) -> Tape:
    """Return the tape of a façade, or the tape itself.

    Raises:
        StashError: ``ERR_INVALID_INPUT`` if it is neither.
    """
    tape = getattr(stash, "tape", stash)
    if not hasattr(tape, "call_async"):
        raise invalid_input(
            f"an interceptor needs a stash, a recorder or a replayer, not a {type(stash).__name__}",
            hint="give the object that create_stash() or Stash.record() returned",
        )
    return cast(Tape, tape)
