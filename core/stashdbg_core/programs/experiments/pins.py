"""What makes two runs of a program differ, guessed from two texts that should be equal, and what would pin it.

A guess from the look of the values; it is worded as one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stashdbg_core.programs.experiments.parting import common_start

CauseKind: TypeAlias = Literal[
    "changed", "order", "address", "random", "clock", "temporary", "number", "read", "connection", "path", "outside"
]
_PIECE = re.compile(r"[^\W_]+|[^\s\w]")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{8,16}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\b\d{1,2}:\d\d(?::\d\d)?\b|\b1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b")
_RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-|\b[0-9a-f]{16,}\b|\b0\.\d{12,}\b", re.IGNORECASE)
_TEMPORARY = re.compile(r"\btmp[\w.]{4,}|/tmp/|/var/folders/")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_AROUND = 40


@dataclass(frozen=True, slots=True)
class Cause:
    """Why something is not the same in every run."""

    kind: CauseKind
    what: str
    """What it looks like, in words."""
    pin: str
    """Which hook or wrap would pin it."""


_WRAP = "wrap the read as a call (stash.intercept), so that it is recorded"
CAUSES: dict[CauseKind, Cause] = {
    cause.kind: cause
    for cause in (
        Cause(
            "changed",
            "the same in every run, so no chance: the program, its files or its environment are not the recorded ones",
            "record again, or go back to the program as it was",
        ),
        Cause(
            "order",
            "the same parts in another order",
            "sort it: the order of objects in a set, of a folder's files, or in which threads end is not pinned "
            "(the hash seed of texts is)",
        ),
        Cause(
            "address",
            "a memory address, of id() or an object without a repr",
            "give the object a __repr__, or leave the address out",
        ),
        Cause(
            "random",
            "a random value drawn past the hooks: by a library's own generator, or native code",
            "seed that generator, or draw from random, secrets, uuid or os.urandom, which are hooked",
        ),
        Cause(
            "clock",
            "a time read past the hooks: by native code, a child process, or from a file's dates",
            "read it by time.time() or datetime.now() in the program's own code, which are hooked",
        ),
        Cause(
            "temporary",
            "the name of a temporary file or folder",
            "give the file a fixed name, or leave the name out",
        ),
        Cause(
            "number",
            "a number measured or counted: a duration, a process id, a counter that threads share, a file's size",
            f"read durations from the hooked clocks, join threads before counting, or {_WRAP}",
        ),
        Cause(
            "read",
            "something that the program reads and no hook sees: a file, a database, the environment",
            _WRAP,
        ),
        Cause(
            "connection",
            "a connection or process that no hook covers, so replay refuses it",
            "make it through a hooked client (httpx, requests, aiohttp, urllib, subprocess), or wrap it as a call "
            "(stash.intercept)",
        ),
        Cause(
            "path",
            "the program takes another way: it makes calls in some runs that it does not make in others",
            "look at what it decides by before this call: a file, the order of threads, a time limit",
        ),
        Cause(
            "outside",
            "the outside world answers differently",
            "nothing to pin: a replay serves the recorded answer",
        ),
    )
}


def cause_of(before: str | None, after: str | None) -> Cause:
    """Return what a difference between two runs looks like."""
    if before is None or after is None:
        return CAUSES["path"]
    pieces = [_PIECE.findall(text) for text in (before, after)]
    if pieces[0] != pieces[1] and sorted(pieces[0]) == sorted(pieces[1]):
        return CAUSES["order"]
    one, other = _differing(before, after)
    for kind, pattern in _LOOKS:
        if pattern.search(one) and pattern.search(other):
            return CAUSES[kind]
    return CAUSES["read"]


_LOOKS: tuple[tuple[CauseKind, re.Pattern[str]], ...] = (
    ("address", _ADDRESS),
    ("temporary", _TEMPORARY),
    ("clock", _DATE),
    ("random", _RANDOM),
    ("number", re.compile(rf"\A\W*{_NUMBER.pattern}[\w%]{{0,3}}\W*\Z")),
)


def _differing(before: str, after: str) -> tuple[str, str]:
    """Return the stretch in which two texts differ, grown to whole words."""
    limit = min(len(before), len(after))
    start = common_start(before, after)
    tail = next((at for at in range(limit - start) if before[-1 - at] != after[-1 - at]), limit - start)
    while start and not before[start - 1].isspace() and before[start - 1] not in "\"'([{<=,;" and _near(start, before):
        start -= 1
    while tail and (before[-tail].isalnum() or before[-tail] in "-:._"):
        tail -= 1
    return before[start : len(before) - tail], after[start : len(after) - tail]


def _near(start: int, text: str) -> bool:
    """Tell whether going back from here stays within one word of sensible length."""
    return not text[max(start - _AROUND, 0) : start].isspace()
