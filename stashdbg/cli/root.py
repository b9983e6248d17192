"""The root command as the parser knows it; what the parser raises leaves here as one of our errors."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from stashdbg.cli import console, exit_codes
from stashdbg.cli.group import HELP_OPTIONS, StashGroup
from stashdbg_core import __version__
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.sanitize import shorten

NAME = "stashdbg"
_WORD_SHOWN = 60
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
_EPILOG = """A file instead of a command opens it: stashdbg run.json

Exit codes: 0 fine, 1 a difference, a divergence, a secret or a broken seal, 64 usage, 65 bad data, 66 a file that
cannot be read or written, 70 a bug of ours, 130 interrupted."""

app = typer.Typer(
    name=NAME,
    cls=StashGroup,
    help="Step through the recorded runs of AI agents, forwards and backwards.",
    epilog=_EPILOG,
    context_settings=HELP_OPTIONS,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        console.line(f"{NAME} {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    if ctx.invoked_subcommand is None:
        from stashdbg.cli.open_files import choose, has_screen

        if has_screen():
            raise typer.Exit(choose())
        for text in ctx.get_help().splitlines():
            console.narrate(text)
        raise typer.Exit(exit_codes.USAGE)


def root_command() -> TyperGroup:
    """Return the root command; every command below it is still unloaded."""
    command = typer.main.get_command(app)
    assert isinstance(command, TyperGroup)
    return command


def run_parsed(args: list[str]) -> int:
    """Parse a command line, run its command, and return the exit code.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is no command line; or what the command raises.
        KeyboardInterrupt: The user broke off at a question.
    """
    command = root_command()
    if os.environ.get(f"_{NAME.upper()}_COMPLETE"):
        command.main(args, prog_name=NAME)
        return exit_codes.OK
    try:
        with command.make_context(NAME, args) as ctx:
            result = command.invoke(ctx)
    except typer.Exit as wanted:
        return wanted.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except _UsageError as error:
        raise _usage_error(error) from None
    return result if isinstance(result, int) else exit_codes.OK


def _usage_error(error: Any) -> StashError:
    ctx = getattr(error, "ctx", None)
    hint = f"`{ctx.command_path} --help` says how to use it" if ctx is not None else None
    message = _wrong_value(error) or str(error.format_message()).rstrip(".")
    return invalid_input(message[:1].lower() + message[1:], hint=hint)


def _wrong_value(error: Any) -> str | None:
    """Return what an option takes instead of the word it was given; None where the parser's own words will do."""
    param, faults = getattr(error, "param", None), getattr(error.__cause__, "errors", None)
    if param is None or faults is None:
        return None
    fault = faults()[0]
    name, given = param.opts[0], repr(shorten(str(fault["input"]), _WORD_SHOWN))
    if fault["type"].startswith("int_"):
        return f"{name} takes a whole number, not {given}"
    if fault["type"] == "greater_than_equal":
        return f"{name} takes {fault['ctx']['ge']} or more, not {given}"
    if param.metavar and "|" in param.metavar:
        return f"{name} takes {param.metavar.replace('|', ' or ')}, not {given}"
    return None
