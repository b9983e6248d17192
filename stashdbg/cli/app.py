"""The process: parses the command line, runs one command, and turns whatever happens into an exit code and one line.

Nothing but an exit code leaves ``run``. An unforeseen error prints its type and place, never its text or any local
variable, for both may hold recorded secrets; ``STASHDBG_TRACEBACK=1`` prints the traceback, still without locals.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from stashdbg import __version__
from stashdbg.cli import console, exit_codes
from stashdbg.cli.group import StashGroup
from stashdbg_core.errors import ErrorCode, StashError

TRACEBACK_VARIABLE = "STASHDBG_TRACEBACK"
_NAME = "stashdbg"
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
_EPILOG = """A file instead of a command opens it: stashdbg run.json

Exit codes: 0 fine, 1 a difference or divergence, 64 usage, 65 bad data, 66 a file that cannot be read,
70 a bug of ours, 130 interrupted."""

app = typer.Typer(
    name=_NAME,
    cls=StashGroup,
    help="Step through the recorded runs of AI agents, forwards and backwards.",
    epilog=_EPILOG,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        console.line(f"{_NAME} {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    if ctx.invoked_subcommand is None:
        for text in ctx.get_help().splitlines():
            console.narrate(text)
        raise typer.Exit(exit_codes.USAGE)


def root_command() -> TyperGroup:
    """Return the root command; every command below it is still unloaded."""
    command = typer.main.get_command(app)
    assert isinstance(command, TyperGroup)
    return command


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return the exit code.

    Args:
        arguments: The words after the program's name; those of this process when None.
    """
    args = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in args[: args.index("--") if "--" in args else len(args)]
    try:
        try:
            code = _run_command(args)
        except SystemExit as wanted:  # typer's completion ends the process itself
            code = wanted.code if isinstance(wanted.code, int) else exit_codes.OK
        console.finish()
        return code
    except (console.OutputClosed, BrokenPipeError):
        console.abandon_output()
        return exit_codes.PIPE_CLOSED
    except (KeyboardInterrupt, typer.Abort):
        _flush_quietly()
        console.narrate("interrupted")
        return exit_codes.INTERRUPTED
    except StashError as error:
        return _report(_error_tree(str(error.code), error.message, error.hint), exit_codes.exit_code_of(error), as_json)
    except _UsageError as error:
        return _report(_usage_tree(error), exit_codes.USAGE, as_json)
    except OSError as error:
        where = "" if error.filename is None else f": {os.fsdecode(error.filename)}"
        message = f"{error.strerror or type(error).__name__}{where}"
        return _report(_error_tree(ErrorCode.NOT_FOUND, message), exit_codes.NO_INPUT, as_json)
    except Exception as error:  # noqa: BLE001 - the last line of defence: a traceback could show recorded secrets
        return _report(_internal_tree(error), exit_codes.INTERNAL, as_json)


def _run_command(args: list[str]) -> int:
    command = root_command()
    if os.environ.get(f"_{_NAME.upper()}_COMPLETE"):
        command.main(args, prog_name=_NAME)
        return exit_codes.OK
    try:
        with command.make_context(_NAME, args) as ctx:
            result = command.invoke(ctx)
    except typer.Exit as wanted:
        return wanted.exit_code
    return result if isinstance(result, int) else exit_codes.OK


def _error_tree(code: str, message: str, hint: str | None = None) -> dict[str, str | None]:
    return {"code": str(code), "message": message, "hint": hint}


def _report(error: dict[str, str | None], code: int, as_json: bool) -> int:
    _flush_quietly()
    if as_json:
        from stashdbg.cli.json_out import json_text

        console.narrate(json_text({"error": error}))
    else:
        parts = [str(error["message"]).rstrip("."), error["hint"]]
        console.narrate(console.Styled(f"{_NAME}: ", "error"), "; ".join(part for part in parts if part))
    return code


def _flush_quietly() -> None:
    """Let the data come before the complaint; what cannot be written is dropped, for a complaint follows anyway."""
    try:
        console.finish()
    except (console.OutputClosed, OSError):
        console.abandon_output()


def _usage_tree(error: Any) -> Any:
    ctx = getattr(error, "ctx", None)
    hint = f"`{ctx.command_path} --help` says how to use it" if ctx is not None else None
    message = str(error.format_message())
    return _error_tree(ErrorCode.INVALID_INPUT, message[:1].lower() + message[1:], hint)


def _internal_tree(error: Exception) -> Any:
    if os.environ.get(TRACEBACK_VARIABLE):
        import traceback

        for text in "".join(traceback.format_exception(error)).splitlines():
            console.narrate(text)
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = "" if frame is None else f" at {Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}"
    message = f"internal error: {type(error).__name__}{place}"
    return _error_tree(
        "ERR_INTERNAL", message, f"this is a bug in stashdbg; {TRACEBACK_VARIABLE}=1 shows the traceback"
    )
