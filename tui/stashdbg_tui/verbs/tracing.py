"""Where something came from: who set a field, where a text appeared first, which outputs reached it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.inspection import state_refs
from stashdbg_core.session.pointers import Absent, parse_pointer, pointer_of, resolve, scalar_text
from stashdbg_core.session.summary import outcome_word, summary
from stashdbg_tui.screens.base import SessionScreen
from stashdbg_tui.widgets.panel import PanelRow

# The first frame needs none of the verbs: what they take is imported by the verb that takes it.
if TYPE_CHECKING:
    from stashdbg_core.session.last_change import LastChange, PayloadPart
    from stashdbg_core.session.search import Hit
    from stashdbg_core.session.why import Link, Slice, WhyNode

FIELD_PARTS = ("value", "input", "state")
"""Tabs whose lines are fields."""
_TEXT = 200
"""Characters of a field up to which the whole of it is looked for, not its line alone."""


class Tracing(SessionScreen):
    """Going back to causes, by evidence."""

    slice: Slice | None = None
    """What was listed last."""

    def field(self) -> tuple[int, PayloadPart, str] | None:
        """Return the event, part and JSON pointer of the field at the inspector's cursor; None where there is none."""
        session, pointer = self.session, self.payload.pointer
        if session is None or pointer is None or session.event is None:
            return None
        if self.part in ("value", "input"):
            return session.position, "input" if self.part == "input" else "value", pointer
        if self.part == "state" and pointer:
            key, *rest = parse_pointer(pointer)
            event = state_refs(session.recording, session.position).get(key)
            position = session.recording.events.position_of(event.seq) if event is not None else None
            return (position, "value", pointer_of(rest)) if position is not None else None
        return None

    def _no_field(self) -> None:
        self.status.show("no field here; show value, input or state, and put the inspector's cursor on a line")

    def action_last(self) -> None:
        """Jump to the event that last changed the field at the cursor."""
        session, field = self.session, self.field()
        if session is None or field is None:
            self._no_field()
            return
        from stashdbg_core.session.last_change import last_change_steps

        position, part, pointer = field

        def found(change: LastChange | None) -> None:
            if change is None:
                self.status.show(f"the {part} cannot be read")
                return
            moved = change.position != session.position
            if moved:
                self.follow(session.jump(change.position))
            self._show_field(part if self.part != "state" or moved else self.part, pointer)
            self.status.show(change.words(moved=moved))

        self.work_on("trace", last_change_steps(session.recording, position, part, pointer), found, self._looking)

    def action_origin(self) -> None:
        """Jump to the first event in which the text at the cursor, or the selected text, appears."""
        session, text = self.session, self.text_at_cursor()
        if session is None or not text:
            self.status.show("no text here; put the inspector's cursor on one, or select it with the mouse")
            return

        def found(hit: Hit | None) -> None:
            shown = shorten(text, 40)
            if hit is None:
                self.status.show(f"{shown} is in no key, label, input or value")
                return
            moved = hit.position != session.position
            if moved:
                self.follow(session.jump(hit.position))
            if hit.part in ("value", "input"):
                self._show_field("input" if hit.part == "input" else "value", hit.pointer)
            said = "first appears" if moved else "first appears right"
            self.status.show(f"{shown} {said} here, in the {hit.part} {shorten(hit.pointer, 40)}".rstrip())

        from stashdbg_core.session.search import origin_steps

        try:
            self.work_on("trace", origin_steps(session.recording, text), found, self._looking)
        except StashError as failure:
            self.say_failure(failure)

    def action_why(self) -> None:
        """List the events whose outputs reached the field at the cursor, or the input of the event."""
        session = self.session
        if session is None or session.event is None:
            return
        from stashdbg_core.session.why import why_steps

        field = self.field() if self.payload.has_focus else None
        selected = self.get_selected_text()
        if selected:
            steps = why_steps(session.recording, session.position, text=selected)
        elif field is not None and field[2]:
            steps = why_steps(session.recording, field[0], pointer=field[2], part=field[1])
        else:
            steps = why_steps(session.recording, session.position)
        self.work_on("trace", steps, self._show_why, self._looking)

    def _show_why(self, found: Slice) -> None:
        session = self.session
        assert session is not None
        what = (
            f"{found.part} {found.pointer}"
            if found.pointer
            else (shorten(found.text, 40) if found.text else "the input")
        )
        title = f"Why {what} of event {found.seq}: latest first"
        self.slice = found
        rows = [row for node in found.nodes for row in _node_rows(session.recording, node)]
        if len(found.nodes) == 1:
            rows.append(PanelRow([("no earlier output says anything that stands here", "muted")]))
        if found.stopped:
            rows.append(PanelRow([(f"stopped: {found.stopped}", "error")]))
        self.open_panel("why", title, rows)
        self.status.show("evidence, not causes: Enter jumps to an event, Esc closes")

    def _looking(self) -> None:
        self.status.show("looking back… Esc stops")

    def _show_field(self, part: str, pointer: str) -> None:
        if part in ("value", "input") and part != self.part:
            self.part = "input" if part == "input" else "value"
            self.inspect()
        self.work_on("inside", self.payload.pointer_steps(pointer), self.show_line)

    def text_at_cursor(self) -> str:
        """Return what origin looks for: the selected text, the scalar at the cursor, or the line of a long one."""
        selected = self.get_selected_text()
        if selected:
            return selected[:4000]
        session, field = self.session, self.field()
        if session is None or field is None:
            return ""
        event = session.event_at(field[0])
        ref = event.input_ref if field[1] == "input" else event.ref
        try:
            node = resolve(session.recording.blobs.tree(ref or ""), field[2])
        except StashError:
            return ""
        text = None if isinstance(node, Absent) else scalar_text(node)
        if text is None:
            return ""
        return text if len(text) <= _TEXT and "\n" not in text else self.payload.line_text.strip()[:4000]


def _node_rows(recording: Recording, node: WhyNode) -> list[PanelRow]:
    event = recording.events[node.position]
    indent = "  " * min(node.hops, 6)
    word = outcome_word(event)
    pieces = [(f"{indent}event {event.seq} ", "strong"), (f"{event.channel} {event.key} ", "text")]
    pieces += [] if word == "returned" else [(f"{word} ", "error")]
    head = PanelRow([*pieces, (summary(recording, event, 80), "muted")], node.position)
    return [head, *(_link_row(indent, node.position, link) for link in node.links)]


def _link_row(indent: str, position: int, link: Link) -> PanelRow:
    best = link.evidence[0]
    more = len(link.evidence) - 1 + link.more
    pieces = [(f"{indent}  → event {link.to}: ", "muted"), (best.words, "evidence")]
    if best.text:
        pieces += [("  ", "muted"), (best.text, "text")]
    if more > 0:
        pieces.append((f"  and {more} more", "muted"))
    return PanelRow(pieces, position)
