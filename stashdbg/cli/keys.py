"""``stashdbg keys``: the debugger's key table, from the registry that the screen itself is made of."""

from __future__ import annotations

from stashdbg.cli import console
from stashdbg.cli.cells import fit
from stashdbg.cli.json_out import json_text
from stashdbg.cli.options import JsonOption


def command(as_json: JsonOption = False) -> None:
    """List the debugger's keys."""
    from stashdbg_tui.commands import COMMANDS, GROUPS, key_names, key_rows

    if as_json:
        console.ascii_text(json_text({"keys": key_rows()}) + "\n")
        return
    spelled = {entry.id: " ".join(key_names(entry)) for entry in COMMANDS}
    keys_wide = max(map(len, spelled.values()))
    ids_wide = max(map(len, spelled))
    for place, group in enumerate(GROUPS):
        if place:
            console.line()
        console.line(console.Styled(group, "bold"))
        for entry in COMMANDS:
            if entry.group == group:
                keys = console.Styled(fit(spelled[entry.id], keys_wide), "key")
                console.line("  ", keys, f"  {entry.id.ljust(ids_wide)}  {entry.tooltip}")
