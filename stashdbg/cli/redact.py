"""``stashdbg redact``: a masked copy of a recording, and what was masked where."""

from __future__ import annotations

from pathlib import Path

from stashdbg.cli import console, exit_codes
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import load_recording
from stashdbg.cli.notes import narrate_notes, note_message
from stashdbg.cli.options import FileArgument, ForceOption, JsonOption, LimitOption, OutputOption
from stashdbg.cli.redaction import PiiOption, RulesOption, counted, finding_parts, kind_words, rule_set, scan

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
    written = write_recording(masked, Path(output), overwrite=force)
    code = exit_codes.DIFFERENT if left else exit_codes.OK
    if as_json:
        tree = {
            "file": str(written),
            "masked": [place.to_json() for place in places],
            "counts": dict(sorted(redactor.counts.items())),
            "left": [place.to_json() for place in left],
        }
        console.ascii_text(json_text(tree) + "\n")
        return code
    console.line(str(written))
    if places:
        events = len({place.seq for place in places if place.seq is not None})
        console.narrate(
            f"masked {counted(len(places), 'place')} in {counted(events, 'event')}: {kind_words(p.kind for p in places)}"
        )
    else:
        console.narrate("nothing to mask")
    for place in places[:_SHOWN]:
        console.narrate("  ", *finding_parts(place))
    if len(places) > _SHOWN:
        console.narrate(f"  … and {counted(len(places) - _SHOWN, 'place')} more; --json lists them all")
    for place in left[:_SHOWN]:
        console.narrate(Styled("left: ", "error"), *finding_parts(place))
    narrate_notes([note_message(note) for note in recording.notes])
    return code
