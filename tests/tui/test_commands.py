"""The registry: every command can be run, no key means two things, and the key page is current."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import get_args

from stashdbg_core.session.debugger import Verb
from stashdbg_core.session.inspection import Part
from stashdbg_tui.command import MAIN_SCOPES
from stashdbg_tui.commands import COMMANDS, GROUPS, in_scope, key_rows
from stashdbg_tui.screens.actions import ActionsScreen
from stashdbg_tui.screens.dialog import Dialog
from stashdbg_tui.screens.diff import DiffScreen
from stashdbg_tui.screens.edit import DraftScreen, ForkScreen, InlineScreen
from stashdbg_tui.screens.forks import ForksScreen
from stashdbg_tui.screens.report import ReportScreen
from stashdbg_tui.screens.stats import StatsScreen

WORDS = {
    "seek": get_args(Verb), "tab": get_args(Part), "list": ("lanes", "marks", "recordings", "watches"),
}  # fmt: skip
"""What the actions take that are told what to do by a word; ``move`` refuses any other itself."""
FORBIDDEN = {
    "ctrl+j",
    "ctrl+m",
    "ctrl+i",
    "ctrl+h",
    "ctrl+left_square_bracket",
    "ctrl+enter",
    "ctrl+b",
    "ctrl+a",
    "ctrl+s",
}


def test_no_key_means_two_things_in_one_place():
    for scopes in (("app", "main", pane) for pane in ("timeline", "inspector", "panel")):
        counts = Counter(key for entry in in_scope(*scopes) for key in (*entry.keys, *entry.fixed))
        assert [key for key, count in counts.items() if count > 1] == []


def test_ids_are_unique_and_words_are_whole():
    assert len({entry.id for entry in COMMANDS}) == len(COMMANDS)
    for entry in COMMANDS:
        assert entry.group in GROUPS
        assert entry.keys or entry.fixed or entry.palette
        assert entry.tooltip[0].isupper() and entry.tooltip.endswith(".")
        assert not FORBIDDEN & {*entry.keys, *entry.fixed}
        assert not any(key.startswith("alt+") for key in entry.keys)


def test_the_key_table_has_every_command():
    assert {row["id"] for row in key_rows()} == {entry.id for entry in COMMANDS}


def test_every_action_exists(drive, agent):
    from textual.actions import parse

    async def test(d):
        panes = {"inspector": d.screen.payload, "panel": d.screen.panel}
        places = {"app": d.app, "main": d.screen, "timeline": d.screen, **panes}
        assert set(places) == set(MAIN_SCOPES)
        places |= {
            "reader": StatsScreen, "menu": ActionsScreen, "dialog": Dialog, "editor": InlineScreen,
            "draft": DraftScreen, "proposal": ForkScreen, "report": ReportScreen, "diff": DiffScreen,
            "forks": ForksScreen,
        }  # fmt: skip
        for entry in in_scope(*places):
            _, name, arguments = parse(entry.action)
            if entry.action.startswith("app."):
                assert callable(getattr(d.app, f"action_{name}", None)), entry.id
                continue
            assert callable(getattr(places[entry.scope], f"action_{name}", None)), entry.id
            assert isinstance(arguments, tuple)
            if name in WORDS:
                assert arguments[0] in WORDS[name], entry.id
            elif name == "move":
                d.screen.action_move(*arguments)

    drive(test, recording=agent)


def test_a_keymap_moves_keys_by_id_and_arrows_stay(drive, agent):
    async def test(d):
        d.app.set_keymap({"step.forward": "n", "help": "f2"})
        await d.settle()
        await d.press("n", "down")
        assert d.position == 2
        await d.press("j")
        assert d.position == 2
        assert "n/k next" in d.lines()[-1] and "f2 help" in d.lines()[-1]

    drive(test, recording=agent)


def test_the_registry_loads_no_textual():
    code = "import sys, stashdbg_tui.commands; sys.exit('textual' in sys.modules or 'rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
