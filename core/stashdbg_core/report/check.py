"""What a person should know before a bundle leaves, and the last look for what must not be in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from stashdbg_core.errors import invalid_input
from stashdbg_core.redact.placeholders import WORD
from stashdbg_core.report.manifest import ReportFile
from stashdbg_core.report.masking import Residue
from stashdbg_core.report.parts import Evidence
from stashdbg_core.report.units import Unit
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.words import counted

_NOTES: Final = 20
_LONGEST: Final = 300


def remarks(
    offered: Sequence[Unit], chosen: Sequence[Unit], evidence: Sequence[Evidence], safe: Callable[[str], str]
) -> tuple[list[str], list[str]]:
    """Return warnings, which ask for a decision, and notes, which are true and quiet.

    Args:
        offered: All units.
        chosen: Those in the bundle.
        evidence: The chosen parts of the runs.
        safe: Masks a text.
    """
    warnings: list[str] = []
    left = [unit for unit in offered if unit not in chosen]
    if any(unit.kind == "conversation" for unit in left):
        total = sum(unit.kind == "conversation" for unit in offered)
        gone = sum(unit.kind == "conversation" for unit in left)
        warnings.append(
            f"This is a subset: {gone} of {counted(total, 'conversation')} left out, with "
            f"{counted(sum(unit.events for unit in left), 'event')}."
        )
    found = sum(part.suspicious for part in evidence)
    if found:
        warnings.append(f"{counted(found, 'place')} still look like secrets; look at the files before you send them.")
    notes = [note for part in evidence for note in _of_run(part, safe)]
    if not any(WORD.encode() in part.file.data for part in evidence):
        notes.append(
            "No secret is masked in what was recorded: home folders and user names apart, every value is the real one."
        )
    if any(unit.kind == "file" for unit in left):
        notes.append(f"{counted(sum(unit.kind == 'file' for unit in left), 'derived file')} left out.")
    return warnings, notes


def refuse_residue(files: Sequence[ReportFile], residue: Residue) -> None:
    """Refuse a bundle in which a secret stands that was masked elsewhere.

    Raises:
        StashError: ``ERR_INVALID_INPUT``; the secret is not named.
    """
    for file in files:
        if residue.holds(file.data):
            raise invalid_input(
                f"a secret that is masked elsewhere still stands in {file.name}; nothing was written",
                hint="leave out what holds it, or mask the recording first: `stashdbg redact`",
            )


def _of_run(part: Evidence, safe: Callable[[str], str]) -> Iterator[str]:
    file, recording = part.file.name, part.recording
    meta = recording.meta
    if not recording.complete:
        yield f"{file}: the recording is incomplete; its run ended before it was closed."
    dropped = meta.get("droppedEvents")
    if type(dropped) is int and 0 < dropped < 1 << 62:
        yield f"{file}: {counted(dropped, 'event')} were not recorded."
    if not len(recording.events):
        yield f"{file}: the recording has no events."
    if part.is_part:
        yield (
            f"{file}: part of a run; facts of the run that could tell of what was left out are not in it. What was "
            "chosen may still quote what was not."
        )
    said = [shorten(safe(note.message), _LONGEST) for note in recording.notes if note.kind != "dropped"]
    yield from (f"{file}: {message}" for message in said[:_NOTES])
    if len(said) > _NOTES:
        yield f"{file}: {len(said) - _NOTES:,} more notes like these."
