"""The pictures of a program that runs on: that of ``docs/programs.md``, recorded, forked and run on."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import chdir
from pathlib import Path

from textual.pilot import Pilot

from stashdbg import fork, open_recording, write_recording
from stashdbg_core.programs.runs import trust
from stashdbg_core.programs.runs.starting import record_program
from stashdbg_tui.app import StashApp

PAGE = Path(__file__).parent.parent / "docs" / "programs.md"
REPLY = {"choices": [{"message": {"content": "ask a person"}}], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}

Settle = Callable[[StashApp, Pilot[None]], Awaitable[None]]


async def draw_running(settled: Settle) -> dict[str, str]:
    """Return the SVGs of the preview and of the run's end, by name."""
    desk = Path(tempfile.gettempdir()) / "desk"
    shutil.rmtree(desk, ignore_errors=True)
    desk.mkdir()
    before = dict(os.environ)
    try:
        with chdir(desk):
            _set_up(desk)
            return await _drawn(desk, settled)
    finally:
        os.environ.clear()
        os.environ.update(before)
        shutil.rmtree(desk, ignore_errors=True)


def _set_up(desk: Path) -> None:
    """Write the page's program, start its model, record a run and fork it."""
    blocks = re.findall(r"```python[^\n]*\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    program, server = blocks[:2]
    (desk / "agent.py").write_text(program, encoding="utf-8")
    exec(compile(server, "model", "exec"), {})
    os.environ["XDG_STATE_HOME"] = str(desk / "state")
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = record_program(["python", "agent.py"], desk / "run.json")
    run.start()
    if run.wait().exit_code:
        raise SystemExit("the program of docs/programs.md failed")
    parent = open_recording(desk / "run.json")
    trust.remember_fork(desk / "run.json", write_recording(fork(parent, 0, override=REPLY), desk / "branch.json"))


async def _drawn(desk: Path, settled: Settle) -> dict[str, str]:
    app = StashApp([desk / "branch.json"], theme="dark")
    app.main_screen.notebook_folder = desk / "notes"
    async with app.run_test(size=(110, 30)) as pilot:
        await settled(app, pilot)
        await pilot.press("r")
        await settled(app, pilot)
        await pilot.pause(0.3)
        preview = app.export_screenshot(title="stashdbg")
        await pilot.press("enter")
        while app.main_screen.live is None or app.main_screen.runs:
            await pilot.pause(0.05)
        await settled(app, pilot)
        await pilot.pause(0.2)
        return {"run-preview": preview, "run-ended": app.export_screenshot(title="stashdbg")}
