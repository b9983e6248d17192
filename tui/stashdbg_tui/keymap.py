"""The user's own keys: a TOML file of command ids and keys.

    "step.forward" = "n"
    "help" = ["question_mark", "f2"]

``preset = "pdb"`` before them starts from the keys of that debugger; lines of the file go before it.

An id that is none, a key that means two things in one place, a key that no terminal sends: each is named, and that
line alone is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stashdbg_core.sanitize import shorten
from stashdbg_tui.commands import COMMANDS, Command

_LARGEST = 100_000
_UNSENT = frozenset({"ctrl+j", "ctrl+m", "ctrl+i", "ctrl+h", "ctrl+left_square_bracket", "escape"})
"""Keys that terminals send as others, or that always close something."""
_SIGNS = {
    ".": "full_stop", ";": "semicolon", ":": "colon", "/": "slash", "?": "question_mark", "'": "apostrophe",
    "[": "left_square_bracket", "]": "right_square_bracket", "=": "equals_sign", "!": "exclamation_mark",
    "&": "ampersand", "$": "dollar_sign", "-": "minus", "+": "plus", ",": "comma", " ": "space",
    "(": "left_parenthesis", ")": "right_parenthesis",
}  # fmt: skip
_SCREENS: Mapping[str, str] = {
    "timeline": "main", "inspector": "main", "panel": "main", "diff-rows": "diff", "diff-text": "diff",
}  # fmt: skip
"""The screen of each pane, by scope."""
PRESETS: Mapping[str, Mapping[str, str]] = {
    "pdb": {
        "step.over": "n,J",
        "step.over_back": "N,K",
        "run.return": "r",
        "program.run": "ctrl+r",
        "hit.next": "full_stop",
        "hit.previous": "comma",
        "recentre": "ctrl+l",
    },
}
"""Keys by id, of other debuggers: pdb and, for searching, pudb; `s`, `c`, `b` and `q` are as there anyway."""


def keymap_path() -> Path:
    """Return where the file lies."""
    from platformdirs import user_config_path

    return user_config_path("stashdbg", appauthor=False) / "keys.toml"


def read_keymap(path: Path) -> tuple[dict[str, str], list[str]]:
    """Return the keys of a file by id as Textual takes them, and what is wrong with it; a missing file is empty."""
    try:
        with open(path, "rb") as file:
            text = file.read(_LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}, []
    except OSError as failure:
        return {}, [f"{shorten(str(path), 120)} cannot be read: {failure.strerror}"]
    if len(text) > _LARGEST:
        return {}, [f"{shorten(str(path), 120)} is too large for a list of keys"]
    import tomllib  # most people have no keymap

    try:
        wanted = tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as failure:
        return {}, [f"{shorten(str(path), 120)} is not TOML: {shorten(str(failure), 120)}"]
    preset = wanted.pop("preset", None)
    return checked(wanted.get("keys", wanted), preset)


def checked(wanted: object, preset: object = None) -> tuple[dict[str, str], list[str]]:
    """Return the lines that can be taken, after those of a preset, and what is wrong with the others."""
    if preset is not None and (not isinstance(preset, str) or preset not in PRESETS):
        said = f"no preset is called {shorten(str(preset), 40)}; there is {', '.join(PRESETS)}"
        taken, others = checked(wanted)
        return taken, [said, *others]
    base = PRESETS[preset] if isinstance(preset, str) else {}
    if not isinstance(wanted, dict):
        return dict(base), ["keys has to be a table of command ids"]
    known = {entry.id: entry for entry in COMMANDS}
    found: dict[str, str] = {}
    problems: list[str] = []
    for name, keys in wanted.items():
        listed = [keys] if isinstance(keys, str) else keys
        if name not in known:
            problems.append(f"no command is called {shorten(name, 40)}; `stashdbg keys` lists them")
        elif not isinstance(listed, list) or not all(isinstance(key, str) and key.strip() for key in listed):
            problems.append(f"the keys of {name} have to be a text or a list of texts")
        elif bad := [key for key in listed if _textual(key) in _UNSENT]:
            problems.append(f"{name}: terminals cannot tell {shorten(bad[0], 20)} from another key")
        else:
            found[name] = ",".join(_textual(key) for key in listed)
    clashes = _clashes(known, base, found)
    for name, key, other in clashes:
        found.pop(name, None)
        problems.append(f"{name}: {shorten(key, 20)} is taken by {other}")
    return {**base, **found}, problems


def _textual(key: str) -> str:
    return _SIGNS.get(key, key.strip()) if len(key) == 1 else key.strip()


def _clashes(
    known: Mapping[str, Command], base: Mapping[str, str], found: Mapping[str, str]
) -> list[tuple[str, str, str]]:
    """Return the commands remapped by a person whose key another one has where both count."""
    mapped = {name: text.split(",") for name, text in {**base, **found}.items()}
    keys = {entry.id: {*mapped.get(entry.id, entry.keys), *entry.fixed} for entry in known.values()}
    return [
        (name, key, other.id)
        for name in found
        for other in known.values()
        if other.id != name and _meet(known[name], other)
        for key in sorted(keys[name] & keys[other.id])
    ]


def _meet(one: Command, other: Command) -> bool:
    """Whether both can be pressed in one place: everywhere, on the same screen, or in a pane of it."""
    scopes = one.scope, other.scope
    return one.scope == other.scope or "app" in scopes or any(_SCREENS.get(scope) in scopes for scope in scopes)
