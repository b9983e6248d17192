"""Draws the pictures of README and docs from the real app: ``python screenshots/generate.py [--check] [NAME…]``.

With ``--check`` nothing is written: the pictures that do not say what the app says now are named, and the exit code
is 1.

Each scene is the app on a recording, some keys and a size; written is Textual's own SVG without the web fonts it
would fetch.
"""

from __future__ import annotations

import asyncio
import html
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from running import draw_running
from textual.pilot import Pilot

from stashdbg import fork, open_recording, write_recording
from stashdbg_tui.app import StashApp
from stashdbg_tui.diff_app import DiffApp

HERE = Path(__file__).parent
DEMO = HERE.parent / "stashdbg" / "data" / "demo.json"
_TEXT = re.compile(r"<text [^>]*>([^<]*)</text>")
_OF_TODAY = re.compile(
    r"^run-\d|^\d{4}-\d\d-\d\d|^\d\d:\d\d|^[\d.:]+$|^(ms|s|µs)$|^[─█▁▂▃▄▅▆▇]+$|127\.0\.0\.1:\d|[0-9a-f]{32}|…$|\"r-[0-9a-f]"
)


@dataclass(frozen=True)
class Scene:
    """One picture."""

    keys: tuple[str, ...] = ()
    theme: str = "dark"
    columns: int = 130
    rows: int = 34


RUNNING = ("run-preview", "run-ended")
"""Drawn together, of one run."""
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


async def draw_diff() -> str:
    """Return the SVG of the comparison: the demo's run, and its program run on from a fork with the right rate."""
    sys.path.insert(0, str(HERE.parent / "docs" / "examples"))
    from refund_agent import main as work_the_desk

    rate = {"base": "USD", "quote": "EUR", "rate": 0.92, "source": "archive"}
    with TemporaryDirectory() as folder:
        forked, following = Path(folder) / "fork.json", Path(folder) / "mended.json"
        write_recording(fork(open_recording(DEMO), at=59, override=rate), forked)
        with redirect_stdout(StringIO()):
            work_the_desk(str(following), str(forked))
        app = DiffApp((DEMO, following), theme="dark")
        async with app.run_test(size=(130, 34)) as pilot:
            while app.diff_screen.comparison is None:
                await pilot.pause(0.05)
            await app.workers.wait_for_complete()
            await pilot.press("d", "n")
            await pilot.pause(0.5)
            return without_web_fonts(app.export_screenshot(title="stashdbg diff"))


def says(svg: str) -> list[str]:
    """Return the words of a picture in order, without the times and ids that a run of today has."""
    words = " ".join(html.unescape(text) for text in _TEXT.findall(svg)).replace("\N{NO-BREAK SPACE}", " ").split()
    return [word for word in words if not _OF_TODAY.search(word)]


def drawn(names: list[str]) -> Iterator[tuple[Path, str]]:
    """Yield the file and the SVG of the scenes of these names, of all if there are none."""
    wanted = names or [*SCENES, "diff", *RUNNING]
    if set(wanted) & {"run", *RUNNING}:
        for name, picture in asyncio.run(draw_running(settled)).items():
            yield HERE / f"{name}.svg", without_web_fonts(picture) + "\n"
    for name in wanted:
        if name not in {"run", *RUNNING}:
            picture = asyncio.run(draw_diff() if name == "diff" else draw(SCENES[name]))
            yield HERE / f"{name}.svg", picture + "\n"


def stale(names: list[str]) -> list[str]:
    """Return the pictures, of these names or all, that do not say what the app says now."""
    return [
        file.name
        for file, picture in drawn(names)
        if not file.exists() or says(picture) != says(file.read_text("utf-8"))
    ]


def main(words: list[str]) -> int:
    """Write, or check, the scenes of these names, all of them if there are none."""
    names = [word for word in words if word != "--check"]
    if "--check" in words:
        found = stale(names)
        print("\n".join(f"stale: screenshots/{name}" for name in found) or "all pictures are current")
        return 1 if found else 0
    for file, picture in drawn(names):
        file.write_text(picture, encoding="utf-8")
        print(file.relative_to(HERE.parent))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
