"""Draws the pictures of README and docs from the real app: ``python screenshots/generate.py [NAME…]``.

Each scene is the app on a recording, some keys and a size; written is Textual's own SVG without the web fonts it
would fetch.
"""

from __future__ import annotations

import asyncio
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from textual.pilot import Pilot

from stashdbg_tui.app import StashApp

HERE = Path(__file__).parent
DEMO = HERE.parent / "stashdbg" / "data" / "demo.json"


@dataclass(frozen=True)
class Scene:
    """One picture."""

    keys: tuple[str, ...] = ()
    theme: str = "dark"
    columns: int = 130
    rows: int = 34


FAILED = ("G", "X")
FIELD = ("2", "tab", "j", "j")

SCENES = {
    "debugger": Scene(keys=(*":60", "enter", "4")),
    "stats": Scene(keys=("A",)),
    "tutorial-error": Scene(keys=FAILED, rows=30),
    "tutorial-continue": Scene(keys=(*FAILED, "b", "C", "C"), rows=30),
    "tutorial-last": Scene(keys=(*FAILED, *FIELD, "L"), rows=30),
    "tutorial-origin": Scene(keys=(*FAILED, *FIELD, "L", "B"), rows=30),
    "tutorial-why": Scene(keys=(*FAILED, *FIELD, "L", "B", "W"), rows=34),
}


def without_web_fonts(svg: str) -> str:
    """Return the picture with its font faces, which name a remote host, replaced by what the reader has."""
    svg = svg.replace("<text ", '<text xml:space="preserve" ')  # some viewers drop leading blanks
    svg = re.sub(r"@font-face\s*\{[^}]*\}\s*", "", svg)
    return svg.replace("Fira Code", "ui-monospace").replace("ui-monospace,", "ui-monospace, Menlo, DejaVu Sans Mono,")


async def draw(scene: Scene) -> str:
    """Return the SVG of a scene."""
    app = StashApp([DEMO], theme=scene.theme)
    with TemporaryDirectory() as folder:
        app.main_screen.notebook_folder = Path(folder)
        async with app.run_test(size=(scene.columns, scene.rows)) as pilot:
            await settled(app, pilot)
            for key in scene.keys:
                await pilot.press(key)
                await settled(app, pilot)
            await pilot.pause(0.2)
            return without_web_fonts(app.export_screenshot(title="stashdbg"))


async def settled(app: StashApp, pilot: Pilot[None]) -> None:
    """Wait until the screen has come to rest."""
    for _ in range(400):
        await app.workers.wait_for_complete()
        await pilot.pause()
        screen = app.main_screen
        if screen.session is not None and screen.payload.settled and not screen.busy:
            return
        await pilot.pause(0.01)


def main(names: list[str]) -> int:
    """Write the scenes of these names, all of them if there are none."""
    for name in names or SCENES:
        target = HERE / f"{name}.svg"
        target.write_text(asyncio.run(draw(SCENES[name])) + "\n", encoding="utf-8")
        print(target.relative_to(HERE.parent))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
