"""A program that becomes another Python by ``os.exec…``, as launchers do and programs that start themselves anew.

It stays in its process and lane, so it is recorded on, and runs again on replay. What becomes anything else is the
guard's business.
"""

from __future__ import annotations

import os

from . import calls, guard, lanes, real
from .command_lines import environment_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NAMES = ("python", "pypy")
_FIRST_LINE = 256
_ISOLATES = "IES"
_WITH_VALUE = "WXcm"


def execv(original: Any, path: Any, argv: Any) -> None:
    """Do as ``os.execv``, the ``original``, and let what follows be recorded too."""
    if _is_hooked_python(path, argv):
        _become(real.execve, path, argv, os.environ)
    else:
        guard.watch()
        original(path, argv)


def execve(original: Any, path: Any, argv: Any, env: Any) -> None:
    """Do as ``os.execve``, the ``original``, and let what follows be recorded too."""
    if _is_hooked_python(path, argv):
        _become(original, path, argv, env)
    else:
        guard.watch()
        original(path, argv, env)


def _become(become: Any, path: Any, argv: Any, env: Any) -> None:
    link = calls.link()
    made = environment_for(env, None if link is None else link.parent, lanes.process())
    with calls.running():
        become(path, argv, made)


def _is_hooked_python(path: Any, argv: Any) -> bool:
    """Tell whether this will be a Python that loads the hooks, or nothing at all, as where a name is searched for."""
    if calls.inside() or isinstance(path, int):
        return False
    try:
        words = [os.fsdecode(word) for word in argv][1:]
        return not os.path.exists(path) or (_is_python(path) and not _is_isolated(words))
    except (TypeError, ValueError):
        return False


def _is_python(path: Any) -> bool:
    """Tell whether a file is a Python, or a script that says it is run by one."""
    if _has_its_name(os.fsdecode(path)):
        return True
    try:
        with open(path, "rb", buffering=0) as file:
            first = os.fsdecode(file.read(_FIRST_LINE)).split("\n", 1)[0]
    except OSError:
        return False
    words = first[2:].split() if first.startswith("#!") else []
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return bool(words) and _has_its_name(words[0]) and not _is_isolated(words[1:])


def _has_its_name(word: str) -> bool:
    name = os.path.basename(word)
    start = next((start for start in _NAMES if name.startswith(start)), None)
    return start is not None and all(letter in "0123456789." for letter in name[len(start) :])


def _is_isolated(words: list[str]) -> bool:
    """Tell whether options keep the hooks out; ``words`` follow the name of a Python."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-" or word.startswith("--"):
            return False
        for place, letter in enumerate(word[1:], 1):
            if letter in _ISOLATES:
                return True
            if letter in "cm":
                return False
            if letter in _WITH_VALUE:
                if place == len(word) - 1:
                    next(rest, None)
                break
    return False
