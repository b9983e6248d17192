"""How a run ended, as something that two runs can have in common: exit code, output, the last answer of a model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from stashdbg_core.canonical import Json, canonical_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import THROW, RecordedEvent, Recording
from stashdbg_core.programs.experiments.trials import Outcome
from stashdbg_core.replay.divergence import DivergenceReport
from stashdbg_core.session.chat_messages import Message
from stashdbg_core.session.chat_reply import reply_of
from stashdbg_core.session.gist import one_line
from stashdbg_core.session.summary import summary
from stashdbg_core.session.usage import Usage, usage_of_event
from stashdbg_core.store.open import open_recording
from stashdbg_core.tags import PENDING, TAG

_LINE = 200


State: TypeAlias = Literal["ended", "stopped", "limited", "parted"]
"""``stopped``: by us; ``limited``: by us, for it made as many live calls as it may; ``parted``: it left the recorded
path, and never came to the fork's point or past it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What counts when two runs are said to end alike."""

    exit_code: int
    stdout: str
    """Digest of all that was written."""
    answer: str | None
    """Digest of what a model answered last; None if none did."""
    state: State = "ended"


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The end of one run, and what it cost."""

    number: int
    ending: Ending
    line: str
    """The ending in a line, unsanitised: the last line of output, else the last answer, else the last complaint."""
    usage: Usage
    live: int
    """Calls that ran for real, values that were read among them not."""
    path: Path | None

    def to_json(self) -> dict[str, Json]:
        """Return the run as JSON."""
        return {
            "run": self.number,
            "exitCode": self.ending.exit_code,
            "stdout": self.ending.stdout,
            "answer": self.ending.answer,
            "state": self.ending.state,
            "line": self.line,
            **self.usage.to_json(),
            "live": self.live,
            "file": None if self.path is None else str(self.path),
        }


@dataclass(frozen=True, slots=True)
class EndGroup:
    """Runs that ended alike."""

    runs: tuple[RunEnd, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Their numbers, ascending."""
        return tuple(run.number for run in self.runs)

    @property
    def usage(self) -> Usage:
        """What all of them used."""
        return sum((run.usage for run in self.runs), Usage())

    def to_json(self) -> dict[str, Json]:
        """Return the group as JSON."""
        first = self.runs[0]
        return {
            "runs": list(self.numbers),
            "exitCode": first.ending.exit_code,
            "state": first.ending.state,
            "line": first.line,
            **self.usage.to_json(),
        }


def run_end(outcome: Outcome) -> RunEnd:
    """Return how a run ended."""
    result = outcome.result
    recording = None if result.path is None else open_recording(result.path)
    last = None if recording is None else last_answer(recording)
    answer = None if recording is None or last is None else answer_digest(recording, last)
    parted = recording is not None and result.report is not None and _has_parted(recording, result.report)
    state: State = "parted" if parted else "ended"
    if outcome.killed or result.limited:
        state = "stopped" if outcome.killed else "limited"
    ending = Ending(result.exit_code, outcome.stdout.digest, answer, state)
    usage, live = Usage(), 0
    if recording is not None:
        for event in live_calls(recording, result.report.live_seqs if result.report is not None else None):
            live += 1
            usage += usage_of_event(recording, event) or Usage()
    said = "" if recording is None or last is None else summary(recording, last, _LINE)
    return RunEnd(outcome.number, ending, _line(outcome, said), usage, live, result.path)


def grouped(ends: Iterable[RunEnd]) -> list[EndGroup]:
    """Return runs with equal endings together, the largest group first, else the one with the first run."""
    groups: dict[Ending, list[RunEnd]] = {}
    for end in sorted(ends, key=lambda end: end.number):
        groups.setdefault(end.ending, []).append(end)
    return [EndGroup(tuple(runs)) for runs in sorted(groups.values(), key=lambda runs: -len(runs))]


def live_calls(recording: Recording, seqs: Sequence[int] | None) -> Iterable[RecordedEvent]:
    """Yield the calls to the outside world among those that ran for real; of None, all of them."""
    wanted = None if seqs is None else set(seqs)
    for event in recording.events:
        if event.channel not in ("clock", "random", "stdin") and (wanted is None or event.seq in wanted):
            yield event


def last_answer(recording: Recording) -> RecordedEvent | None:
    """Return the last call of a model that has an outcome."""
    for event in reversed(recording.events):
        if event.channel == "llm" and event.damage is None and not _is_pending(recording, event):
            return event
    return None


def answer_digest(recording: Recording, event: RecordedEvent) -> str:
    """Return the digest of what a model said: texts and tool calls, without the ids and times of that answer."""
    try:
        return digest_of([event.outcome, said_by(recording, event)])
    except StashError as error:
        return f"unreadable: {error.code}"


def said_by(recording: Recording, event: RecordedEvent) -> Json:
    """Return what a call gave; of a model's answer, its texts and tool calls without the ids and times around them.

    Raises:
        StashError: It cannot be read.
    """
    tree = recording.blobs.tree(event.ref)
    if event.channel != "llm" or event.outcome == THROW:
        return tree
    return [_message(message) for message in reply_of(tree)] or tree


def digest_of(tree: Json) -> str:
    """Return the digest of a tree's canonical form."""
    try:
        form = canonical_form(tree)
    except ValueError:
        form = repr(tree).encode("utf-8", "replace")
    return hashlib.sha256(form).hexdigest()


def _has_parted(recording: Recording, report: DivergenceReport) -> bool:
    """Tell whether a run did something that was not recorded, or never asked for the outcome at the fork's point."""
    about: Any = recording.meta.get("fork")
    at = about.get("at") if isinstance(about, dict) else None
    return any(one.kind != "missing-call" or one.seq == at for one in report.divergences)


def _message(message: Message) -> Json:
    calls: Json = [{"name": call.name, "arguments": call.arguments} for call in message.tool_calls]
    return {"role": message.role, "text": message.text, **({"tool_calls": calls} if calls else {})}


def _is_pending(recording: Recording, event: RecordedEvent) -> bool:
    try:
        return bool(recording.blobs.tree(event.ref) == {TAG: PENDING})
    except StashError:
        return False


def _line(outcome: Outcome, said: str) -> str:
    for lines in (outcome.stdout.lines, [said], outcome.stderr.lines):
        for line in reversed(lines):
            if line.strip():
                return one_line(line, _LINE)
    return ""
