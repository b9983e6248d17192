"""The root command: a file where a command is expected, options before it, and commands loaded when they run.

``stashdbg run.json`` means ``stashdbg open run.json``. A command's name wins over a file of that name; ``./show`` is
the file.
"""

from __future__ import annotations

import importlib
from itertools import groupby
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from stashdbg.cli.command_help import PlainCommand
from stashdbg.cli.commands import COMMANDS, DEFAULT
from stashdbg.cli.first_word import command_first, refuse_unknown_word

HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}
"""Settings of every command."""


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

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under the headings of their groups."""
        width = max(map(len, COMMANDS))
        for title, members in groupby(COMMANDS.items(), key=lambda item: item[1].group):
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), entry.help) for name, entry in members])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command first, then parse.

        Raises:
            StashError: ``ERR_INVALID_INPUT`` if the first word is neither a command nor a file.
        """
        own = {name for param in self.get_params(ctx) for name in (*param.opts, *param.secondary_opts)}
        if args and args[0].partition("=")[0] not in own:
            args = command_first(args)
            if args[0] == DEFAULT and not ctx.resilient_parsing:
                refuse_unknown_word(args[1:])
        return super().parse_args(ctx, args)


def load(name: str) -> Any:
    """Import a command's module and return its typer command."""
    entry = COMMANDS[name]
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    module = importlib.import_module(entry.module)
    settings = {**HELP_OPTIONS, **getattr(module, "CONTEXT", {})}
    app.command(name=name, help=entry.help, cls=PlainCommand, context_settings=settings)(module.command)
    command = typer.main.get_command(app)
    assert isinstance(command, PlainCommand)
    command.examples = entry.examples
    return command
