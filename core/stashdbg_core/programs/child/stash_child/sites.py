"""The program's own frame that made a call: ``agent.py:42 plan``.

A frame is the program's own unless it is in the standard library, in an installed package, or ours; a package that is
run as the program (``python -m package``) is its own wherever it is installed.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARY = os.path.dirname(os.path.dirname(os.path.dirname(_OURS[:-1]))) + os.sep
"""The library that this folder belongs to, should the program use it: installed, even where it is edited in place."""
_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_PASSED_OVER = ("random", "uuid", "secrets", "os")
_MOST_CODES = 10_000
_MOST_FRAMES = 300

OWN, LIBRARY, OURS = "own", "library", "ours"
_LONGEST_SCRIPT = 2000
_scripts: dict[str, set[str]] = {}
_codes: dict[int, tuple[CodeType, str]] = {}


def site(depth: int = 1) -> str | None:
    """Return the nearest of the program's own frames as text, or None."""
    frame = own_frame(sys._getframe(depth))
    return None if frame is None else text_of(frame)


def own_frame(frame: FrameType | None) -> FrameType | None:
    """Return the nearest of the program's own frames, this one or one that called it."""
    for _ in range(_MOST_FRAMES):
        if frame is None or is_own_frame(frame):
            return frame
        frame = frame.f_back
    return None


def is_own_frame(frame: FrameType) -> bool:
    """Tell whether a frame is the program's own code."""
    return _kind(frame) == OWN


def drawn_by(frame: FrameType | None) -> tuple[str | None, bool]:
    """Return for whom a random value is drawn: the site, and whether it is a library that draws it."""
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return None, True
        kind = _kind(frame)
        if kind == OWN:
            return text_of(frame), False
        if kind == LIBRARY and frame.f_globals.get("__name__") not in _PASSED_OVER:
            found = own_frame(frame.f_back)
            return (None if found is None else text_of(found)), True
        frame = frame.f_back
    return None, True


def text_of(frame: FrameType) -> str:
    """Return ``file:line function`` of a frame."""
    code = frame.f_code
    name = code.co_name
    holder = frame.f_back
    while name in _COMPREHENSIONS and holder is not None and holder.f_code.co_filename == code.co_filename:
        name, holder = holder.f_code.co_name, holder.f_back
    if name in _COMPREHENSIONS:
        name = "<module>"
    return "%s:%d %s" % (os.path.basename(code.co_filename)[-200:], frame.f_lineno or 0, name[-200:])


def _kind(frame: FrameType) -> str:
    code = frame.f_code
    known = _codes.get(id(code))  # by identity: code objects compare by content, which is slow
    if known is None:
        if len(_codes) >= _MOST_CODES:
            _codes.clear()
        known = _codes[id(code)] = (code, _kind_of(code.co_filename, frame))
    return known[1]


def _kind_of(file_name: str, frame: FrameType) -> str:
    if file_name.startswith("<"):
        module = frame.f_globals.get("__name__")
        if file_name.startswith("<frozen "):
            return LIBRARY
        if module == "__main__":
            return OWN
        file_name = str(frame.f_globals.get("__file__") or "")
        if not file_name:
            return LIBRARY
    file_name = os.path.abspath(file_name) if not os.path.isabs(file_name) else file_name
    if file_name.startswith(_OURS):
        return OURS
    if file_name.startswith(_LIBRARY):
        return LIBRARY
    if any(part in file_name for part in _INSTALLED):
        return OWN if _is_run_as_program(frame) else LIBRARY
    return LIBRARY if file_name.startswith(_STANDARD) else OWN


def _is_run_as_program(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__")
    return name == "__main__" or (isinstance(name, str) and name.partition(".")[0] in _program_packages())


def _program_packages() -> set[str]:
    """Return the packages that are the program: run by ``python -m``, or by the script that pip made for them."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return {str(spec.parent or spec.name).partition(".")[0]}
    script = getattr(main, "__file__", None) or ""
    if os.path.dirname(script) not in (os.path.join(sys.prefix, "bin"), os.path.join(sys.prefix, "Scripts")):
        return set()
    if script not in _scripts:
        _scripts[script] = {line.split()[1].partition(".")[0] for line in _lines(script) if line.startswith("from ")}
    return _scripts[script]


def _lines(script: str) -> list[str]:
    try:
        with open(script, encoding="utf-8") as file:
            return file.read(_LONGEST_SCRIPT).splitlines()
    except (OSError, ValueError):
        return []
