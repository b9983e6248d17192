"""What a command line says about the Python it starts: whether it is one, and whether it lets itself be recorded.

Loads nothing: it is asked before anything else is loaded.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMES = ("python", "pypy")
_WITH_VALUE = frozenset("WXcm")


def is_python(word: str) -> bool:
    """Tell whether a program's name is that of a Python: ``python3.12``, ``/opt/bin/pypy3``, ``python.exe``."""
    name = os.path.basename(word).lower().removesuffix(".exe")
    start = next((start for start in _NAMES if name.startswith(start)), None)
    return start is not None and all(letter in "0123456789." for letter in name[len(start) :])


def isolating_flag(argv: Sequence[str]) -> str | None:
    """Return the option by which a Python command keeps the hooks out: ``-I``, ``-E`` or ``-S``; or None."""
    words = list(argv)
    if words and os.path.basename(words[0]) == "env":
        words = words[1:]
        while words and ("=" in words[0] or words[0].startswith("-")):
            words = words[1:]
    if not words or not is_python(words[0]):
        return None
    rest = iter(words[1:])
    for word in rest:
        if not word.startswith("-") or word in ("-", "--") or word.startswith("--"):
            return None
        for place, letter in enumerate(word[1:], 1):
            if letter in "IES":
                return f"-{letter}"
            if letter in "cm":
                return None
            if letter in _WITH_VALUE:
                if place == len(word) - 1:
                    next(rest, None)
                break
    return None
