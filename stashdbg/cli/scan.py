"""``stashdbg scan``: says what secrets a recording still holds, and never the secrets; exit code 1 if there are any."""

from __future__ import annotations

from stashdbg.cli import console, exit_codes
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import load_recording
from stashdbg.cli.notes import narrate_notes, note_message
from stashdbg.cli.options import FileArgument, JsonOption, LimitOption, RunOption
from stashdbg.cli.redaction import PiiOption, RulesOption, finding_parts
from stashdbg_core.redact.scan import kind_words, scan_recording
from stashdbg_core.redact.user_rules import rule_set
from stashdbg_core.session.words import counted


def command(
    file: FileArgument,
    rules: RulesOption = None,
    pii: PiiOption = False,
    as_json: JsonOption = False,
    limit: LimitOption = None,
    run: RunOption = None,
) -> int:
    """List the secrets that a recording still holds, by event, part and place."""
    known = rule_set(rules, pii)
    recording = load_recording(file, limit, run)
    findings = list(scan_recording(recording, known.redactor()))
    if as_json:
        tree = {"id": recording.id, "events": len(recording.events), "findings": [f.to_json() for f in findings]}
        console.ascii_text(json_text(tree) + "\n")
        return exit_codes.DIFFERENT if findings else exit_codes.OK
    for finding in findings:
        console.line(*finding_parts(finding))
    narrate_notes([note_message(note) for note in recording.notes])
    searched = counted(len(recording.events), "event")
    if not findings:
        console.narrate(f"nothing found, {searched} searched")
        return exit_codes.OK
    kinds = kind_words(finding.kind for finding in findings)
    console.narrate(
        f"{counted(len(findings), 'place')} with a secret, {searched} searched: {kinds}; "
        "`stashdbg redact FILE -o OUT` writes a masked copy"
    )
    return exit_codes.DIFFERENT
