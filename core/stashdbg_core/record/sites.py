"""The program's own frame that made a call: ``agent.py:42 plan``.

The nearest frame outside stashdbg, the standard library and installed packages. A frame's text is worked out once
per code object and instruction; after that a look-up is a walk over a few frames.
"""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType

_OURS = frozenset({"stashdbg", "stashdbg_core", "stashdbg_tui"})
_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
_MOST_CODES = 10_000
_MOST_FRAMES = 200


class Sites:
    """Finds call sites, remembering the code objects it has seen."""

    def __init__(self) -> None:
        # Code objects hash by their contents, which is slow; by id they must be held so that the id stays theirs.
        self._codes: dict[int, tuple[CodeType, dict[int, str] | None]] = {}

    def current(self, depth: int = 2) -> str | None:
        """Return the site of the nearest of the program's own frames, starting ``depth`` frames up."""
        codes = self._codes
        frame: FrameType | None = sys._getframe(depth)
        left = _MOST_FRAMES
        while frame is not None and left:
            code = frame.f_code
            known = codes.get(id(code))
            if known is None:
                known = self._learn(code, frame)
            texts = known[1]
            if texts is not None:
                text = texts.get(frame.f_lasti)
                if text is None:
                    text = f"{os.path.basename(code.co_filename)}:{frame.f_lineno} {_function(code)}"
                    texts[frame.f_lasti] = text
                return text
            frame = frame.f_back
            left -= 1
        return None

    def _learn(self, code: CodeType, frame: FrameType) -> tuple[CodeType, dict[int, str] | None]:
        if len(self._codes) >= _MOST_CODES:
            self._codes.clear()
        known = self._codes[id(code)] = (code, {} if _is_own(frame) else None)
        return known


def _function(code: CodeType) -> str:
    """Return the name of the function that the code is in; before Python 3.12 comprehensions have code of their own."""
    names = code.co_qualname.split(".<locals>.")
    while names[-1] in _COMPREHENSIONS and len(names) > 1:
        names.pop()
    return "<module>" if names[-1] in _COMPREHENSIONS else names[-1].rpartition(".")[2]


def _is_own(frame: FrameType) -> bool:
    """Whether a frame belongs to the program, not to Python, an installed package or stashdbg."""
    module = frame.f_globals.get("__name__")
    if isinstance(module, str) and module.partition(".")[0] in _OURS:
        return False
    file_name = frame.f_code.co_filename
    if file_name.startswith(("<frozen ", _STANDARD)):
        return False
    return not any(part in file_name for part in _INSTALLED)
