"""``stashdbg redact``: a masked copy of a recording, what was masked where, and a seal of the copy if there was one."""

from __future__ import annotations

from pathlib import Path

from stashdbg.cli import console, exit_codes
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import load_recording
from stashdbg.cli.notes import narrate_notes, note_message
from stashdbg.cli.options import FileArgument, ForceOption, JsonOption, LimitOption, OutputOption, RunOption
from stashdbg.cli.redaction import PiiOption, RulesOption, finding_parts
from stashdbg_core.redact.scan import ScanFinding, kind_words
from stashdbg_core.redact.user_rules import rule_set
from stashdbg_core.seal.seal_file import seal_path
from stashdbg_core.session.words import counted

_SHOWN = 20


def command(
    file: FileArgument,
    output: OutputOption,
    rules: RulesOption = None,
    pii: PiiOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
    limit: LimitOption = None,
    run: RunOption = None,
) -> int:
    """Write a copy with its secrets masked, and print the name it got; exit code 1 if anything is left in it."""
    from stashdbg_core.session.masked_copy import masked_copy

    known = rule_set(rules, pii)
    recording = load_recording(file, limit, run)
    copy = masked_copy(recording, known)
    written = copy.write(Path(output), seal=seal_path(file), overwrite=force)
    code = exit_codes.DIFFERENT if copy.left else exit_codes.OK
    if as_json:
        tree = {
            "file": str(written.path),
            "masked": [place.to_json() for place in copy.masked],
            "counts": copy.counts,
            "left": [place.to_json() for place in copy.left],
            "seal": None if written.seal is None else str(written.seal),
        }
        console.ascii_text(json_text(tree) + "\n")
        return code
    console.line(str(written.path))
    _narrate_places(copy.masked, copy.left)
    if written.seal is not None:
        console.narrate(f"the seal of the copy, which does not cover what was masked: {written.seal}")
    narrate_notes([note_message(note) for note in recording.notes] + ([written.unsealed] if written.unsealed else []))
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
