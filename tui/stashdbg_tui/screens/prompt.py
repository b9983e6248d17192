"""What a line typed at the ``:`` prompt asks for."""

from __future__ import annotations

from dataclasses import dataclass

from stashdbg_core.sanitize import shorten

_ACTIONS = {
    "q": "app.close",
    "q!": "app.quit",
    "quit": "app.quit",
    "help": "app.help",
    "h": "app.help",
    "keys": "app.help",
}
_WRITE = ("w", "write")


@dataclass(frozen=True, slots=True)
class Answer:
    """One of: an action to run, a file to write, a place to go to, or what is wrong."""

    action: str | None = None
    file: str | None = None
    place: str | None = None
    problem: str | None = None


def answer(text: str) -> Answer:
    """Return what a typed line asks for; an empty one asks for nothing."""
    line = text.strip().removeprefix(":").strip()
    word, _, rest = line.partition(" ")
    if word in _ACTIONS:
        return Answer(problem=f":{word} takes nothing after it") if rest.strip() else Answer(action=_ACTIONS[word])
    if word in _WRITE:
        return Answer(file=rest.strip()) if rest.strip() else Answer(problem="say where: write FILE")
    if word.isalpha() and ":" not in line:
        return Answer(problem=f"no command or place called {shorten(line, 40)}; try 123, 50%, llm:3, write FILE or q")
    return Answer(place=line)
