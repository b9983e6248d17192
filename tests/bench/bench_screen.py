"""First paint and key to paint of the screen in a pseudo-terminal, beside a bare Line-API list in the same Textual.

``python tests/bench/bench_screen.py [EVENTS ...]`` prints a table; a million events are synthetic and take no file.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pty
import select
import signal
import statistics
import struct
import sys
import termios
import time
from pathlib import Path
from typing import ClassVar

ROOT = Path(__file__).parents[2]
ROWS, COLUMNS = 40, 120
KEYS = {"down": b"\x1b[B", "page down": b"\x1b[6~", "end": b"\x1b[F", "home": b"\x1b[H"}
QUIET_SECONDS = 0.12
"""So long without output means that a paint is over."""


def bare_app(count: int):
    from textual.app import App
    from textual.geometry import Region, Size
    from textual.scroll_view import ScrollView
    from textual.strip import Segment, Strip

    class Bare(ScrollView, can_focus=True):
        BINDINGS: ClassVar = [
            ("down", "go(1)"),
            ("pagedown", "go(38)"),
            ("end", "go(1000000000)"),
            ("home", "go(-1000000000)"),
        ]
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


def stash_app(count: int):
    from stashdbg_tui.app import StashApp

    spec = importlib.util.spec_from_file_location("recordings", ROOT / "tests" / "tui" / "recordings.py")
    recordings = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recordings)
    return StashApp(recording=recordings.endless_run(count))


class Terminal:
    """A child on a pseudo-terminal, and how long its answers take."""

    def __init__(self, *arguments: str) -> None:
        self.pid, self.fd = pty.fork()
        if not self.pid:
            paths = os.pathsep.join(str(ROOT / part) for part in ("", "core", "tui"))
            os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": paths}
            os.execv(sys.executable, [sys.executable, __file__, "--child", *arguments])
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

    def key(self, code: bytes) -> float:
        start = time.perf_counter()
        os.write(self.fd, code)
        first, _ = self.read_until_quiet(2.0)
        return first if first else time.perf_counter() - start

    def memory(self) -> int:
        text = Path(f"/proc/{self.pid}/status").read_text() if sys.platform == "linux" else ""
        return int(next((line.split()[1] for line in text.splitlines() if line.startswith("VmHWM")), 0)) // 1024

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def measure(kind: str, count: int) -> list[str]:
    paints, cells = [], []
    for _ in range(3):
        terminal = Terminal(kind, str(count))
        paints.append(terminal.read_until_quiet(20.0, wanted=b"chan" if kind == "bare" else b"answer")[0])
        if len(paints) < 3:
            terminal.close()
    for code in KEYS.values():
        times = [terminal.key(code) * 1000 for _ in range(25)]
        cells.append(f"{statistics.median(times):.0f}/{statistics.quantiles(times, n=20)[-1]:.0f}")
    cells.append(str(terminal.memory()))
    terminal.close()
    return [kind, f"{count:,}", f"{statistics.median(paints) * 1000:.0f}", *cells]


def main() -> None:
    counts = [int(text) for text in sys.argv[1:]] or [1_000, 100_000, 1_000_000]
    head = ["screen", "events", "first paint ms", *(f"{name} p50/p95" for name in KEYS), "peak MB"]
    rows = [measure(kind, count) for count in counts for kind in ("bare", "stash")]
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        (bare_app if sys.argv[2] == "bare" else stash_app)(int(sys.argv[3])).run()
    else:
        main()
