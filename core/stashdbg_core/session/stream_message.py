"""A streamed answer as the one message it was, and an edited message back as the chunks it would have been.

Every text of the message is spelled in pieces over the chunks. An edit keeps the pieces before and after what changed
as they are and puts the new text where the change begins, so that chunks, their number, times and everything else in
them stay. Known are text chunks and the providers of ``stream_pieces``; also as recorded pydantic objects, and as the
texts of events in the body of an HTTP response, whose JSON is spelled again as it was. Anything else is edited as the
list of its chunks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from stashdbg_core.canonical import Json, canonical_form, stored_form
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.exchange.shape import is_response
from stashdbg_core.exchange.sse import EventJson, chunk_json, event_json
from stashdbg_core.parse import parse_json
from stashdbg_core.session.stream_pieces import stream_pieces
from stashdbg_core.session.stream_pieces.piece import MISSING, Name, Path, value_at
from stashdbg_core.tags import TAG
from stashdbg_core.values.streams import StreamRecord, is_stream

_WHOLE_TEXT = 8
"""Shortest text of which later copies in the same stream are taken for copies."""


@dataclass(slots=True)
class _Text:
    """One text of the message, and the places that spell it."""

    places: list[tuple[int, Path]] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    copies: list[tuple[int, Path]] = field(default_factory=list)
    """Places that hold the whole of it once more."""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True)
class StreamMessage:
    """The message that a recorded stream spelled."""

    record: StreamRecord
    texts: dict[Name, _Text]
    response: dict[str, Json] | None = None
    """The HTTP response whose body the stream is."""
    events: list[EventJson | None] = field(default_factory=list)
    """Of a response, the JSON that each chunk's text carries."""

    @property
    def tree(self) -> Json:
        """The message: a text if that is all it has, else an object with every text at its place.

        Arguments that are JSON stand as what they spell.
        """
        return _whole({name: found.text for name, found in self.texts.items()})

    def edited(self, tree: Json) -> Json:
        """Return the stream that spells another message of the same shape.

        Raises:
            StashError: ``ERR_INVALID_INPUT``: a text is missing, or something was added that no chunk has a place for.
        """
        wanted = self._wanted(tree)
        chunks = _opened(self.record.chunks, self.events)
        changed: set[int] = set()
        for name, found in self.texts.items():
            text = wanted[name]
            if text == found.text:
                continue
            for (at, path), piece in zip(found.places, respelled(found.pieces, text), strict=True):
                changed |= {at} if value_at(chunks[at], path) != piece else set()
                chunks[at] = _with(chunks[at], path, piece)
            for at, path in found.copies:
                changed.add(at)
                chunks[at] = _with(chunks[at], path, text)
        for at, event in enumerate(self.events):
            chunks[at] = event.text_with(chunks[at]) if event and at in changed else self.record.chunks[at]
        return self.with_chunks(chunks)

    def with_chunks(self, chunks: list[Json]) -> Json:
        """Return the recorded value with other chunks."""
        times = self.record.times_ms if len(chunks) == len(self.record.chunks) else [0.0] * len(chunks)
        stream = replace(self.record, chunks=chunks, times_ms=times).to_tree()
        return stream if self.response is None else {**self.response, "body": stream}

    def _wanted(self, tree: Json) -> dict[Name, str]:
        if type(self.tree) is str:
            if type(tree) is not str:
                raise invalid_input(
                    "the message is a text", hint="give a text; fork --set takes a whole list of chunks"
                )
            return dict.fromkeys(self.texts, tree)
        wanted: dict[Name, str] = {}
        for name, found in self.texts.items():
            value = value_at(tree, name)
            if name[-1] == "arguments" and type(value) is not str and value is not MISSING:
                before = _arguments(found.text)
                same = type(before) is not str and canonical_form(before) == canonical_form(value)
                value = found.text if same else stored_form(value).decode("utf-8", "surrogatepass")
            if type(value) is not str:
                raise invalid_input(
                    f"{_spelled(name)} has to be a text",
                    hint="keep every part; fork --set takes a whole list of chunks",
                )
            wanted[name] = value
        leaves = set(_leaves(tree, ()))
        known = set(self.texts)
        extra = sorted(_spelled(leaf) for leaf in leaves if not any(leaf[: len(name)] == name for name in known))
        if extra:
            raise invalid_input(
                f"the stream has no chunk for {extra[0]}", hint="take it out; fork --set takes a whole list of chunks"
            )
        return wanted


def stream_message(tree: Json) -> StreamMessage | None:
    """Return the message that a recorded stream spelled; None for anything else, and for chunks of unknown shape."""
    response = tree if is_response(tree) else None
    stream = tree if response is None else response["body"]
    if not is_stream(stream):
        return None
    record = StreamRecord.from_tree(stream)
    events = [] if response is None else [event_json(c) if type(c) is str else None for c in record.chunks]
    chunks = _opened(record.chunks, events)
    texts: dict[Name, _Text] = {}
    for at, piece in stream_pieces(chunks):
        found = texts.setdefault(piece.name, _Text())
        found.places.append((at, piece.path))
        found.pieces.append(piece.text)
    if not texts or not any(found.text for found in texts.values()):
        return None
    texts = {name: found for name, found in texts.items() if found.text or name[-1] in ("text", "content")}
    _find_copies(chunks, texts)
    return StreamMessage(record, texts, response, events)


def spoken_message(tree: Json) -> Json | None:
    """Return the tree of the message that a recorded stream spelled, for a fraction of what ``stream_message`` costs.

    None where ``stream_message`` gives none; texts that are empty may be missing.
    """
    response = tree if is_response(tree) else None
    stream = tree if response is None else response["body"]
    if not is_stream(stream):
        return None
    pieces: dict[Name, list[str]] = {}
    chunks: Iterable[Json] = stream["chunks"]
    if response is not None:
        chunks = (chunk_json(chunk) if type(chunk) is str else None for chunk in chunks)
    for _, piece in stream_pieces(chunks):
        pieces.setdefault(piece.name, []).append(piece.text)
    texts = {name: text for name, parts in pieces.items() if (text := "".join(parts))}
    return _whole(texts) if texts else None


def respelled(pieces: list[str], text: str) -> list[str]:
    """Return a text in as many pieces, those before and after what changed as they were."""
    old = "".join(pieces)
    if not pieces:
        return []
    limit = min(len(old), len(text))
    start = next((at for at in range(limit) if old[at] != text[at]), limit)
    tail = next((at for at in range(limit - start) if old[-1 - at] != text[-1 - at]), limit - start)
    shift = len(text) - len(old)
    out: list[str] = []
    low = at = 0
    for place, piece in enumerate(pieces):
        at += len(piece)
        if place == len(pieces) - 1:
            high = len(text)
        elif at <= start:
            high = at
        else:
            high = max(at, len(old) - tail) + shift
        out.append(text[low:high])
        low = high
    return out


def _whole(texts: dict[Name, str]) -> Json:
    """Return a message of these texts."""
    if len(texts) == 1:
        ((name, only),) = texts.items()
        if name[-1] != "arguments":
            return only
    message: dict[str, Any] = {}
    for name, text in texts.items():
        _put(message, name, _arguments(text) if name[-1] == "arguments" else text)
    return message


def _opened(chunks: list[Json], events: list[EventJson | None]) -> list[Json]:
    """Return chunks as trees: the JSON of those that are texts of events, None for those without any."""
    return [None if event is None else event.tree for event in events] if events else list(chunks)


def _find_copies(chunks: list[Json], texts: dict[Name, _Text]) -> None:
    """Find where a whole text stands once more, as in the events that close a response."""
    by_text = {found.text: found for found in texts.values() if len(found.text) >= _WHOLE_TEXT}
    taken = {place for found in texts.values() for place in found.places}
    for at, chunk in enumerate(chunks):
        for path in _leaves(chunk, ()):
            found = by_text.get(value_at(chunk, path)) if type(value_at(chunk, path)) is str else None
            if found is not None and (at, path) not in taken and len(found.pieces) > 1:
                found.copies.append((at, path))


def _put(tree: dict[str, Any], name: Name, value: Any) -> None:
    for step in name[:-1]:
        tree = tree.setdefault(str(step), {})
    tree[str(name[-1])] = value


def _with(tree: Any, path: Path, value: str) -> Any:
    """Return a copy of a tree with another text at a place; what lies beside the path is shared."""
    if not path:
        return value
    root: Any = [tree]
    copy: Any = root
    step: str | int = 0
    for following in (*path, None):
        inner = copy[step]
        if following is None:
            break
        copy[step] = dict(inner) if type(inner) is dict else list(inner)
        copy, step = copy[step], following
    copy[step] = value
    return root[0]


def _leaves(tree: Any, path: Path) -> Iterator[Name]:
    pending: list[tuple[Any, Path]] = [(tree, path)]
    while pending:
        node, here = pending.pop()
        if type(node) is dict and node:
            pending += [
                (value, (*here, int(key) if key.isdecimal() and len(key) < 9 else key)) for key, value in node.items()
            ]
        elif type(node) is list and node:
            pending += [(value, (*here, at)) for at, value in enumerate(node)]
        else:
            yield here


def _arguments(text: str) -> Json:
    """Return what a call's arguments spell, if that is an object; else the text."""
    if text[:1] != "{":
        return text
    try:
        tree = parse_json(text.encode("utf-8", "surrogatepass"))
    except StashError:
        return text
    return tree if type(tree) is dict and TAG not in tree else text


def _spelled(name: Name) -> str:
    return "/".join(map(str, name))[:80]
