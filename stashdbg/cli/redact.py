"""``stashdbg redact``: a masked copy of a recording, what was masked where, and a seal of the copy if there was one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stashdbg.cli import console, exit_codes
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import load_recording
from stashdbg.cli.notes import narrate_notes, note_message
from stashdbg.cli.options import FileArgument, ForceOption, JsonOption, LimitOption, OutputOption
from stashdbg.cli.redaction import PiiOption, RulesOption, counted, finding_parts, kind_words, rule_set, scan
from stashdbg_core.errors import StashError

if TYPE_CHECKING:
    from stashdbg_core.model import Recording
    from stashdbg_core.redact.scan import ScanFinding
    from stashdbg_core.seal.seal_file import Seal

_SHOWN = 20


def command(
    file: FileArgument,
    output: OutputOption,
    rules: RulesOption = None,
    pii: PiiOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
    limit: LimitOption = None,
) -> int:
    """Write a copy with its secrets masked, and print the name it got; exit code 1 if anything is left in it."""
    from stashdbg_core.redact.recording import redact_recording
    from stashdbg_core.store.writer import write_recording

    known = rule_set(rules, pii)
    recording = load_recording(file, limit)
    places = scan(recording, known)
    redactor = known.redactor()
    masked = redact_recording(recording, redactor)
    left = scan(masked, known)
    seal, unsealed = _seal_of_copy(file, recording, masked)
    written = write_recording(masked, Path(output), overwrite=force)
    seal_file = None
    if seal is not None:
        seal_file, unsealed = _write_seal(seal, written, force)
    code = exit_codes.DIFFERENT if left else exit_codes.OK
    if as_json:
        tree = {
            "file": str(written),
            "masked": [place.to_json() for place in places],
            "counts": dict(sorted(redactor.counts.items())),
            "left": [place.to_json() for place in left],
            "seal": None if seal_file is None else str(seal_file),
        }
        console.ascii_text(json_text(tree) + "\n")
        return code
    console.line(str(written))
    _narrate_places(places, left)
    if seal_file is not None:
        console.narrate(f"the seal of the copy, which does not cover what was masked: {seal_file}")
    narrate_notes([note_message(note) for note in recording.notes] + ([unsealed] if unsealed else []))
    return code


def _narrate_places(places: list[ScanFinding], left: list[ScanFinding]) -> None:
    if places:
        where = counted(len({place.seq for place in places if place.seq is not None}), "event")
        kinds = kind_words(place.kind for place in places)
        console.narrate(f"masked {counted(len(places), 'place')} in {where}: {kinds}")
    else:
        console.narrate("nothing to mask")
    for place in places[:_SHOWN]:
        console.narrate("  ", *finding_parts(place))
    if len(places) > _SHOWN:
        console.narrate(f"  … and {counted(len(places) - _SHOWN, 'place')} more; --json lists them all")
    for place in left[:_SHOWN]:
        console.narrate(Styled("left: ", "error"), *finding_parts(place))


def _seal_of_copy(file: str, recording: Recording, masked: Recording) -> tuple[Seal | None, str | None]:
    """Return the seal of a redacted copy, if the original has one, or why there is none."""
    from stashdbg_core.seal.make import redacted_seal
    from stashdbg_core.seal.seal_file import read_seal, seal_path

    path = seal_path(file)
    if not path.exists():
        return None, None
    try:
        return redacted_seal(read_seal(path), recording, masked), None
    except StashError as failure:
        return None, f"the copy has no seal: {failure.message}"


def _write_seal(seal: Seal, written: Path, force: bool) -> tuple[Path | None, str | None]:
    """Write the seal beside the copy and return its path, or why there is none."""
    from stashdbg_core.seal.seal_file import seal_path, write_seal

    try:
        return write_seal(seal, seal_path(written), overwrite=force), None
    except StashError as failure:
        return None, f"the copy has no seal: {failure.message}"
