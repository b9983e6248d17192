"""``stashdbg replay``: a recorded program run again offline, every call answered from the recording."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from stashdbg.cli import console, exit_codes
from stashdbg.cli.experiments import JobsOption, LiveOption, SeveralOption
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import load_recording
from stashdbg.cli.notes import narrate_notes
from stashdbg.cli.options import FileArgument, JsonOption, LimitOption
from stashdbg.cli.program_words import narrate_error, narrate_report, say
from stashdbg.cli.programs import CommandArgument, IgnoreOption
from stashdbg.cli.redaction import RulesOption


def command(
    file: FileArgument,
    program: CommandArgument = None,
    on_divergence: Annotated[
        Literal["stop", "collect"],
        typer.Option("--on-divergence", metavar="stop|collect", help="End at the first divergence, or find all."),
    ] = "stop",
    times: SeveralOption = None,
    live: LiveOption = False,
    jobs: JobsOption = None,
    ignore: IgnoreOption = None,
    rules: RulesOption = None,
    as_json: JsonOption = False,
    limit: LimitOption = None,
) -> int:
    """Run the recorded program again, offline. Exit code 1 if it does anything else than was recorded, else its own.

    With --json the program's own output goes to standard error. With --times the exit code is 1 if runs differ, else 0,
    and the program's output is compared, not shown.
    """
    from stashdbg_core.programs.runs.program_run import unhooked
    from stashdbg_core.programs.runs.rerunning import command_of, replay_program
    from stashdbg_core.redact.user_rules import rule_set

    recording = load_recording(file, limit)
    if times is not None or live or jobs is not None:
        from stashdbg.cli.doctor import diagnose
        from stashdbg_core.programs.experiments.trials import Settings

        started = command_of(recording, program or ())
        compared = Settings(ignore=tuple(ignore or ()), rules=rule_set(rules))
        return diagnose(recording, started, times, compared, live=live, jobs=jobs, as_json=as_json)
    run = replay_program(
        recording,
        command_of(recording, program or ()),
        on_divergence=on_divergence,
        ignore=ignore or (),
        rules=rule_set(rules),
        say=say,
        streams="errors" if as_json else "ours",
    )
    run.start()
    result = run.wait()
    report = result.report
    assert report is not None
    if not result.hooked:
        narrate_error(unhooked(run.command), as_json=as_json)
        return exit_codes.DIFFERENT
    code = exit_codes.DIFFERENT if result.diverged else result.exit_code
    if as_json:
        console.ascii_text(json_text({**report.to_json(), "exitCode": code}) + "\n")
        return code
    narrate_report(report, stopped=result.stopped)
    if not recording.complete:
        narrate_notes(["the recording is incomplete: the run it is of was cut short"])
    return code
