"""What a line typed at the ``:`` prompt asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stashdbg_core.sanitize import shorten

Verb = Literal[
    "action", "write", "break", "watch", "unwatch", "column", "filter", "search", "note", "open", "source", "goto"
]  # fmt: skip

_ACTIONS = {
    "q": "app.close",
    "q!": "app.quit",
    "qa": "app.quit",
    "qa!": "app.quit",
    "quit": "app.quit",
    "help": "app.help",
    "h": "app.help",
    "keys": "app.help",
    "marks": "list('marks')",
    "lanes": "list('lanes')",
    "watches": "list('watches')",
    "recordings": "list('recordings')",
    "stats": "stats",
    "why": "why",
    "ablate": "ablate",
    "last": "last",
    "origin": "origin",
    "follow": "follow_tail",
    "edit": "edit_source",
    "verify": "verify",
    "seal": "seal",
    "redact": "redact",
    "report": "report",
    "forks": "forks",
    "compare": "compare",
    "run": "run_program",
    "stop": "stop_program",
}
_TAKING: dict[str, tuple[Verb, str]] = {
    "w": ("write", "FILE"),
    "write": ("write", "FILE"),
    "break": ("break", "QUERY"),
    "watch": ("watch", "EXPRESSION, such as paid_out"),
    "unwatch": ("unwatch", "EXPRESSION"),
    "column": ("column", "NAME=EXPRESSION, such as tokens=value.usage.total_tokens"),
    "filter": ("filter", "QUERY"),
    "search": ("search", "TEXT"),
    "note": ("note", "TEXT"),
    "open": ("open", "FILE"),
    "e": ("open", "FILE"),
    "source": ("source", "FOLDER"),
}
WORDS = tuple(sorted({*_ACTIONS, *_TAKING} - {"w", "h", "e", "q!", "qa", "qa!"}))
"""Commands, for completion."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A verb and what it takes, or what is wrong with the line."""

    verb: Verb | None = None
    text: str = ""
    problem: str | None = None


def answer(text: str) -> Answer:
    """Return what a typed line asks for; an empty one asks for nothing."""
    line = text.strip().removeprefix(":").strip()
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    if word in _ACTIONS:
        return Answer(problem=f":{word} takes nothing after it") if rest else Answer("action", _ACTIONS[word])
    if word in _TAKING:
        verb, takes = _TAKING[word]
        return Answer(verb, rest) if rest else Answer(problem=f"say what: {word} {takes}")
    if word.isalpha() and ":" not in line:
        return Answer(problem=f"no command or place called {shorten(line, 40)}; an empty : shows what there is")
    return Answer("goto", line) if line else Answer()
