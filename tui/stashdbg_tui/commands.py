"""Every command of the screen, once: its id, keys, words, scope and help group.

Bindings, palette, help screen, ``docs/keys.md`` and ``stashdbg keys`` are all made from this table, so none
of them can drift. A command's id is stable: it is the name by which users remap keys. This module imports no textual.
"""

from __future__ import annotations

from collections.abc import Iterator

from stashdbg_tui.command import GROUPS, Command, Scope
from stashdbg_tui.command_table import COMMANDS

__all__ = [
    "COMMANDS",
    "GROUPS",
    "WHERE",
    "Command",
    "Scope",
    "command",
    "in_scope",
    "key_name",
    "key_names",
    "key_rows",
    "keys_markdown",
]

_BY_ID = {command.id: command for command in COMMANDS}

_NAMES = {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "colon": ":",
    "question_mark": "?",
    "right_curly_bracket": "}",
    "left_curly_bracket": "{",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "equals_sign": "=",
    "slash": "/",
    "full_stop": ".",
    "semicolon": ";",
    "ampersand": "&",
    "exclamation_mark": "!",
    "dollar_sign": "$",
    "apostrophe": "'",
    "minus": "-",
    "plus": "+",
    "delete": "Del",
    "shift+down": "Shift+↓",
    "shift+up": "Shift+↑",
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
        "A keymap is the file `stashdbg/keys.toml` in your configuration folder (`~/.config` on Linux):",
        "",
        "```toml",
        'preset = "pdb"             # n steps over, . and , go along hits; leave it out to keep the keys below',
        "",
        "[keys]",
        '"error.next" = "f3"        # one key, or several: ["f3", "x"]',
        "```",
        "",
        "A line that cannot be taken is named when stashdbg starts, and the others count.",
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
    "panel": "panel",
    "diff": "comparison",
    "diff-rows": "comparison, timelines",
    "diff-text": "comparison, what differs",
    "forks": "tree of forks",
    "report": "bug report",
    "reader": "help, statistics",
    "menu": "menu of actions",
    "dialog": "dialogs",
    "editor": "editor inside the screen",
    "draft": "draft of an edit",
    "proposal": "proposed fork",
}
