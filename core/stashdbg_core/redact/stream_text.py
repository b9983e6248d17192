"""Secrets cut in two by the chunks of a stream.

Texts that stand at the same place of every chunk (a chunk that is a text or bytes, ``/choices/0/delta/content``,
``/delta/text`` of one ``index``) are searched joined. The placeholder stands in the chunk where the secret began; its
rest is gone from the following ones.
"""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from stashdbg_core import tags
from stashdbg_core.canonical import Json
from stashdbg_core.redact.edits import Edits, Place
from stashdbg_core.redact.text import Replacement

_CONSTANT: Final = frozenset(
    {"id", "object", "model", "type", "role", "name", "system_fingerprint", "service_tier", tags.TAG, "class"}
)
"""Fields that chunks repeat and that no text flows through."""

Find: TypeAlias = Callable[[str], list[Replacement]]
Lane: TypeAlias = tuple[str | int, ...]


@dataclass(slots=True)
class _Flow:
    """The texts of one place, chunk by chunk."""

    places: list[tuple[Place, str | int, bool]] = field(default_factory=list)
    """Where each text stands, and whether it is bytes in base64."""
    texts: list[str] = field(default_factory=list)


def mask_across(chunks: list[Json], find: Find) -> list[Json]:
    """Return ``chunks`` with secrets masked that lie across or within them; the same list if there are none."""
    if len(chunks) < 2:
        return chunks
    flows: dict[Lane, _Flow] = {}
    root = Place(chunks)
    for position, chunk in enumerate(chunks):
        for lane, place, key, text, binary in _texts(root, position, chunk):
            flow = flows.setdefault(lane, _Flow())
            flow.places.append((place, key, binary))
            flow.texts.append(text)
    edits = Edits()
    for flow in flows.values():
        for index, text in _changed(flow.texts, find):
            place, key, binary = flow.places[index]
            value = base64.b64encode(text.encode("latin-1")).decode("ascii") if binary else text
            edits.values.append((place, key, value))
    masked: list[Json] = edits.apply(chunks)
    return masked


def _changed(texts: list[str], find: Find) -> Iterator[tuple[int, str]]:
    """Yield the index and new text of every text of a flow in which something was replaced."""
    found = find("".join(texts)) if len(texts) > 1 else []
    if not found:
        return
    starts: list[int] = []
    length = 0
    for text in texts:
        starts.append(length)
        length += len(text)
    pieces: dict[int, list[tuple[int, int, str]]] = {}
    for start, end, new in found:
        index = bisect_right(starts, start) - 1
        while index < len(texts) and starts[index] < end:
            stop = starts[index] + len(texts[index])
            if stop > start:
                cut = (max(start, starts[index]) - starts[index], min(end, stop) - starts[index], new)
                pieces.setdefault(index, []).append(cut)
                new = ""
            index += 1
    for index, cuts in pieces.items():
        text = texts[index]
        for start, end, new in reversed(cuts):
            text = text[:start] + new + text[end:]
        yield index, text


def _texts(root: Place, position: int, chunk: Json) -> Iterator[tuple[Lane, Place, str | int, str, bool]]:
    """Yield the texts of a chunk in order, each with the lane it flows in."""
    pending: list[tuple[Lane, Place, str | int, Any]] = [((), root, position, chunk)]
    while pending:
        lane, place, key, value = pending.pop()
        if type(value) is str:
            if value:
                yield lane, place, key, value, False
        elif type(value) is list:
            here = Place(value, place, key)
            pending.extend(((*lane, _number(item, at)), here, at, item) for at, item in reversed([*enumerate(value)]))
        elif type(value) is dict:
            here = Place(value, place, key)
            if value.get(tags.TAG) in (tags.BYTES, tags.BYTEARRAY):
                data = _decoded(value.get("base64"))
                if data:
                    yield (*lane, "base64"), here, "base64", data, True
                continue
            if type(value.get("index")) is int:
                lane = (*lane, value["index"])
            pending.extend(((*lane, name), here, name, item) for name, item in value.items() if name not in _CONSTANT)


def _number(item: Json, at: int) -> int:
    """Return the place of a list item: its own ``index`` counts where it has one."""
    return -1 if type(item) is dict and type(item.get("index")) is int else at


def _decoded(encoded: Json) -> str | None:
    try:
        return base64.b64decode(encoded, validate=True).decode("latin-1") if type(encoded) is str else None
    except (binascii.Error, ValueError):
        return None
