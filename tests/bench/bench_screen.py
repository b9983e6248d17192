"""First paint and key to paint of the screen in a pseudo-terminal, beside a bare Line-API list in the same Textual.

``python tests/bench/bench_screen.py [EVENTS ...]`` prints a table; a million events are synthetic and take no file.
Up to ``MOST_IN_FILE`` events the run is opened from a file as well, by the screen and, where it is installed, by
``less``. Bytecode is cached, as it is after an installation.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pty
import select
import shutil
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from rows import Row, compared

ROOT = Path(__file__).parents[2]
ROWS, COLUMNS = 40, 120
KEYS = {"down": b"\x1b[B", "page down": b"\x1b[6~", "end": b"\x1b[F", "home": b"\x1b[H"}
LESS_KEYS = {"down": b"j", "page down": b" ", "end": b"G", "home": b"g"}
QUIET_SECONDS = 0.12
"""So long without output means that a paint is over."""
KEY_PRESSES = 25
MOST_IN_FILE = 100_000
MILLION = 1_000_000
WANTED = {"bare list": b"chan", "less": b'"version"'}
"""What the first screen that counts shows; elsewhere it is what the recorded calls returned."""
MOVES = [("down", "go(1)"), ("pagedown", "go(38)"), ("end", "go(1000000000)"), ("home", "go(-1000000000)")]


def bare_app(count: int):
    from textual.app import App
    from textual.geometry import Region, Size
    from textual.scroll_view import ScrollView
    from textual.strip import Segment, Strip

    class Bare(ScrollView, can_focus=True):
        BINDINGS: ClassVar = MOVES
        at = 0

        def on_mount(self):
            self.virtual_size = Size(self.size.width, count)

        def render_line(self, y):
            row = self.scroll_offset.y + y
            mark = ">" if row == self.at else " "
            return Strip([Segment(f"{mark} {row:>8} some channel some key some words about it")]).adjust_cell_length(
                self.size.width
            )

        def action_go(self, by):
            old, self.at = self.at, min(max(self.at + by, 0), count - 1)
            top = int(self.scroll_offset.y)
            if not top <= self.at < top + self.size.height:
                self.scroll_to(y=self.at if by < 0 else self.at - self.size.height + 1, animate=False, immediate=True)
            for row in (old, self.at):
                self.refresh(Region(0, row - int(self.scroll_offset.y), self.size.width, 1))

    class BareApp(App):
        def compose(self):
            yield Bare()

    return BareApp()


def endless_run(count: int):
    spec = importlib.util.spec_from_file_location("recordings", ROOT / "tests" / "tui" / "recordings.py")
    recordings = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recordings)
    return recordings.endless_run(count)


def screen_app(count: int):
    from stashdbg_tui.app import StashApp

    return StashApp(recording=endless_run(count))


def timeline_app(count: int):
    """The timeline over a session, without the panes that follow it."""
    from textual.app import App

    from stashdbg_core.session.session import Session
    from stashdbg_tui.screens import main
    from stashdbg_tui.theme import DARK
    from stashdbg_tui.widgets.timeline import Timeline

    class AloneApp(App):
        CSS_PATH = Path(main.__file__).with_name("main.tcss")
        BINDINGS: ClassVar = MOVES

        def __init__(self):
            super().__init__()
            self.register_theme(DARK)
            self.theme = DARK.name
            self.session = Session(endless_run(count))

        def compose(self):
            yield Timeline(id="rows")

        def on_mount(self):
            self.query_one(Timeline).show_session(self.session)

        def action_go(self, by):
            move = self.session.step(by)
            if move.made:
                self.query_one(Timeline).show_cursor(move.position)

    return AloneApp()


def file_app(path: str):
    from stashdbg_tui.app import StashApp

    return StashApp([Path(path)])


APPS = {
    "bare list": lambda text: bare_app(int(text)),
    "timeline alone": lambda text: timeline_app(int(text)),
    "whole screen": lambda text: screen_app(int(text)),
    "from a file": file_app,
}


class Terminal:
    """A child on a pseudo-terminal, and how long its answers take."""

    def __init__(self, kind: str, argument: str, cache: Path) -> None:
        self.pid, self.fd = pty.fork()
        if not self.pid:
            paths = os.pathsep.join(str(ROOT / part) for part in ("", "core", "tui"))
            os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": paths, "LESS": ""}
            os.environ |= {"PYTHONPYCACHEPREFIX": str(cache), "PYTHONDONTWRITEBYTECODE": ""}
            program = ["less", argument] if kind == "less" else [sys.executable, __file__, "--child", kind, argument]
            os.execvp(program[0], program)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def read_until_quiet(self, seconds: float, wanted: bytes = b"") -> tuple[float, bytes]:
        """Return when the first (or the wanted) output came, and all of it."""
        start, seen, first, last = time.perf_counter(), b"", 0.0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            ready, _, _ = select.select([self.fd], [], [], QUIET_SECONDS)
            if not ready:
                if first and time.perf_counter() - last >= QUIET_SECONDS:
                    break
                continue
            try:
                seen += os.read(self.fd, 1 << 16)
            except OSError:
                break
            last = time.perf_counter()
            if not first and wanted in seen:
                first = last - start
        return first, seen

    def key(self, code: bytes, wanted: bytes = b"") -> float:
        start = time.perf_counter()
        os.write(self.fd, code)
        first, _ = self.read_until_quiet(2.0, wanted)
        return first if first else time.perf_counter() - start

    def memory(self) -> int:
        text = Path(f"/proc/{self.pid}/status").read_text() if sys.platform == "linux" else ""
        return int(next((line.split()[1] for line in text.splitlines() if line.startswith("VmHWM")), 0)) // 1024

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def measure(kind: str, count: int, argument: str, cache: Path) -> list[str]:
    paints = []
    for turn in range(4):
        terminal = Terminal(kind, argument, cache)
        paints.append(terminal.read_until_quiet(20.0, wanted=WANTED.get(kind, b"answer"))[0])
        if turn < 3:
            terminal.close()
    keys = LESS_KEYS if kind == "less" else KEYS
    times = {name: [terminal.key(keys[name]) * 1000 for _ in range(KEY_PRESSES)] for name in ("down", "page down")}
    times |= {"end": [], "home": []}
    for turn in range(2 * KEY_PRESSES):  # one after the other: at the end there is no way to the end
        name = ("end", "home")[turn % 2]
        times[name].append(terminal.key(keys[name]) * 1000)
    cells = [f"{statistics.median(found):.1f}/{statistics.quantiles(found, n=20)[-1]:.1f}" for found in times.values()]
    cells.append(str(terminal.memory()))
    terminal.close()
    return [kind, f"{count:,}", f"{statistics.median(paints[1:]) * 1000:.0f}", *cells]  # the first fills caches


def keys_while_indexing(path: Path, cache: Path) -> list[float]:
    """Return the seconds from key to paint in the head of a file, up to when its index is there."""
    from stashdbg_core.store.index_cache import cache_path
    from stashdbg_core.store.source import FileSource

    index = cache_path(FileSource(path))
    terminal = Terminal("from a file", str(path), cache)
    terminal.read_until_quiet(20.0, wanted=b"answer")
    times = []
    while not index.exists():
        times.append(terminal.key(KEYS["down"], wanted=b"answer"))  # a paint of the progress is no answer
    terminal.close()
    index.unlink()
    return times


def rows() -> Iterator[Row]:
    """Yield first paint and key to paint, beside a bare list in the same Textual; wall clock, medians."""
    sys.path[:0] = [str(ROOT / part) for part in ("core", "tui")]
    from stashdbg_core.store.writer import write_recording

    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "bytecode"
        bare, whole = (measure(kind, MILLION, str(MILLION), cache) for kind in ("bare list", "whole screen"))
        alone = measure("timeline alone", MILLION, str(MILLION), cache)
        small, large = (
            measure(
                "from a file", count, str(write_recording(endless_run(count), Path(folder) / f"{count}.json")), cache
            )
            for count in (1_000, MOST_IN_FILE)
        )
        busy = keys_while_indexing(write_recording(endless_run(MILLION), Path(folder) / "million.json"), cache)
    paint = [float(one[2]) / 1e3 for one in (small, large, bare)]
    yield compared(f"first paint of {MOST_IN_FILE:,} events in a file", paint[1], "1,000 events", paint[0], "1 ×")
    yield compared("the same", paint[1], "a bare list in the same Textual", paint[2], "")
    for name, ours, bar in (("whole screen", whole, "4 ×"), ("timeline alone", alone, "1.5 ×")):
        for place, quantile in enumerate(("p50", "p95")):
            seconds, reference = (float(one[3].split("/")[place]) / 1e3 for one in (ours, bare))
            what = f"key to paint at {MILLION:,} events, {name}, {quantile}"
            yield compared(what, seconds, "the bare list", reference, bar)
    what = f"key to paint while a process indexes {MILLION:,} events, {len(busy)} keys, p95"
    yield compared(what, statistics.quantiles(busy, n=20)[-1], "the bare list, all of it there", reference, "50 ms")


def main() -> None:
    sys.path[:0] = [str(ROOT / part) for part in ("core", "tui")]
    from stashdbg_core.store.writer import write_recording

    counts = [int(text) for text in sys.argv[1:]] or [1_000, 100_000, 1_000_000]
    head = ["screen", "events", "first paint ms", *(f"{name} p50/p95" for name in KEYS), "peak MB"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "bytecode"
        for count in counts:
            rows += [measure(kind, count, str(count), cache) for kind in APPS if kind != "from a file"]
            if count <= MOST_IN_FILE:
                path = write_recording(endless_run(count), Path(folder) / f"{count}.json")
                kinds = ["from a file", *(["less"] if shutil.which("less") else [])]
                rows += [measure(kind, count, str(path), cache) for kind in kinds]
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        APPS[sys.argv[2]](sys.argv[3]).run()
    else:
        main()
