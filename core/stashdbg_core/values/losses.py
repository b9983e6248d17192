"""What could not be stored, and the stand-in that says so.

Nothing is lost without a word: wherever a value could not be stored, the tree holds an ``unstorable`` tag, and a
``Loss`` names the place, the type and the reason. A stand-in holds no ``repr``, which differs from process to
process.
"""

from __future__ import annotations

from dataclasses import dataclass

from stashdbg_core.canonical import Json
from stashdbg_core.tags import TAG, UNSTORABLE

_LISTED = 100
"""So many losses of one value are listed; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One place where a value could not be stored."""

    pointer: str
    """RFC 6901 pointer into the stored tree."""
    type_name: str
    """``module:Qualname`` of what stood there."""
    reason: str
    """Why, as an English clause."""


class Losses:
    """The losses of one value, in order; ``mark`` and ``back_to`` take a part of them back."""

    __slots__ = ("_listed", "count")

    def __init__(self) -> None:
        self._listed: list[Loss] = []
        self.count = 0

    def add(self, loss: Loss) -> None:
        """Take down one more loss."""
        self.count += 1
        if len(self._listed) < _LISTED:
            self._listed.append(loss)

    def back_to(self, count: int) -> bool:
        """Forget every loss after the first ``count``; tell whether there was one."""
        if self.count == count:
            return False
        del self._listed[count:]
        self.count = count
        return True

    def listed(self) -> tuple[Loss, ...]:
        """Return the losses, the last one telling how many more there are if they are many."""
        more = self.count - len(self._listed)
        return (*self._listed, Loss("", "", f"{more:,} more losses")) if more else tuple(self._listed)


def stand_in(type_name: str, reason: str, shown: Json = None) -> Json:
    """Return the tree that stands where a value could not be stored; replaying it raises."""
    tag = {TAG: UNSTORABLE, "class": type_name, "reason": reason}
    if shown is not None:
        tag["shown"] = shown
    return tag


def pointer_of(path: list[str | int | tuple[str | int, ...]]) -> str:
    """Return the RFC 6901 pointer of the steps in ``path``."""
    out: list[str] = []
    for step in path:
        parts = step if type(step) is tuple else (step,)
        out.extend("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return "".join(out)
