"""``stashdbg record``: a program run as it is, and everything it asks of the outside world written down."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.console import Styled
from stashdbg.cli.options import ForceOption
from stashdbg.cli.programs import narrate_error, say
from stashdbg.cli.redaction import RulesOption

if TYPE_CHECKING:
    from stashdbg_core.redact.rule_file import RuleSet

CONTEXT = {"allow_interspersed_args": False}
"""Everything from the program's name on is the program's."""
DEFAULT_OUTPUT = "run.json"


def command(
    program: Annotated[list[str], typer.Argument(metavar="-- CMD...", help="The program and its arguments.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT", help="The file; a name that is taken becomes run-2.json."),
    ] = DEFAULT_OUTPUT,
    force: ForceOption = False,
    rules: RulesOption = None,
) -> int:
    """Run a program and record it: its model calls, requests, tools, clock and randomness. The exit code is its own."""
    from stashdbg_core.programs.runs import unhooked
    from stashdbg_core.programs.starting import record_program

    run = record_program(program, Path(output), rules=_rules(rules), force=force, say=say, streams="ours")
    run.start()
    from stashdbg_core.programs import counts  # noqa: F401 -- while the program runs there is time

    result = run.wait()
    if result.path is None:
        narrate_error(unhooked(run.command))
        return result.exit_code
    narrate_recording(result.path, result.notes)
    return result.exit_code


def _rules(rules: str | None) -> Callable[[], RuleSet] | None:
    """Return what gives the rules asked for or configured; None, quickly, where neither is so."""
    import platformdirs

    if rules is None and not os.path.exists(platformdirs.user_config_dir("stashdbg")):
        return None

    def load() -> RuleSet:
        from stashdbg_core.redact.user_rules import rule_set

        return rule_set(rules)

    return load


def narrate_recording(path: Path, notes: dict[tuple[str, str], int]) -> None:
    """Name the recording, and say in a line what is in it."""
    from stashdbg_core.programs.counts import run_counts
    from stashdbg_core.store.open import open_recording

    counts = run_counts(open_recording(path), notes)
    console.narrate(Styled("stashdbg: ", "bold"), f"{path}: {counts.words()}")
