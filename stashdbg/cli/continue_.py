"""``stashdbg continue``: a program served from a fork up to its end, then let go on for real, recorded anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stashdbg.cli import console, exit_codes
from stashdbg.cli.console import Styled
from stashdbg.cli.experiments import checked_calls
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import STANDARD_INPUT, load_recording
from stashdbg.cli.options import FileArgument, ForceOption, JsonOption, LimitOption, output_file
from stashdbg.cli.plain_record import DEFAULT_OUTPUT
from stashdbg.cli.program_words import confirmed, narrate_error, narrate_recording, narrate_report, say
from stashdbg.cli.programs import (
    CommandArgument,
    DryRunOption,
    EarlyCallOption,
    IgnoreOption,
    OptionalMaxCallsOption,
    RerunOption,
    SecretOption,
    YesOption,
)
from stashdbg.cli.redaction import RulesOption

if TYPE_CHECKING:
    from stashdbg_core.programs.runs.preview import Preview
    from stashdbg_core.programs.runs.program_run import ProgramRun


def command(
    file: FileArgument,
    program: CommandArgument = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="OUT", help="The file to write; FILE-run.json if not given.", callback=output_file
        ),
    ] = None,
    rerun: RerunOption = None,
    secret: SecretOption = None,
    on_divergence: EarlyCallOption = "stop",
    max_calls: OptionalMaxCallsOption = None,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    ignore: IgnoreOption = None,
    force: ForceOption = False,
    rules: RulesOption = None,
    as_json: JsonOption = False,
    limit: LimitOption = None,
) -> int:
    """Run the program on from a fork: recorded calls are served, then it goes live. The exit code is its own.

    With --json the program's own output goes to standard error.
    """
    from stashdbg_core.programs.runs.preview import preview
    from stashdbg_core.programs.runs.rerunning import command_of, continue_program, rerun_of
    from stashdbg_core.programs.tapes.secrets import secrets_of
    from stashdbg_core.redact.user_rules import rule_set

    recording = load_recording(file, limit)
    again, secrets = rerun_of(rerun or ()), secrets_of(secret or ())
    started = command_of(recording, program or ())
    known = preview(recording, started, rerun=again, filled=secrets.placeholders)
    if dry_run:
        _show(known, as_json=as_json)
        return exit_codes.OK
    if not yes and not _wanted(known):
        console.narrate("nothing was run")
        return exit_codes.OK
    run = continue_program(
        recording,
        started,
        _target(file, output),
        rerun=again,
        secrets=secrets,
        ignore=ignore or (),
        rules=rule_set(rules),
        on_divergence=on_divergence,
        max_calls=None if max_calls is None else checked_calls(max_calls),
        force=force,
        say=say,
        streams="errors" if as_json else "ours",
    )
    run.start()
    return _ended(run, as_json=as_json)


def _wanted(known: Preview) -> bool:
    for line in known.lines():
        console.narrate(line)
    return confirmed("go on, live?")


def _show(known: Preview, *, as_json: bool) -> None:
    if as_json:
        console.ascii_text(json_text(known.to_json()) + "\n")
        return
    for line in known.lines():
        console.line(line)


def _ended(run: ProgramRun, *, as_json: bool) -> int:
    """Say how it went; a program that parted from the recording before the fork point did not run on."""
    from stashdbg_core.programs.runs.program_run import not_reached, unhooked

    result = run.wait()
    if not result.hooked:
        narrate_error(unhooked(run.command), as_json=as_json)
        return exit_codes.DIFFERENT
    report = result.report
    assert report is not None
    parted = any(divergence.kind != "missing-call" for divergence in report.divergences)
    code = exit_codes.DIFFERENT if parted else result.exit_code
    if result.unreached is not None:
        code = code or exit_codes.DIFFERENT
    if as_json:
        tree = {**report.to_json(), "file": None if result.path is None else str(result.path), "exitCode": code}
        console.ascii_text(json_text(tree) + "\n")
        return code
    if report.divergences:
        narrate_report(report, stopped=result.stopped)
    else:
        console.narrate(Styled("stashdbg: ", "bold"), f"{report.matched:,} served, {report.live_words}")
    if result.unreached is not None:
        narrate_error(not_reached(result.unreached))
    if result.path is not None:
        narrate_recording(result.path, result)
    return code


def _target(file: str, output: str | None) -> Path:
    if output is not None:
        return Path(output)
    if file == STANDARD_INPUT:
        return Path(DEFAULT_OUTPUT)
    path = Path(file)
    stem = path.name.removesuffix(".journal").removesuffix(".json")
    return path.with_name(f"{stem}-run.json")
