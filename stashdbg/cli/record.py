"""``stashdbg record``: a program run as it is, and everything it asks of the outside world written down."""

from __future__ import annotations

from typing import Annotated

import typer

from stashdbg.cli.options import ForceOption, JsonOption, output_file
from stashdbg.cli.plain_record import DEFAULT_OUTPUT
from stashdbg.cli.recording import record
from stashdbg.cli.redaction import RulesOption

CONTEXT = {"allow_interspersed_args": False}
"""Everything from the program's name on is the program's."""


def command(
    program: Annotated[list[str], typer.Argument(metavar="-- CMD...", help="The program and its arguments.")],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="The file; a name that is taken becomes run-2.json.",
            callback=output_file,
        ),
    ] = DEFAULT_OUTPUT,
    force: ForceOption = False,
    rules: RulesOption = None,
    as_json: JsonOption = False,
) -> int:
    """Run a program and record it: its model calls, requests, tools, clock and randomness. The exit code is its own.

    With --json the program's own output goes to standard error.
    """
    return record(program, output, force=force, rules=rules, as_json=as_json)
