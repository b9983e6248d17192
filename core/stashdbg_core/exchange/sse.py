"""Streams of texts: Server-Sent Events and JSON lines cut into events, and the JSON that an event carries.

Cutting loses nothing: the texts of all events, joined, are the text. Lines, fields and comments follow the HTML
standard, section 9.2.6.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.exchange.spelling import COMPACT, spelled_text, spelled_tree
from stashdbg_core.parse import parse_json

_EVENT_END = re.compile(r"(?:\r\n|\n|\r(?!\n)){2,}")
_LINE_END = re.compile(r"\r\n|\n|\r")
_FIELD = re.compile(r"(?:\ufeff)?(?:data|event|id|retry|)(?::|[\r\n])")


@dataclass(frozen=True, slots=True)
class EventJson:
    """The JSON of one event's text, and how to put another in its place."""

    tree: Json
    before: str
    after: str
    spelling: str

    def text_with(self, tree: Json) -> str:
        """Return the event's text with another tree in it, spelled as the first was."""
        return f"{self.before}{spelled_text(tree, self.spelling)}{self.after}"


def event_texts(text: str) -> list[str]:
    """Return the texts of a stream's events, each with the blank line that ends it."""
    out: list[str] = []
    start = 0
    for found in _EVENT_END.finditer(text):
        out.append(text[start : found.end()])
        start = found.end()
    if start < len(text):
        out.append(text[start:])
    return out


def line_texts(text: str) -> list[str]:
    """Return the lines of a text, each with the line feed that ends it."""
    return [line + "\n" for line in text.split("\n")[:-1]] + ([last] if (last := text.rpartition("\n")[2]) else [])


def looks_like_events(text: str) -> bool:
    """Tell whether a text starts as a stream of events does."""
    return _FIELD.match(text) is not None and "data:" in text[:10_000]


def event_json(text: str) -> EventJson | None:
    """Return the JSON object or array in an event's text, be it Server-Sent or a line of JSON; None if it has none."""
    at = _data_at(text)
    if at is None:
        return None
    end = len(text.rstrip("\r\n"))
    for line_end in _LINE_END.finditer(text, at, end):
        if text.startswith("data:", line_end.end()):  # data on several lines is one text, which has no span here
            return None
        end = line_end.start()
        break
    spelled = text[at:end]
    found = spelled_tree(spelled)
    if found is not None:
        return EventJson(found[0], text[:at], text[end:], found[1])
    try:
        tree = parse_json(spelled.encode("utf-8", "replace"))
    except StashError:
        return None
    return EventJson(tree, text[:at], text[end:], COMPACT) if type(tree) in (dict, list) else None


def chunk_json(text: str) -> Json:
    """Return the JSON object that an event's text carries, however it is spelled; None if it carries none."""
    data: str | None = text
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        data = _data(text)
    if data is None or data.strip()[:1] not in ("{", "["):
        return None
    try:
        return parse_json(data.encode("utf-8", "replace"))
    except StashError:
        return None


def _data(text: str) -> str | None:
    """Return the data of an event, its lines joined; None if it has none."""
    fields = (line.partition(":") for line in _LINE_END.split(text.removeprefix("\ufeff")))
    found = [value.removeprefix(" ") for name, _, value in fields if name == "data"]
    return "\n".join(found) if found else None


def _data_at(text: str) -> int | None:
    """Return where the JSON of an event's text begins."""
    if text[:1] in ("{", "["):
        return 0
    at = 0
    while at < len(text):
        if text.startswith("data:", at):
            at += 5 + (text[at + 5 : at + 6] == " ")
            return at if text[at : at + 1] in ("{", "[") else None
        found = _LINE_END.search(text, at)
        if found is None:
            return None
        at = found.end()
    return None
