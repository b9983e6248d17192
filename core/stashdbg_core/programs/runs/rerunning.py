"""A recorded program made ready to run again: offline, or on from a fork."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_input
from stashdbg_core.fork.digest import recording_digest
from stashdbg_core.model import THROW, Recording
from stashdbg_core.programs.process.command import Command, recorded_command
from stashdbg_core.programs.process.launch import Streams
from stashdbg_core.programs.runs.continuing_run import ContinuingRun, Name, OnEarlyCall, WhatIf
from stashdbg_core.programs.runs.program_run import Output, ProgramRun
from stashdbg_core.programs.runs.recording_run import RecordingRun
from stashdbg_core.programs.runs.replaying_run import OnDivergence, ReplayingRun
from stashdbg_core.programs.runs.starting import quiet
from stashdbg_core.programs.runs.trust import runnable_command
from stashdbg_core.programs.tapes.answering import Say
from stashdbg_core.programs.tapes.secrets import Secrets
from stashdbg_core.programs.tapes.tape import ProgramTape, masking_of
from stashdbg_core.record.masking import Redaction
from stashdbg_core.redact.rule_file import RuleSet
from stashdbg_core.replay.ignore import IgnorePattern


def command_of(recording: Recording, argv: Sequence[str]) -> Command:
    """Return what is run: the command typed, or the recorded one if it may run without being typed.

    Raises:
        StashError: None was typed, and the recorded one may not run.
    """
    if not argv:
        return runnable_command(recording)
    known = recorded_command(recording) or Command((), Path.cwd(), seed="0" * 64)
    return known.typed(argv)


def replay_program(
    recording: Recording,
    command: Command,
    *,
    on_divergence: OnDivergence = "stop",
    ignore: Sequence[IgnorePattern] = (),
    rules: RuleSet = RuleSet(),
    say: Say = quiet,
    streams: Streams = "pipes",
    output: Output | None = None,
) -> ProgramRun:
    """Return the run of a program that is answered from its recording; see ``ReplayingRun``."""
    redact = _compared(recording, rules, Secrets({}))
    run = ReplayingRun(recording, command.seed, say, on_divergence=on_divergence, ignore=ignore, redact=redact)
    return ProgramRun(run, run.mode, command, streams=streams, output=output)


def continue_program(
    recording: Recording,
    command: Command,
    path: Path,
    *,
    rerun: Collection[Name] = (),
    secrets: Secrets | None = None,
    ignore: Sequence[IgnorePattern] = (),
    rules: RuleSet = RuleSet(),
    what_if: WhatIf | None = None,
    on_divergence: OnEarlyCall = "stop",
    max_calls: int | None = None,
    force: bool = False,
    say: Say = quiet,
    streams: Streams = "pipes",
    output: Output | None = None,
) -> ProgramRun:
    """Return the run of a program that goes on from a fork, recorded anew; see ``ContinuingRun``.

    Raises:
        StashError: ``rerun`` names no recorded call, or the file cannot be made.
    """
    known = secrets or Secrets({})
    meta: dict[str, Json] = {"command": command.to_json(), "fork": _fork_of(recording, what_if)}
    tape = ProgramTape(
        path, masking_of(rules, *([known] if known else []), earlier=recording), meta, force=force, say=say
    )
    try:
        run = ContinuingRun(
            tape,
            recording,
            command.seed,
            say,
            rerun=rerun,
            secrets=known,
            ignore=ignore,
            redact=_compared(recording, rules, known),
            what_if=what_if,
            on_divergence=on_divergence,
            max_calls=max_calls,
        )
    except BaseException:
        tape.discard()
        raise
    return ProgramRun(run, run.mode, command, streams=streams, output=output)


def record_again(
    command: Command,
    path: Path,
    *,
    rules: RuleSet = RuleSet(),
    say: Say = quiet,
    output: Output | None = None,
) -> ProgramRun:
    """Return the run of a program that is recorded with the seeds of an earlier run, all of it for real.

    Raises:
        StashError: The file cannot be made.
    """
    tape = ProgramTape(path, masking_of(rules), {"command": command.to_json()}, say=say)
    return ProgramRun(RecordingRun(tape, command.seed, say), "record", command, output=output)


def rerun_of(settings: Sequence[str]) -> tuple[Name, ...]:
    """Return the calls that settings name, each ``CHANNEL/KEY``.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: a setting is malformed.
    """
    names = [setting.partition("/") for setting in settings]
    if not all(channel and slash and key for channel, slash, key in names):
        raise invalid_input("--rerun takes CHANNEL/KEY", hint="such as --rerun tool/git")
    return tuple((channel, key) for channel, _, key in names)


def _fork_of(recording: Recording, what_if: WhatIf | None) -> Json:
    """Return ``meta.fork``: a fork's own, or that of a run that leaves another at its end, or where it is changed."""
    about: Any = recording.meta.get("fork")
    if isinstance(about, dict) and what_if is None:
        return about
    events = recording.events
    at = events[-1].seq + 1 if len(events) else 0
    if what_if is not None:
        at = min([*what_if.replaced, *what_if.again], default=at)
    tree: dict[str, Json] = {"parent": recording.id, "parentDigest": recording_digest(recording), "at": at}
    if what_if is not None and what_if.replaced:
        tree["override"] = "error" if what_if.replaced[min(what_if.replaced)].outcome == THROW else "value"
    return tree


def _compared(recording: Recording, rules: RuleSet, secrets: Secrets) -> Redaction:
    """Return how live inputs are masked before they are compared with those of a recording."""
    description: Any = recording.meta.get("redaction")
    said = description.get("rules") if isinstance(description, dict) else description
    steps: list[Any] = [secrets] if secrets else []
    if said and said != "off":
        steps.append(rules.redactor())
    return steps or None
