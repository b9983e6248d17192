"""The process: parses the command line, runs one command, and turns whatever happens into an exit code and one line.

Nothing but an exit code leaves ``run``. An unforeseen error prints its type and place, never its text or any local
variable, for both may hold recorded secrets; ``STASHDBG_TRACEBACK=1`` prints the traceback, still without locals.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stashdbg.cli import console, exit_codes
from stashdbg.cli.plain_record import plain_record
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.sanitize import shorten

if TYPE_CHECKING:
    from stashdbg_core.programs.runs.head_start import HeadStart

TRACEBACK_VARIABLE = "STASHDBG_TRACEBACK"
_NAME = "stashdbg"
_NAME_SHOWN = 200


def run(arguments: Sequence[str] | None = None, begun: HeadStart | None = None) -> int:
    """Run one command line and return the exit code.

    Args:
        arguments: The words after the program's name; those of this process when None.
        begun: The program that it records, if that was started already.
    """
    args = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in args[: args.index("--") if "--" in args else len(args)]
    try:
        try:
            code = _run_command(args, begun)
        except SystemExit as wanted:  # typer's completion ends the process itself
            code = wanted.code if isinstance(wanted.code, int) else exit_codes.OK
        console.finish()
        return code
    except (console.OutputClosed, BrokenPipeError):
        console.abandon_output()
        return exit_codes.PIPE_CLOSED
    except KeyboardInterrupt:
        _flush_quietly()
        console.narrate("interrupted")
        return exit_codes.INTERRUPTED
    except StashError as error:
        return _report(_error_tree(str(error.code), error.message, error.hint), exit_codes.exit_code_of(error), as_json)
    except OSError as error:
        where = "" if error.filename is None else f": {shorten(os.fsdecode(error.filename), _NAME_SHOWN)}"
        message = f"{error.strerror or type(error).__name__}{where}"
        return _report(_error_tree(ErrorCode.NOT_FOUND, message), exit_codes.NO_INPUT, as_json)
    except Exception as error:  # noqa: BLE001 - the last line of defence: a traceback could show recorded secrets
        return _report(_internal_tree(error), exit_codes.INTERNAL, as_json)


def _run_command(args: list[str], begun: HeadStart | None) -> int:
    # The parser takes longer to import than a screen to draw or a program to start: where nothing is to be parsed,
    # it is left out.
    if not os.environ.get(f"_{_NAME.upper()}_COMPLETE"):
        from stashdbg.cli.first_word import are_files, refuse_unknown_word

        if are_files(args):
            refuse_unknown_word(args)
            from stashdbg.cli.open_files import open_files

            return open_files(args)
        plain = plain_record(args)
        if plain is not None:
            from stashdbg.cli.recording import record

            program, output, force = plain
            return record(program, output, force=force, begun=begun)
    from stashdbg.cli.root import run_parsed

    return run_parsed(args)


def _error_tree(code: str, message: str, hint: str | None = None) -> dict[str, str | None]:
    return {"code": str(code), "message": message, "hint": hint}


def _report(error: dict[str, str | None], code: int, as_json: bool) -> int:
    _flush_quietly()
    console.complain(error, as_json=as_json)
    return code


def _flush_quietly() -> None:
    """Let the data come before the complaint; what cannot be written is dropped, for a complaint follows anyway."""
    try:
        console.finish()
    except (console.OutputClosed, OSError):
        console.abandon_output()


def _internal_tree(error: Exception) -> dict[str, str | None]:
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
