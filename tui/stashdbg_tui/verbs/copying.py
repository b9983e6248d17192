"""Taking out what is seen: to the clipboard, or into a file."""

from __future__ import annotations

from stashdbg_core.errors import StashError
from stashdbg_tui.verbs.asking import Asking
from stashdbg_tui.verbs.inspecting import Inspecting

_COPIES = (
    ("v", "value", "copy('value')"),
    ("p", "path", "copy('path')"),
    ("e", "event", "copy('event')"),
    ("c", "command", "copy('command')"),
)
_AGAIN = (("y", "value", "copy('value')"),)
"""What the key that asks stands for when it is pressed twice."""


class Copying(Asking, Inspecting):
    """What leaves the screen."""

    def action_copy_menu(self) -> None:
        """Ask what to copy."""
        self.ask_choice("copy", _COPIES, hidden=_AGAIN)

    def action_copy(self, what: str) -> None:
        """Copy the value, the path of the cursor, the event's record, or the command that prints what is seen."""
        session = self.session
        event = session.event if session is not None else None
        if session is None or event is None:
            self.status.show("nothing to copy")
            return
        from stashdbg_tui import copying

        try:
            if what == "value":
                text = copying.value_text(session.recording, event, self.part)
            elif what == "path":
                text = self.path_at_cursor()
            elif what == "event":
                text = copying.event_text(event)
            else:
                query, own = session.filter.whole_query, session.notebook.columns
                seq = None if self.timeline.has_focus and query else event.seq
                text = copying.command_line(session.recording.path, seq, query, own)
        except StashError as failure:
            self.status.show(f"nothing to copy: {failure.message}")
        else:
            self.status.show(copying.to_clipboard(self.app, text, named=what in ("path", "command")))

    def path_at_cursor(self) -> str:
        """Return the JSON pointer of the field at the cursor, after the part it is in."""
        pointer = self.payload.pointer
        part = "input" if self.part == "input" else "value"
        return f"{part}{pointer}" if pointer is not None else part

    def action_write(self, file: str) -> None:
        """Write the whole value shown to a new file."""
        if self.session is not None and self.session.event is not None:
            from stashdbg_tui.copying import save_value

            self.status.show(save_value(self.session.recording, self.session.event, self.part, file))
