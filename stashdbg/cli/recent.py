"""``stashdbg recent``: what was opened here, and the sessions of agents in their usual folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.cells import clip
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.options import JsonOption

if TYPE_CHECKING:
    from stashdbg_core.formats.session_finder import FoundSession

_LISTED = 40


def command(
    words: Annotated[list[str] | None, typer.Argument(metavar="[WORD...]", help="Only those with these words.")] = None,
    everything: Annotated[bool, typer.Option("--all", help=f"All of them, not the newest {_LISTED}.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List what can be opened: files opened lately, sessions of agents, recordings of this folder; newest first."""
    print_recent(words or [], everything=everything, as_json=as_json)


def print_recent(words: list[str], *, everything: bool = False, as_json: bool = False) -> None:
    """Write the list."""
    from stashdbg_core.formats.recent import RecentFiles, recent_path
    from stashdbg_core.formats.session_finder import find_sessions, matching

    found = find_sessions(Path.home(), os.environ, Path(), RecentFiles(recent_path()))
    fitting = matching(found, " ".join(words))
    listed = fitting if everything else fitting[:_LISTED]
    print_found(listed, as_json=as_json)
    if as_json:
        return
    if not found:
        console.narrate("nothing was opened here yet, and no agent's sessions were found; stashdbg demo opens a run")
    elif not listed:
        console.narrate(f"none of {len(found):,} has these words")
    elif len(fitting) > len(listed):
        console.narrate(f"{len(fitting) - len(listed):,} more; --all lists them, a word narrows them down")


def print_found(found: Sequence[FoundSession], *, as_json: bool = False) -> None:
    """Write what can be opened: when it changed, who wrote it, how much it is, its title, and where it lies."""
    from stashdbg_core.session.choices import held_words
    from stashdbg_core.session.words import minute_words, size_words

    if as_json:
        console.ascii_text(json_text({"sessions": [session.to_json() for session in found]}) + "\n")
        return
    tools = [session.tool or "opened before" for session in found]
    held = [held_words(session) for session in found]
    tool_width, held_width = (max(map(len, words), default=0) for words in (tools, held))
    for session, tool, holds in zip(found, tools, held, strict=True):
        when = minute_words(session.changed)
        facts = f"{when:16}  {tool:<{tool_width}}  {size_words(session.size):>8}  "
        if held_width:
            facts += f"{holds:>{held_width}}  "
        title = session.title or session.path.stem
        console.line(Styled(facts, "dim"), clip(title, max(console.width() - len(facts), 20)))
        console.line("    ", str(session.path))
