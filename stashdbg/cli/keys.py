"""``stashdbg keys``: the debugger's key table, from the registry that the screen itself is made of."""

from __future__ import annotations

from textwrap import wrap

from stashdbg.cli import console
from stashdbg.cli.cells import fit
from stashdbg.cli.console import Part, Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.options import JsonOption

_KEYS = 16
"""Columns of the keys; more keys than fit are a few of the fixed ones, which ``--json`` lists too."""


def command(as_json: JsonOption = False) -> None:
    """List the debugger's keys."""
    from stashdbg_tui.commands import COMMANDS, GROUPS, key_names, key_rows

    if as_json:
        console.ascii_text(json_text({"keys": key_rows()}) + "\n")
        return
    spelled = {entry.id: " ".join(key_names(entry)) for entry in COMMANDS}
    keys_wide = min(max(map(len, spelled.values())), _KEYS)
    room = max(console.width() - keys_wide - 4, 20)
    for place, group in enumerate(GROUPS):
        if place:
            console.line()
        console.line(Styled(group, "bold"))
        for entry in COMMANDS:
            if entry.group == group:
                first, *others = wrap(f"{entry.tooltip} {entry.id}", room, break_on_hyphens=False)
                console.line("  ", Styled(fit(spelled[entry.id], keys_wide), "key"), "  ", *_words(first, entry.id))
                for line in others:
                    console.line(" " * (keys_wide + 4), *_words(line, entry.id))


def _words(line: str, name: str) -> tuple[Part, ...]:
    """Return a line of what a command does, its id apart from it."""
    return (line.removesuffix(name), Styled(name, "dim")) if line.endswith(name) else (line,)
