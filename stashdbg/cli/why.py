"""``stashdbg why``: which earlier outputs reached a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from stashdbg.cli import console
from stashdbg.cli.cells import clip
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import load_recording
from stashdbg.cli.options import FileArgument, JsonOption, LimitOption, RunOption
from stashdbg_core.errors import invalid_input

if TYPE_CHECKING:
    from stashdbg_core.model import Recording
    from stashdbg_core.session.why import Link, Slice
    from stashdbg_core.session.why_wanted import Evidence

_SHOWN = 2
"""Pieces of evidence a link shows."""
_INDENT = 6
_POINTER = 44
_LEAST = 12
"""Cells a pointer and the text at its end have, however narrow the screen."""


def command(
    file: FileArgument,
    at: Annotated[
        str, typer.Option("--at", metavar="EVENT", help="The event to explain: its seq, or channel:key:ordinal.")
    ],
    pointer: Annotated[
        str | None, typer.Option("--pointer", metavar="P", help="One field of its value or input, such as /amount.")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", metavar="T", help="A text that stands in it.")] = None,
    part: Annotated[
        Literal["value", "input"] | None,
        typer.Option("--part", metavar="value|input", help="Which of them, where both have it."),
    ] = None,
    as_json: JsonOption = False,
    limit: LimitOption = None,
    run: RunOption = None,
) -> None:
    """Walk back from a call through the events whose outputs reached its input."""
    from stashdbg_core.fork.places import find_event
    from stashdbg_core.session.tasks import Task
    from stashdbg_core.session.why import why_steps

    if pointer is not None and text is not None:
        raise invalid_input("--pointer and --text exclude each other", hint="give one of them")
    recording = load_recording(file, limit, run)
    found = Task(why_steps(recording, find_event(recording, at), pointer=pointer, text=text, part=part)).run()
    if as_json:
        console.ascii_text(json_text(found.to_json()) + "\n")
    else:
        _print(recording, found)


def _print(recording: Recording, found: Slice) -> None:
    from stashdbg_core.session.summary import summary

    wide = max(len(str(node.seq)) for node in found.nodes)
    for node in found.nodes:
        event = recording.events[node.position]
        name = f"{event.channel} {event.key}"
        asked = _asked(found, event.input_ref is not None) if not node.links else ""
        said = summary(recording, event, 160)
        head = clip(name, 40)
        room = max(console.width() - wide - len(head) - len(asked) - 4, 16)
        console.line(
            Styled(str(node.seq).rjust(wide), "bold"),
            "  ",
            Styled(head, "channel"),
            Styled(asked, "bold"),
            "  ",
            clip(said, room),
        )
        for link in node.links:
            _print_link(link)
    if len(found.nodes) == 1:
        console.narrate("no earlier output says anything that this says")
    else:
        console.narrate("a link shows what two events have in common; it does not show that one caused the other")
        if "command" in recording.meta:
            console.narrate(f"stashdbg ablate FILE --at {found.seq} takes them out one at a time, to see which matter")
    if found.stopped:
        console.narrate(Styled("note: ", "warning"), found.stopped)


def _asked(found: Slice, has_input: bool) -> str:
    if found.pointer is not None:
        return f"  {found.part} {clip(found.pointer, 40) or 'whole'}"
    return f"  {found.part} {clip(found.text, 40)!r}" if found.text is not None else "  input" * has_input


def _print_link(link: Link) -> None:
    lead = " " * _INDENT
    for number, evidence in enumerate(link.evidence[:_SHOWN]):
        target = f"→ {link.to}" if not number else " " * (len(str(link.to)) + 2)
        words = f"  {evidence.words}"
        where = _where(evidence, console.width() - len(lead) - len(target) - len(words) - _LEAST)
        room = max(console.width() - len(lead) - len(target) - len(words) - len(where) - 2, _LEAST)
        text = f"  {clip(evidence.text, room)}" if evidence.text else ""
        console.line(lead, Styled(target, "bold"), words, Styled(where, "dim"), text)
    left = link.more + max(len(link.evidence) - _SHOWN, 0)
    if left:
        console.line(lead, " " * (len(str(link.to)) + 2), Styled(f"  and {left} more", "dim"))


def _where(evidence: Evidence, room: int) -> str:
    """Return where both ends of a link stand, in about this many cells."""
    if evidence.kind == "order only":
        return "  the call right before in this lane"
    each = min(max((room - 7) // 2, _LEAST), _POINTER)
    return f"  {clip(evidence.source, each) or 'value'} → {clip(evidence.sink, each) or 'input'}"
