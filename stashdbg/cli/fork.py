"""``stashdbg fork``: a branch of a recording, with one outcome put in by hand; nothing is ever overwritten."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import STANDARD_INPUT, load_recording, own_name
from stashdbg.cli.options import FileArgument, JsonOption, LimitOption, RunOption, output_file
from stashdbg_core.errors import invalid_input
from stashdbg_core.session.words import counted

if TYPE_CHECKING:
    from stashdbg_core.canonical import Json
    from stashdbg_core.fork import ForkPlan, Override
    from stashdbg_core.model import Recording

_WIDTH = 100
_PLACES = 6
"""Places of a long value that are shown."""


def command(
    file: FileArgument,
    at: Annotated[
        str, typer.Option("--at", metavar="EVENT", help="The event to fork at: its seq, or channel:key:ordinal.")
    ],
    value: Annotated[str | None, typer.Option("--set", metavar="JSON", help="The value it returns instead.")] = None,
    value_file: Annotated[
        str | None, typer.Option("--set-file", metavar="F", help="The same from a file: JSON, or plain text in a .txt.")
    ] = None,
    throw: Annotated[
        str | None, typer.Option("--throw", metavar="TYPE:MSG", help="The error it throws instead.")
    ] = None,
    edit: Annotated[bool, typer.Option("--edit", help="Edit the recorded value in $VISUAL or $EDITOR.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what is served and what goes live.")] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="The file to write; FILE-fork.json if not given.",
            callback=output_file,
        ),
    ] = None,
    as_json: JsonOption = False,
    limit: LimitOption = None,
    run: RunOption = None,
) -> int:
    """Write a fork: the calls before an event, its outcome replaced if you say so, nothing of what came after."""
    given = [name for name, found in _given(value, value_file, throw, edit) if found]
    if len(given) > 1:
        raise invalid_input(f"{' and '.join(given)} exclude each other", hint="give one of them")
    from stashdbg_core.fork import find_event, fork_with, plan_fork

    recording = load_recording(file, limit, run)
    position = find_event(recording, at)
    override = None
    if given:
        if edit and dry_run:
            raise invalid_input("--edit and --dry-run exclude each other", hint="give one of them")
        override = _override(recording, position, value, value_file, throw)
        if override is None:
            console.narrate("no change, no fork")
            return 0
    plan = plan_fork(recording, at, overridden=override is not None)
    if dry_run:
        _report(recording, plan, override, None, as_json=as_json)
        return 0
    from stashdbg_core.programs.runs.trust import remember_fork
    from stashdbg_core.store.writer import write_recording

    written = write_recording(fork_with(recording, plan, override), _target(file, output, run))
    remember_fork(recording.path, written)
    _report(recording, plan, override, written, as_json=as_json)
    return 0


def _given(value: str | None, value_file: str | None, throw: str | None, edit: bool) -> list[tuple[str, bool]]:
    return [
        ("--set", value is not None),
        ("--set-file", value_file is not None),
        ("--throw", throw is not None),
        ("--edit", edit),
    ]


def _override(
    recording: Recording, position: int, value: str | None, value_file: str | None, throw: str | None
) -> Override | None:
    """Return the outcome asked for; None if the editor changed nothing."""
    from stashdbg_core.fork.override import override_of_text
    from stashdbg_core.session.fork_edit import start_edit

    if throw is not None:
        return override_of_text(throw)
    edit = start_edit(recording, position)
    if value is not None or value_file is not None:
        from stashdbg.cli.values_given import tree_of_file, tree_of_json

        tree = tree_of_json(value) if value is not None else tree_of_file(str(value_file))
        return edit.override(tree)
    from stashdbg.cli.editor import edited_override

    return edited_override(edit)


def _target(file: str, output: str | None, run: int | None) -> Path:
    if output is not None:
        return Path(output)
    if file == STANDARD_INPUT:
        raise invalid_input("a fork of standard input has no name of its own", hint="name it with -o OUT")
    path = own_name(file, run)
    stem = path.name.removesuffix(".journal").removesuffix(".jsonl").removesuffix(".json")
    return path.with_name(f"{stem}-fork.json")


def _report(
    recording: Recording, plan: ForkPlan, override: Override | None, written: Path | None, *, as_json: bool
) -> None:
    """Say what the fork holds; on standard output, its file name alone, or one JSON object."""
    if as_json:
        tree = {"file": None if written is None else str(written), "parent": recording.id, **plan.to_json()}
        if override is not None:
            tree["override"] = {"outcome": override.outcome, "value": _masked(recording, override).tree}
        console.ascii_text(json_text(tree) + "\n")
        return
    lines = _plan_lines(recording, plan, override)
    if written is None:
        for parts in lines:
            console.line(*parts)
        return
    console.line(str(written))
    for parts in lines:
        console.narrate(*parts)


def _plan_lines(recording: Recording, plan: ForkPlan, override: Override | None) -> list[list[console.Part]]:
    from stashdbg_core.fork.override import recorded_tree
    from stashdbg_core.sanitize import shorten
    from stashdbg_core.session.fork_edit import channel_words

    event = plan.event
    call = f"event {event.seq}, {shorten(event.channel, 40)} {shorten(event.key, 60)} #{event.ordinal}"
    lines: list[list[console.Part]] = [[f"forked at {call}"]]
    if override is not None:
        shown = _masked(recording, override)
        word = "raises" if override.outcome == "throw" else "returns"
        lines += _change_lines(recorded_tree(recording, event), shown.tree, word)
        if shown.masked:
            lines.append([f"  {counted(shown.masked, 'secret')} masked in what was given"])
    lines.append([f"served from the recording: {channel_words(plan.served) or 'nothing'}"])
    lines.append([f"live, if the program does as before: {channel_words(plan.live) or 'nothing'}"])
    if plan.enclosing:
        seqs = ", ".join(map(str, plan.enclosing))
        lines.append([f"event {seqs} had not ended: it runs live too, or the program would never come here"])
    return lines


def _change_lines(recorded: Json, given: Json, word: str) -> list[list[console.Part]]:
    """Return both values in a line each; of objects too long for that, the places that are not the same."""
    from stashdbg.cli.diff_text import special_text
    from stashdbg_core.diff.describe import two_lines
    from stashdbg_core.diff.preview import preview
    from stashdbg_core.diff.structure import differences
    from stashdbg_core.sanitize import shorten

    def pair(old: str | None, new: str | None, indent: str, tail: str = "") -> list[list[console.Part]]:
        before: list[console.Part] = [console.Styled(f"{indent}- {old}", "error")]
        after: list[console.Part] = [console.Styled(f"{indent}+ {new}", "string"), tail]
        return [line for line, text in ((before, old), (after, new)) if text is not None]

    special = special_text(recorded, _WIDTH), special_text(given, _WIDTH)
    old, new = special[0] or preview(recorded, _WIDTH), special[1] or preview(given, _WIDTH)
    both = type(recorded) is type(given) and type(recorded) in (dict, list)
    if any(special) or not both or (len(old) < _WIDTH and len(new) < _WIDTH):
        if not any(special):
            old, new = (text or "" for text in two_lines(recorded, given, _WIDTH))
        return pair(old, new, "  ", f"  ({word})")
    lines: list[list[console.Part]] = [[f"  {word} the same but for"]]
    found = differences(recorded, given)
    for change in islice(found, _PLACES):
        lines.append(["  ", console.Styled(shorten(change.pointer or "the whole value", 120), "key")])
        lines += pair(*two_lines(change.before, change.after, _WIDTH), "    ")
    more = sum(1 for _ in found)
    return [*lines, [f"  … and {counted(more, 'more place')}"]] if more else lines


def _masked(recording: Recording, override: Override) -> Override:
    from stashdbg_core.fork.override import redacted

    return redacted(override, recording)
