"""What the first word of a command line is: a command, a file, or a mistake; told without a parser."""

from __future__ import annotations

import os

from stashdbg.cli.commands import COMMANDS, DEFAULT, VALUE_OPTIONS
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.sanitize import shorten

_NAME_SHOWN = 60
_OPTIONS = ("--help", "--version")
"""Asked for as words by whoever comes from other tools."""


def are_files(args: list[str]) -> bool:
    """Tell whether a command line is nothing but files to open."""
    return bool(args) and args[0] not in COMMANDS and not any(word.startswith("-") for word in args)


def command_first(args: list[str]) -> list[str]:
    """Return the arguments with the command in front: the one named, options before it moved behind, or ``open``."""
    place = _first_word(args)
    if place is not None and args[place] in COMMANDS:
        return [args[place], *args[:place], *args[place + 1 :]]
    return [DEFAULT, *args]


def _first_word(args: list[str]) -> int | None:
    """Return where the first argument stands that is neither an option nor an option's value, or None."""
    skip = False
    for place, word in enumerate(args):
        if skip:
            skip = False
        elif word == "--":
            return None
        elif word in VALUE_OPTIONS:
            skip = True
        elif not word.startswith("-") or word == "-":
            return place
    return None


def refuse_unknown_word(args: list[str]) -> None:
    """Raise if the first word is no file; see ``unknown_word``."""
    place = _first_word(args)
    word = "" if place is None else args[place]
    if not word or word == "-" or "." in word or os.sep in word or os.path.lexists(word):
        return
    raise unknown_word(word)


def unknown_word(word: str) -> StashError:
    """Make the error for a word that names neither a command nor a file."""
    from difflib import get_close_matches

    from stashdbg_core.store.near_name import near_name

    file = near_name(word)
    near = get_close_matches(word, [*COMMANDS, *_OPTIONS], n=2) + ([file] if file else [])
    hint = f"did you mean {' or '.join(near)}?" if near else "`stashdbg --help` lists the commands"
    return invalid_input(f"no file or command named '{shorten(word, _NAME_SHOWN)}'", hint=hint)
