"""The root command: a file where a command is expected, options before it, and commands loaded when they run.

``stashdbg run.json`` means ``stashdbg open run.json``. A command's name wins over a file of that name; ``./show`` is
the file.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from stashdbg.cli.command_help import PlainCommand
from stashdbg.cli.commands import COMMANDS, DEFAULT, VALUE_OPTIONS
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.sanitize import shorten

_NAME_SHOWN = 60


class LazyCommand(TyperCommand):
    """A command known by name and one-line help; its module is imported when it gets its arguments."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Load the command and parse its arguments."""
        return load(self.name or "").make_context(info_name, args, parent=parent, **extra)


class StashGroup(TyperGroup):
    """The commands of the table, and ``open`` for everything that is a file."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in table order."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command that is not loaded yet, or None."""
        entry = COMMANDS.get(cmd_name)
        return entry and LazyCommand(cmd_name, help=entry.help, rich_markup_mode=None)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command first, then parse.

        Raises:
            StashError: ``ERR_INVALID_INPUT`` if the first word is neither a command nor a file.
        """
        own = {name for param in self.get_params(ctx) for name in (*param.opts, *param.secondary_opts)}
        if args and args[0].partition("=")[0] not in own:
            args = command_first(args)
            if args[0] == DEFAULT and not ctx.resilient_parsing:
                _refuse_unknown_word(args[1:])
        return super().parse_args(ctx, args)


def load(name: str) -> Any:
    """Import a command's module and return its typer command."""
    entry = COMMANDS[name]
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name=name, help=entry.help, cls=PlainCommand)(importlib.import_module(entry.module).command)
    return typer.main.get_command(app)


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


def _refuse_unknown_word(args: list[str]) -> None:
    place = _first_word(args)
    word = "" if place is None else args[place]
    if not word or word == "-" or "." in word or os.sep in word or os.path.lexists(word):
        return
    raise unknown_word(word)


def unknown_word(word: str) -> StashError:
    """Make the error for a word that names neither a command nor a file."""
    from difflib import get_close_matches

    near = get_close_matches(word, COMMANDS, n=2)
    hint = f"did you mean {' or '.join(near)}?" if near else "`stashdbg --help` lists the commands"
    return invalid_input(f"no file or command named '{shorten(word, _NAME_SHOWN)}'", hint=hint)
