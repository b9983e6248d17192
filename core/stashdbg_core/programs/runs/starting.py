"""A program made ready to be recorded.

Starting one costs as little as can be: what masks and stores is loaded while the program's own Python starts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stashdbg_core.programs.process.command import new_command
from stashdbg_core.programs.process.launch import Streams
from stashdbg_core.programs.runs.head_start import HeadStart, can_begin
from stashdbg_core.programs.runs.program_run import Output, ProgramRun
from stashdbg_core.programs.tapes.answering import Answering, Say

if TYPE_CHECKING:
    from stashdbg_core.redact.rule_file import RuleSet


def quiet(kind: str, message: str) -> None:
    """Say nothing."""


def load_the_rest() -> None:
    """Load what first answers, and the end of a recording, would load: while the program runs there is time."""
    from stashdbg_core.programs.runs import counts  # noqa: F401
    from stashdbg_core.session import stream_message  # noqa: F401


def record_program(
    argv: Sequence[str],
    path: Path,
    *,
    rules: Callable[[], RuleSet] | None = None,
    force: bool = False,
    say: Say = quiet,
    streams: Streams = "pipes",
    output: Output | None = None,
    begun: HeadStart | None = None,
) -> ProgramRun:
    """Return the run of a program that is recorded.

    Args:
        argv: The program and its arguments.
        path: Where the recording goes; a name that is taken becomes ``run-2.json``.
        rules: Gives what is masked; the default rules when None.
        force: Replace the file.
        say: Told, from any thread, what a person should know at once.
        streams: As for ``ProgramRun``.
        output: As for ``ProgramRun``.
        begun: As for ``ProgramRun``.

    Raises:
        StashError: It cannot be recorded, or the file cannot be made.
    """
    command = new_command(argv, None if begun is None else begun.seed)

    def answering() -> Answering:
        from stashdbg_core.exchange import naming  # noqa: F401 -- the first request should not wait for it
        from stashdbg_core.programs.runs.recording_run import RecordingRun
        from stashdbg_core.programs.tapes.tape import ProgramTape, masking_of

        masking = masking_of(None if rules is None else rules())
        tape = ProgramTape(path, masking, {"command": command.to_json()}, force=force, say=say)
        return RecordingRun(tape, command.seed, say)

    # What may well fail is done before the program is started.
    likely = rules is None and can_begin(os.fspath(path))
    return ProgramRun(
        answering if likely else answering(), "record", command, streams=streams, output=output, begun=begun
    )
