"""``stashdbg ablate``: which of the earlier outputs that reached a call make a difference to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from stashdbg.cli import console, exit_codes
from stashdbg.cli.console import Part, Styled
from stashdbg.cli.experiments import (
    MAX_CALLS,
    DryRunOption,
    FolderOption,
    JobsOption,
    MaxCallsOption,
    SecretOption,
    YesOption,
    agreed,
    checked_jobs,
    clip,
    folder_of,
    progress_of,
    settings_of,
    show_plan,
)
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import load_recording
from stashdbg.cli.options import FileArgument, JsonOption, LimitOption
from stashdbg.cli.programs import CommandArgument, IgnoreOption
from stashdbg.cli.redaction import RulesOption
from stashdbg_core.session.words import counted

if TYPE_CHECKING:
    from stashdbg_core.programs.experiments.ablate import Ablated, Ablation

_INDENT = 6


def command(
    file: FileArgument,
    program: CommandArgument = None,
    at: Annotated[
        str, typer.Option("--at", metavar="EVENT", help="The call asked about: its seq, or channel:key:ordinal.")
    ] = "",
    pointer: Annotated[
        str | None, typer.Option("--pointer", metavar="P", help="One field of its value or input, such as /amount.")
    ] = None,
    part: Annotated[
        Literal["value", "input"] | None,
        typer.Option("--part", metavar="value|input", help="Which of them, where both have it."),
    ] = None,
    times: Annotated[int, typer.Option("--times", metavar="N", help="How often each output is taken out.")] = 3,
    only: Annotated[
        list[int] | None, typer.Option("--only", metavar="SEQ", help="Take out this output alone; repeatable.")
    ] = None,
    jobs: JobsOption = None,
    output: FolderOption = None,
    secret: SecretOption = None,
    max_calls: MaxCallsOption = MAX_CALLS,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    ignore: IgnoreOption = None,
    rules: RulesOption = None,
    as_json: JsonOption = False,
    limit: LimitOption = None,
) -> int:
    """Take out one earlier output of the slice that `why` shows at a time, run again, and say what that changes."""
    from stashdbg_core.errors import invalid_input
    from stashdbg_core.programs.experiments.ablate import ablate, plan_ablation
    from stashdbg_core.programs.experiments.trials import Trials
    from stashdbg_core.programs.runs.rerunning import command_of

    if not at:
        raise invalid_input("no call was named", hint="give --at SEQ; `stashdbg show FILE` lists them")
    folder = folder_of(file, output, "ablation")
    trials = Trials(jobs=checked_jobs(jobs))
    recording = load_recording(file, limit)
    settings = settings_of(None, secret, max_calls, ignore, rules)
    started = command_of(recording, program or ())
    plan = plan_ablation(recording, started, at, pointer=pointer, part=part, times=times, only=only or ())
    if dry_run:
        return show_plan(plan, as_json=as_json)
    if plan.candidates and not yes and not agreed(plan.lines()):
        return exit_codes.OK
    with progress_of("running") as progress:
        found = ablate(plan, folder, trials=trials, progress=progress, settings=settings)
    if as_json:
        console.ascii_text(json_text(found.to_json()) + "\n")
    else:
        _print(found)
    console.narrate(Styled("stashdbg: ", "bold"), f"the recordings are in {found.folder}")
    return exit_codes.INTERRUPTED if found.interrupted else exit_codes.OK


def _print(found: Ablation) -> None:
    from stashdbg_core.programs.experiments.ablate import call_words

    target = found.plan.target
    asked = "" if found.plan.pointer is None else f", {found.plan.part} {clip(found.plan.pointer, 40) or 'whole'}"
    console.line(Styled(f"event {target.seq}", "bold"), f"  {call_words(target)}{asked}")
    for result in found.results:
        _print_result(result)
    if found.controls:
        runs = counted(found.controls, "run")
        console.narrate(f"compared with {runs} of the same live calls, nothing taken out")
    if found.limited:
        runs = counted(found.limited, "run")
        console.narrate(f"{runs} ended by --max-calls: what was not run to its end is not called causal")
    if found.interrupted:
        console.narrate("interrupted: what was not run to its end is not called causal")


def _print_result(result: Ablated) -> None:
    from stashdbg_core.programs.experiments.ablate import call_words
    from stashdbg_core.programs.experiments.ablation_words import effect_words, verdict_words

    candidate, verdict = result.candidate, result.verdict
    said = verdict_words(verdict)
    word: Part = Styled(said, "bold") if verdict.causal else said
    console.line("  without ", Styled(f"event {candidate.seq}", "bold"), f"  {call_words(candidate.event)}: ", word)
    for name, part in (("input", verdict.given), ("outcome", verdict.outcome)):
        console.line(" " * _INDENT, f"{name.ljust(8)} {effect_words(part, verdict.of)}")
        if part.pointer is not None:
            room = console.width() - _INDENT - 13
            console.line(" " * _INDENT, Styled(f"  {clip(part.pointer, room) or 'whole'}", "dim"))
            console.line(" " * _INDENT, f"    recorded: {clip(part.before or '(absent)', room)}")
            console.line(" " * _INDENT, f"    without:  {clip(part.after or '(absent)', room)}")
