"""Which keys the debugger's last line names: those of the pane that has the focus."""

from __future__ import annotations

from stashdbg_tui.widgets.key_line import Keys

_TIMELINE: Keys = (
    ("step.forward/step.back", "next"),
    ("error.next", "error"),
    ("search", "search"),
    ("filter", "filter"),
    ("trace.why", "why"),
    ("program.run", "run"),
    ("program.stop", "stop"),
    ("actions", "actions"),
    ("help", "help"),
    ("view.close", "quit"),
)
_PAYLOAD: Keys = (
    ("scroll.down/scroll.up", "line"),
    ("fold", "fold"),
    ("trace.last", "last"),
    ("trace.origin", "origin"),
    ("trace.why", "why"),
    ("program.stop", "stop"),
    ("view.dismiss", "events"),
    ("search", "find"),
    ("help", "help"),
    ("view.close", "quit"),
)
_PANEL: Keys = (
    ("panel.down/panel.up", "line"),
    ("panel.choose", "choose"),
    ("panel.drop", "take away"),
    ("program.stop", "stop"),
    ("help", "help"),
    ("view.close", "close"),
)
_OF_PANE = {"payload": _PAYLOAD, "panel": _PANEL}


def main_keys(pane: str | None, *without: str) -> Keys:
    """Return the keys of a pane, by its id, without the commands that do nothing now."""
    return tuple(entry for entry in _OF_PANE.get(pane or "", _TIMELINE) if entry[0] not in without)
