"""What running on from a recording takes: the command, the new file, and what was said about it beforehand.

Nothing is started here, and nothing that a recording says becomes a command by itself: ``offer_run`` tells whether the
recorded one may run as it stands, and for any other file a person types it.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.opening.files import place_of
from stashdbg_core.programs.process.command import Command, recorded_command
from stashdbg_core.programs.process.launch import Streams
from stashdbg_core.programs.runs.preview import Preview, preview
from stashdbg_core.programs.runs.program_run import Output, ProgramRun
from stashdbg_core.programs.runs.rerunning import command_of, continue_program, rerun_of
from stashdbg_core.programs.runs.trust import runnable_command
from stashdbg_core.programs.tapes.answering import Say
from stashdbg_core.programs.tapes.secrets import secrets_of
from stashdbg_core.sanitize import sanitize_line
from stashdbg_core.store.atomic import free_path, safe_file_name
from stashdbg_core.store.open import open_recording

_LONGEST_TYPED = 4000


@dataclass(frozen=True, slots=True)
class RunWishes:
    """What a person typed; each text is words as a shell reads them."""

    command: str = ""
    rerun: str = ""
    secrets: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class RunOffer:
    """What can be done with a recording's command."""

    recording: Recording
    recorded: Command
    """The command that the file names, whoever wrote it."""
    refusal: StashError | None
    """Why it has to be typed; None if it may run as it stands."""
    path: Path
    """A new file beside the recording."""

    @property
    def command_text(self) -> str:
        """The command to put before a person who may run it: empty where it has to be typed."""
        text = shlex.join(self.recorded.argv)
        is_plain = len(text) <= _LONGEST_TYPED and sanitize_line(text) == text
        return text if self.refusal is None and is_plain else ""

    @property
    def refusal_words(self) -> str:
        """Why it has to be typed, without the command itself; empty if it may run."""
        if self.refusal is None:
            return ""
        return self.refusal.message.removesuffix(f": {self.recorded.words()}")


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A run that only has to be started."""

    recording: Recording
    command: Command
    path: Path
    wishes: RunWishes
    preview: Preview
    typed: bool
    """Whether the command was typed, not taken from the recording."""

    def program(self, say: Say, output: Output | None = None, streams: Streams = "pipes") -> ProgramRun:
        """Return the program, not started yet.

        Raises:
            StashError: A call that is to run again is not in the recording, or the new file cannot be made.
        """
        return continue_program(
            self.recording,
            self.command,
            self.path,
            rerun=rerun_of(_words(self.wishes.rerun)),
            secrets=secrets_of(_words(self.wishes.secrets)),
            say=say,
            streams=streams,
            output=output,
        )

    def command_line(self) -> str:
        """Return the command that does the same without a screen."""
        own = self.recording.path
        words = ["stashdbg", "continue", "FILE" if own is None else str(own), "-o", str(self.path)]
        for flag, text in (("--rerun", self.wishes.rerun), ("--secret", self.wishes.secrets)):
            for word in _words(text):
                words += [flag, word]
        return shlex.join([*words, *(["--", *self.command.argv] if self.typed else [])])


def offer_run(recording: Recording) -> RunOffer:
    """Tell what can be done with a recording's command; reads the whole file once.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: the recording names no program.
    """
    recorded = recorded_command(recording)
    if recorded is None:
        raise invalid_input(
            "the recording does not say which program made it",
            hint="in a shell, stashdbg continue FILE -- CMD… runs one on from it",
        )
    refusal = None
    try:
        runnable_command(recording)
        if _is_another(recording):
            refusal = _changed()
    except StashError as error:
        refusal = error
    return RunOffer(recording, recorded, refusal, new_path(recording))


def plan_run(offer: RunOffer, wishes: RunWishes) -> RunPlan:
    """Return the run that a person asks for, with what it will do.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: something typed makes no sense, or no command was typed where one has to be.
    """
    command, typed = chosen_command(offer, wishes.command)
    rerun, secrets = rerun_of(_words(wishes.rerun)), secrets_of(_words(wishes.secrets))
    known = preview(offer.recording, command, rerun=rerun, filled=secrets.placeholders)
    return RunPlan(offer.recording, command, _file(wishes.file, offer.path), wishes, known, typed=typed)


def chosen_command(offer: RunOffer, text: str) -> tuple[Command, bool]:
    """Return the command that a person chose, and whether it was typed: an empty text is the recorded one.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it has to be typed and was not, or cannot be run.
    """
    if offer.refusal is None and text.strip() in ("", offer.command_text):
        if _is_another(offer.recording):
            raise _changed()
        return command_of(offer.recording, ()), False
    argv = _words(text)
    if not argv:
        raise invalid_input("type the command", hint="it is not run because a file says so; read it first")
    return command_of(offer.recording, argv), True


def preview_run(offer: RunOffer) -> Preview:
    """Return what running on will do if nothing is typed."""
    return preview(offer.recording, offer.recorded)


def new_path(recording: Recording) -> Path:
    """Return a file beside a recording that does not exist yet: ``fork-run.json``, ``fork-run-2.json``, …"""
    if recording.path is None:
        return free_path(Path.cwd() / f"{safe_file_name(recording.id)}-run.json", beside=(".journal",))
    own = place_of(recording.path)
    stem = own.name.removesuffix(".journal").removesuffix(".json")
    return free_path(own.with_name(f"{stem}-run.json"), beside=(".journal",))


def _is_another(recording: Recording) -> bool:
    """Tell whether the file, which is known, names another command than what was read of it some time ago."""
    assert recording.path is not None
    return recorded_command(open_recording(recording.path)) != recorded_command(recording)


def _changed() -> StashError:
    return invalid_input("the file has changed since it was opened", hint="open it again")


def _words(text: str) -> Sequence[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        reason = str(error).lower().rstrip(".")
        raise invalid_input(
            f"that cannot be read as words: {reason}", hint="quote it as you would in a shell"
        ) from None


def _file(text: str, suggested: Path) -> Path:
    if not text.strip():
        return suggested
    from stashdbg_core.session.fork_edit import named_path

    return named_path(text, suggested)
