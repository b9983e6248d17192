"""How a long run goes: what was done, and whether the memory of a process stays flat."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles

REPORT_SECONDS = 30.0
FLAT = 1.25
"""How much more memory than after its first quarter a part may hold at its end and count as flat."""


class Diary:
    """Prints memory as time goes by and, at the end, whether it stayed flat."""

    def __init__(self, part: str, minutes: float, pid: int | str = "self") -> None:
        self._part = part
        self._pid = pid
        self._began = self._told = time.monotonic()
        self._until = self._began + minutes * 60
        self._seen: list[tuple[float, float]] = []
        self._waits: list[float] = []
        self._slowest = 1.0

    def follow(self, pid: int) -> None:
        """Read the memory of another process from now on."""
        self._pid = pid

    def waited(self, seconds: float, keys: Sequence[str] = ()) -> None:
        """Note how long the keys that were sent together took until the screen had come to rest."""
        self._waits.append(seconds)
        if keys and seconds > self._slowest:
            self._slowest = seconds
            self._print(f"slowest so far, {seconds:.1f} s: {keys}")

    def _slow(self) -> str:
        """Return the median and the 95th percentile of the waits."""
        if len(self._waits) < 2:
            return ""
        cuts = quantiles(self._waits, n=20)
        return f", {median(self._waits) * 1000:.0f} ms p50 and {cuts[-1] * 1000:.0f} ms p95 for keys sent together"

    def goes_on(self, done: str) -> bool:
        """Tell whether there is time left; now and then print what was done."""
        now = time.monotonic()
        if now - self._told >= REPORT_SECONDS or not self._seen:
            self._told = now
            self._seen.append((now - self._began, resident(self._pid)))
            self._print(f"{self._seen[-1][0]:6.0f} s {self._seen[-1][1]:6.0f} MB  {done}{self._slow()}")
        return now < self._until

    def end(self, done: str) -> None:
        """Print the outcome."""
        last = resident(self._pid) or self._seen[-1][1]
        quarter = self._seen[min(len(self._seen) - 1, 1 + len(self._seen) // 4)][1]
        word = "flat" if last <= quarter * FLAT else "GREW"
        self._print(f"done: {done}{self._slow()}; memory {quarter:.0f} MB early, {last:.0f} MB at the end: {word}")

    def _print(self, text: str) -> None:
        print(f"{self._part:9} {text}", flush=True)


def resident(pid: int | str) -> float:
    """Return the resident megabytes of a process; 0 if it is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return 0.0
