"""``stashdbg sweep``: one fork run many times, and a table of which runs ended alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from stashdbg.cli import console, exit_codes
from stashdbg.cli.console import Styled
from stashdbg.cli.experiments import (
    MAX_CALLS,
    DryRunOption,
    FolderOption,
    JobsOption,
    MaxCallsOption,
    RerunOption,
    SecretOption,
    YesOption,
    agreed,
    checked_jobs,
    clip,
    folder_of,
    progress_of,
    run_numbers,
    settings_of,
    show_plan,
)
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import load_recording
from stashdbg.cli.options import FileArgument, JsonOption, LimitOption
from stashdbg.cli.program_words import narrate_error
from stashdbg.cli.programs import CommandArgument, IgnoreOption
from stashdbg.cli.redaction import RulesOption
from stashdbg_core.errors import invalid_input

if TYPE_CHECKING:
    from stashdbg_core.canonical import Json
    from stashdbg_core.programs.experiments.sweep import Sweep

_RUNS = 16
_VALUE = 60
_STATES = {"ended": "", "stopped": "stopped: ", "limited": "ended by --max-calls: ", "parted": "not as recorded: "}


def command(
    file: FileArgument,
    program: CommandArgument = None,
    values: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="JSON", help="A value for the fork's point in place of its own; repeatable."),
    ] = None,
    value_file: Annotated[
        str | None, typer.Option("--values", metavar="FILE", help="A JSON file with a list of such values.")
    ] = None,
    times: Annotated[int, typer.Option("--times", metavar="N", help="How often each value, or the fork, is run.")] = 1,
    jobs: JobsOption = None,
    output: FolderOption = None,
    rerun: RerunOption = None,
    secret: SecretOption = None,
    max_calls: MaxCallsOption = MAX_CALLS,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    ignore: IgnoreOption = None,
    rules: RulesOption = None,
    as_json: JsonOption = False,
    limit: LimitOption = None,
) -> int:
    """Run a fork on many times, each as `continue` does, and group the runs that end alike, the largest group first."""
    from stashdbg_core.programs.experiments.sweep import plan_sweep, sweep
    from stashdbg_core.programs.experiments.trials import Trials
    from stashdbg_core.programs.runs.rerunning import command_of

    folder = folder_of(file, output, "sweep")
    trials = Trials(jobs=checked_jobs(jobs))
    recording = load_recording(file, limit)
    settings = settings_of(rerun, secret, max_calls, ignore, rules)
    plan = plan_sweep(
        recording,
        command_of(recording, program or ()),
        values=_values(values, value_file),
        times=times,
        rerun=settings.rerun,
        filled=tuple(settings.secrets.placeholders) if settings.secrets else (),
    )
    if dry_run:
        return show_plan(plan, as_json=as_json)
    if not yes and not agreed(plan.lines()):
        return exit_codes.OK
    with progress_of("running") as progress:
        found = sweep(plan, folder, trials=trials, progress=progress, settings=settings)
    return _ended(found, as_json=as_json)


def _values(given: list[str] | None, value_file: str | None) -> list[Json]:
    from stashdbg.cli.values_given import tree_of_file, tree_of_json

    values = [tree_of_json(text) for text in given or ()]
    if value_file is not None:
        listed = tree_of_file(value_file)
        if not isinstance(listed, list) or not listed:
            raise invalid_input("--values takes a file with a JSON list of values", hint='such as ["yes", "no"]')
        values += listed
    return values


def _ended(found: Sweep, *, as_json: bool) -> int:
    from stashdbg_core.programs.runs.program_run import unhooked

    silent = [run for run in found.runs if run.path is None]
    if silent:
        narrate_error(unhooked(found.plan.command))
    if as_json:
        console.ascii_text(json_text(found.to_json()) + "\n")
    else:
        _table(found)
    ended = f"{len(found.runs)} of {found.plan.total} runs, kept in {found.folder}"
    console.narrate(Styled("stashdbg: ", "bold"), ended)
    if found.interrupted:
        console.narrate("interrupted: the runs that had not ended were stopped")
        return exit_codes.INTERRUPTED
    cut = any(run.ending.state in ("parted", "limited") for run in found.runs)
    return exit_codes.DIFFERENT if silent or cut else exit_codes.OK


def _table(found: Sweep) -> None:
    from stashdbg_core.diff.preview import preview

    rows = [["count", "exit", "tokens in", "out", "runs", "ending"]]
    for group in found.groups:
        first, usage = group.runs[0], group.usage
        state = _STATES[first.ending.state]
        rows.append(
            [
                f"{len(group.runs):,}",
                str(first.ending.exit_code),
                f"{usage.input:,}",
                f"{usage.output:,}",
                clip(run_numbers(group.numbers), _RUNS),
                f"{state}{first.line}",
            ]
        )
    widths = [max(len(row[at]) for row in rows) for at in range(5)]
    for number, row in enumerate(rows):
        cells = [
            cell.ljust(width) if at == 4 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row[:5], widths, strict=True))
        ]
        head = "  ".join(cells)
        room = console.width() - len(head) - 2
        if number == 0:
            console.line(Styled(f"{head}  {row[5]}", "dim"))
        else:
            console.line(head, "  ", clip(row[5], room))
    for at, value in enumerate(found.plan.values):
        low = at * found.plan.times + 1
        numbers = run_numbers(range(low, low + found.plan.times))
        console.narrate(f"run {numbers}: {preview(value, _VALUE)}")
