"""What every benchmark shares: rows of one shape, medians of rounds that take turns, and what they were taken with."""

from __future__ import annotations

import gc
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

ROUNDS = 5
_PACKAGES = ("msgspec", "textual", "typer", "regex", "orjson", "deepdiff")
_PROGRAMS = ("rg", "git", "jq")


class Row(NamedTuple):
    """One figure beside its reference, both of the same run."""

    what: str
    ours: str
    beside: str
    """The reference, and what it took."""
    ratio: str
    """Ours through the reference's."""
    bar: str
    """What is aimed at; nothing fails by it."""


def medians(
    actions: Mapping[str, Callable[[], Any]], rounds: int = ROUNDS, clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """Return the median seconds of each action; they take turns, so that all share the machine's mood."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            gc.collect()
            started = clock()
            kept = action()
            times[name].append(clock() - started)
            del kept
    return {name: statistics.median(found) for name, found in times.items()}


def children_time() -> float:
    """Return the processor seconds of all children that have ended: a clock for commands."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compared(what: str, seconds: float, beside: str, reference: float, bar: str) -> Row:
    """Return a row of two times."""
    return Row(what, spelled(seconds), f"{beside}: {spelled(reference)}", f"{seconds / reference:.2f} ×", bar)


def spelled(seconds: float) -> str:
    """Return a time in the unit that suits it, three digits long."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def markdown(row: Row) -> str:
    """Return a row as a line of a table."""
    return "| " + " | ".join(row) + " |"


HEAD = "\n".join(map(markdown, (Row("what", "ours", "beside", "ratio", "bar"), Row(*["---"] * len(Row._fields)))))


def circumstances() -> str:
    """Return when, on what and with what a table was taken, and how busy the machine was."""
    found = [f"CPython {platform.python_version()}"]
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    for name in _PROGRAMS:
        try:
            said = subprocess.run([name, "--version"], capture_output=True, text=True, check=False).stdout
        except OSError:
            continue
        found.append(said.splitlines()[0].split(" (")[0].replace("git version", "git").replace("jq-", "jq "))
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    day = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    return f"{day}, {sys.platform}, {os.cpu_count()} cores, load average {load}; {', '.join(found)}"
