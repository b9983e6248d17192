"""How a long run goes: what was done, and whether the memory of a process stays flat."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

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

    def follow(self, pid: int) -> None:
        """Read the memory of another process from now on."""
        self._pid = pid

    def goes_on(self, done: str) -> bool:
        """Tell whether there is time left; now and then print what was done."""
        now = time.monotonic()
        if now - self._told >= REPORT_SECONDS or not self._seen:
            self._told = now
            self._seen.append((now - self._began, resident(self._pid)))
            print(f"{self._part:9} {self._seen[-1][0]:6.0f} s {self._seen[-1][1]:6.0f} MB  {done}", flush=True)
        return now < self._until

    def end(self, done: str) -> None:
        """Print the outcome."""
        last = resident(self._pid) or self._seen[-1][1]
        quarter = self._seen[min(len(self._seen) - 1, 1 + len(self._seen) // 4)][1]
        word = "flat" if last <= quarter * FLAT else "GREW"
        print(
            f"{self._part:9} done: {done}; memory {quarter:.0f} MB early, {last:.0f} MB at the end: {word}", flush=True
        )


def resident(pid: int | str) -> float:
    """Return the resident megabytes of a process; 0 if it is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return 0.0
