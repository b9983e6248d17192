"""Every command of the screen, once: its id, keys, words, scope and help group.

Bindings, footer, palette, help screen, ``docs/keys.md`` and ``stashdbg keys`` are all made from this table, so none
of them can drift. A command's id is stable: it is the name by which users remap keys. This module imports no textual.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Scope: TypeAlias = Literal["app", "main", "timeline", "inspector"]
"""Where a key counts: everywhere, on the main screen, or only while that pane has the focus."""

GROUPS = ("Move", "Inspect", "Panes", "General")
"""Help groups, in the order of the help screen."""


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a user can ask for."""

    id: str
    """Stable name, ``noun.verb``; what a keymap file maps."""
    keys: tuple[str, ...]
    """Keys that a user may remap, in Textual's names."""
    title: str
    """A few words: palette, help, key table."""
    tooltip: str
    """One sentence that says what it does."""
    action: str
    """The Textual action that runs it."""
    group: str
    scope: Scope = "main"
    fixed: tuple[str, ...] = ()
    """Keys that always work, such as arrows; not remappable."""
    footer: str | None = None
    """Short label in the footer; None keeps it out."""
    palette: bool = True
    at_once: bool = False
    """Whether it runs before the focused pane sees the key, so that keys typed right after it go where it leads."""


COMMANDS: tuple[Command, ...] = (
    # Move: lower case is forward in time, upper case back.
    Command("step.forward", ("j", "l"), "Next event",
            "Step to the event that started next.", "move('step', 1)", "Move", "timeline", ("down", "right"), "next"),
    Command("step.back", ("k", "h"), "Previous event",
            "Step back to the event that started before.",
            "move('step', -1)", "Move", "timeline", ("up", "left"), "back"),
    Command("step.in", ("s",), "Step forward, from any pane",
            "Step to the next event and keep the focus where it is.", "move('step', 1)", "Move"),
    Command("step.out", ("S",), "Step back, from any pane",
            "Step to the previous event and keep the focus where it is.", "move('step', -1)", "Move"),
    Command("go.first", ("g",), "First event",
            "Jump to the start of the run.", "move('first')", "Move", "timeline", ("home",)),
    Command("go.last", ("G",), "Last event",
            "Jump to the end of the run.", "move('last')", "Move", "timeline", ("end",)),
    Command("page.half_forward", ("ctrl+d",), "Half a page forward",
            "Move half a page of events forward.", "page(0.5)", "Move", "timeline"),
    Command("page.half_back", ("ctrl+u",), "Half a page back",
            "Move half a page of events back.", "page(-0.5)", "Move", "timeline"),
    Command("page.forward", ("space",), "Page forward",
            "Move a page of events forward.", "page(1)", "Move", "timeline", ("pagedown",)),
    Command("page.back", (), "Page back",
            "Move a page of events back.", "page(-1)", "Move", "timeline", ("pageup",)),
    Command("goto", ("colon",), "Go to…",
            "Go to 123, +20, -5, 50% or llm:3; or :write FILE, :q.", "prompt", "Move", footer="go to", at_once=True),
    Command("history.back", ("left_square_bracket",), "Back in jump history",
            "Return to where the last jump started.", "move('back')", "Move"),
    Command("history.forward", ("right_square_bracket",), "Forward in jump history",
            "Undo a step back in the jump history.", "move('forward')", "Move"),
    # Inspect
    Command("tab.value", ("1",), "Show the value",
            "Show what the call returned or raised.", "tab('value')", "Inspect"),
    Command("tab.input", ("2",), "Show the input",
            "Show what the call was given.", "tab('input')", "Inspect"),
    Command("tab.fields", ("3",), "Show the fields",
            "Show every field of the event's own record.", "tab('fields')", "Inspect"),
    Command("wrap.toggle", ("w",), "Wrap long lines",
            "Fold long lines, or let them run out to the right.", "wrap", "Inspect", footer="wrap"),
    Command("copy.value", ("y",), "Copy what the inspector shows",
            "Copy the shown value through the terminal (OSC 52).", "copy", "Inspect", footer="copy"),
    Command("scroll.down", ("j",), "Scroll down",
            "Scroll the value one line down.", "scroll_by(0, 1)", "Inspect", "inspector", ("down",), palette=False),
    Command("scroll.up", ("k",), "Scroll up",
            "Scroll the value one line up.", "scroll_by(0, -1)", "Inspect", "inspector", ("up",), palette=False),
    Command("scroll.right", ("l",), "Scroll right",
            "Scroll the value to the right.", "scroll_by(8, 0)", "Inspect", "inspector", ("right",), palette=False),
    Command("scroll.left", ("h",), "Scroll left",
            "Scroll the value to the left.", "scroll_by(-8, 0)", "Inspect", "inspector", ("left",), palette=False),
    Command("scroll.page_down", ("space",), "Page down in the value",
            "Scroll the value a page down.", "scroll_page(1)", "Inspect", "inspector", ("pagedown",), palette=False),
    Command("scroll.page_up", (), "Page up in the value",
            "Scroll the value a page up.", "scroll_page(-1)", "Inspect", "inspector", ("pageup",), palette=False),
    Command("scroll.half_down", ("ctrl+d",), "Half a page down in the value",
            "Scroll the value half a page down.", "scroll_page(0.5)", "Inspect", "inspector", palette=False),
    Command("scroll.half_up", ("ctrl+u",), "Half a page up in the value",
            "Scroll the value half a page up.", "scroll_page(-0.5)", "Inspect", "inspector", palette=False),
    Command("scroll.top", ("g",), "Top of the value",
            "Scroll to the start of the value.", "scroll_edge(-1)", "Inspect", "inspector", ("home",), palette=False),
    Command("scroll.end", ("G",), "End of the value",
            "Scroll to the end of the value.", "scroll_edge(1)", "Inspect", "inspector", ("end",), palette=False),
    # Panes
    Command("pane.next", ("tab",), "Next pane",
            "Give the focus to the next pane.", "pane(1)", "Panes", footer="pane"),
    Command("pane.previous", ("shift+tab",), "Previous pane",
            "Give the focus to the previous pane.", "pane(-1)", "Panes"),
    Command("pane.open", ("enter",), "Look into the value",
            "Give the focus to the inspector.", "open", "Panes", "timeline"),
    Command("pane.zoom", ("z",), "Zoom the pane",
            "Fill the screen with this pane, or bring the others back.", "zoom", "Panes", footer="zoom"),
    # General
    Command("help", ("question_mark",), "Keys and help",
            "List every key with what it does.", "help", "General", "app", ("f1",), "help"),
    Command("palette", ("ctrl+p",), "Command palette",
            "Find a command by its name.", "command_palette", "General", "app", palette=False),
    Command("view.close", ("q",), "Close, or quit",
            "Close this view; on the main screen, quit.", "close", "General", "app", footer="quit"),
    Command("view.dismiss", (), "Dismiss",
            "Close the prompt or dialog, bring a zoomed pane back; never quits.",
            "dismiss_view", "General", "app", ("escape",), palette=False),
    Command("quit", ("Q",), "Quit now",
            "Leave stashdbg from wherever you are.", "quit", "General", "app", ("ctrl+q",)),
)  # fmt: skip

_BY_ID = {command.id: command for command in COMMANDS}

_NAMES = {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "colon": ":",
    "question_mark": "?",
    "slash": "/",
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "home": "Home",
    "end": "End",
    "space": "Space",
    "tab": "Tab",
    "shift+tab": "Shift+Tab",
    "enter": "Enter",
    "escape": "Esc",
    "f1": "F1",
}


def command(command_id: str) -> Command:
    """Return the command with this id.

    Raises:
        KeyError: There is none.
    """
    return _BY_ID[command_id]


def in_scope(*scopes: Scope) -> Iterator[Command]:
    """Yield the commands of these scopes, in table order."""
    return (entry for entry in COMMANDS if entry.scope in scopes)


def key_name(key: str) -> str:
    """Return a key as people write it: ``left_square_bracket`` is ``[``, ``ctrl+d`` is ``Ctrl+D``."""
    if key in _NAMES:
        return _NAMES[key]
    if key.startswith("ctrl+"):
        return "Ctrl+" + key[5:].upper()
    return key


def key_names(entry: Command) -> tuple[str, ...]:
    """Return all keys of a command as people write them, the remappable ones first."""
    return tuple(key_name(key) for key in (*entry.keys, *entry.fixed))


def key_rows() -> list[dict[str, object]]:
    """Return the key table as data, for ``stashdbg keys --json``."""
    return [
        {
            "id": entry.id,
            "keys": list(key_names(entry)),
            "title": entry.title,
            "tooltip": entry.tooltip,
            "scope": entry.scope,
            "group": entry.group,
        }
        for entry in COMMANDS
    ]


def keys_markdown() -> str:
    """Return ``docs/keys.md``: one table a group."""
    lines = [
        "# Keys",
        "",
        "Lower case goes forward in time, upper case back. Each command has an id, by which a keymap can give it",
        "other keys; the keys in *italics* always stay.",
        "",
        "Generated from `tui/stashdbg_tui/commands.py`; `stashdbg keys` prints the same table.",
    ]
    for group in GROUPS:
        lines += ["", f"## {group}", "", "| keys | does | id | where |", "|---|---|---|---|"]
        for entry in COMMANDS:
            if entry.group == group:
                keys = [f"`{key_name(key)}`" for key in entry.keys] + [f"*{key_name(key)}*" for key in entry.fixed]
                lines.append(f"| {' '.join(keys)} | {entry.tooltip} | `{entry.id}` | {WHERE[entry.scope]} |")
    return "\n".join(lines) + "\n"


WHERE: dict[Scope, str] = {
    "app": "everywhere",
    "main": "any pane",
    "timeline": "timeline",
    "inspector": "inspector",
}
