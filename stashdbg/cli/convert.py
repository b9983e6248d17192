"""``stashdbg convert``: any file that opens becomes a fresh, whole recording; what was lost is said."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.explaining import print_explanation
from stashdbg.cli.json_out import json_text
from stashdbg.cli.listing import payload_problems
from stashdbg.cli.loading import limits_of, load_recording
from stashdbg.cli.notes import narrate_notes, note_message
from stashdbg.cli.options import ExplainOption, ForceOption, JsonOption, LimitOption, RunOption, output_file
from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_input
from stashdbg_core.formats.explain import explain as explained
from stashdbg_core.model import Recording


def command(
    source: Annotated[
        str, typer.Argument(metavar="SRC", help="Another tool's file, a recording, a journal or a damaged file.")
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="The file to write; with --explain none is needed.",
            callback=output_file,
        ),
    ] = None,
    run: RunOption = None,
    all_runs: Annotated[bool, typer.Option("--all-runs", help="Write every run of the file: OUT-1, OUT-2, ….")] = False,
    explain: ExplainOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
    limit: LimitOption = None,
) -> None:
    """Write another tool's file, a journal or a damaged file as a fresh recording, and print the name it got."""
    if all_runs and run is not None:
        raise invalid_input("--run and --all-runs exclude each other", hint="give one of them")
    if output is None and not explain:
        raise invalid_input("convert needs to know where to write", hint="add -o OUT, or --explain to write nothing")
    target = None if output is None else Path(output)
    reports: list[dict[str, Json]] = []
    for name, goal in _targets(source, target, limit) if all_runs else [(source, target)]:
        recording = load_recording(name, limit, run)
        written, notes = (None, []) if goal is None else _write(recording, goal, force)
        if as_json:
            reports.append(_report(recording, written, notes, explain))
            continue
        if written is not None:
            console.line(str(written))
        if explain:
            print_explanation(recording)
        narrate_notes(notes)
    if as_json:
        console.ascii_text(json_text({"recordings": reports} if all_runs else reports[0]) + "\n")


def _report(recording: Recording, written: Path | None, notes: list[str], explain: bool) -> dict[str, Json]:
    facts: dict[str, Json] = {} if written is None else {"file": str(written)}
    facts |= {"events": len(recording.events), "complete": recording.complete}
    if written is not None:
        facts["lost"] = notes
    return {**facts, "explain": explained(recording).to_json()} if explain else facts


def _write(recording: Recording, target: Path, force: bool) -> tuple[Path, list[str]]:
    """Write one recording; return where, and what is wrong with it."""
    from stashdbg_core.store.writer import write_recording

    notes = [note_message(note) for note in recording.notes]
    for event in recording.events:
        notes += [problem for problem in payload_problems(recording, event) if problem not in notes[-100:]]
    return write_recording(recording, target, overwrite=force), notes


def _targets(source: str, output: Path | None, limit: list[str] | None) -> list[tuple[str, Path | None]]:
    """Return the name of every run of a file, and where it goes."""
    from stashdbg_core.opening.files import recording_paths

    names = recording_paths(Path(source), limits=limits_of(limit))
    if output is None or len(names) == 1:
        return [(str(name), output) for name in names]
    digits = len(str(len(names)))
    return [
        (str(name), output.with_name(f"{output.stem}-{number:0{digits}}{output.suffix}"))
        for number, name in enumerate(names, 1)
    ]
