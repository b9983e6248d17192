"""Parts of an input that are not compared: by pointer pattern or by text pattern.

A pointer pattern is an RFC 6901 pointer in which ``*`` stands for any one segment and ``**`` for any number of them. A
compiled regular expression stands for the texts it matches, in any string. What is left out is replaced on both sides
by one mark, so that it still counts whether the part is there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_input
from stashdbg_core.sanitize import shorten

IgnorePattern: TypeAlias = "str | re.Pattern[str]"
MARK = "…"
"""What stands for an ignored part."""

_Steps: TypeAlias = tuple[str, ...]


class Ignore:
    """A set of patterns, ready to be applied.

    Raises:
        StashError: ``ERR_INVALID_INPUT`` if a pattern is neither a pointer nor a compiled text pattern.
    """

    def __init__(self, patterns: Sequence[IgnorePattern] = ()) -> None:
        if isinstance(patterns, str):
            raise invalid_input("`ignore` is a sequence of patterns, not one text", hint="write ignore=['/path']")
        self._texts = tuple(pattern for pattern in patterns if isinstance(pattern, re.Pattern))
        self._pointers = tuple(_steps(pattern) for pattern in patterns if not isinstance(pattern, re.Pattern))
        self.names = tuple(f"re:{p.pattern}" if isinstance(p, re.Pattern) else p for p in patterns)
        """The patterns as text, in the order given."""

    def __bool__(self) -> bool:
        return bool(self.names)

    def apply(self, tree: Json) -> Json:
        """Return ``tree`` with the ignored parts replaced; the input is not changed, untouched parts are shared."""
        root: list[Any] = [tree]
        pending: list[tuple[Any, Any, tuple[_Steps, ...]]] = [(root, 0, self._pointers)]
        while pending:
            holder, place, patterns = pending.pop()
            value = holder[place]
            patterns = _without_double_stars(patterns)
            if any(not pattern for pattern in patterns):
                holder[place] = MARK
            elif type(value) is str:
                for text in self._texts:
                    value = text.sub(MARK, value)
                holder[place] = value
            elif type(value) in (dict, list) and (patterns or self._texts):
                copy = value.copy()
                holder[place] = copy
                keys = list(copy) if type(copy) is dict else range(len(copy))
                pending.extend((copy, key, _after(patterns, str(key))) for key in keys)
        return root[0]


def _steps(pattern: str) -> _Steps:
    if not isinstance(pattern, str) or not pattern.startswith("/"):
        shown = shorten(pattern, 80) if isinstance(pattern, str) else type(pattern).__name__
        raise invalid_input(
            f"the ignore pattern {shown} is not a JSON pointer", hint="start it with /, or pass re.compile(…) for texts"
        )
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pattern.split("/")[1:])


def _without_double_stars(patterns: tuple[_Steps, ...]) -> tuple[_Steps, ...]:
    """Add to each pattern that starts with ``**`` the one in which it stands for nothing."""
    out = dict.fromkeys(patterns)
    todo = [pattern for pattern in patterns if pattern[:1] == ("**",)]
    while todo:
        rest = todo.pop()[1:]
        out.setdefault(rest)
        if rest[:1] == ("**",):
            todo.append(rest)
    return tuple(out)


def _after(patterns: tuple[_Steps, ...], segment: str) -> tuple[_Steps, ...]:
    """Return what is left of the patterns inside the member ``segment``."""
    out: dict[_Steps, None] = {}
    for pattern in patterns:
        if pattern and pattern[0] == "**":
            out.setdefault(pattern)
        elif pattern and pattern[0] in ("*", segment):
            out.setdefault(pattern[1:])
    return tuple(out)
