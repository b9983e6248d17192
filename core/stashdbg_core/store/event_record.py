"""One event as one JSON object, and back.

Encoding then decoding gives an equal event. Decoding never raises: what cannot be understood is named in ``damage``
and stays in ``extra`` as it was spelled, so that writing the event again loses nothing. Text in ``extra`` is always
valid JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from stashdbg_core.canonical import encode_plain, spell_number, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import NO_EXTRA, EventSequence, RecordedEvent
from stashdbg_core.parse import parse_json, parse_tolerant
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.compact import strict_line
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.scan import ScanStop, skip_space, skip_string, skip_value

UNKNOWN_OUTCOME = "damaged"
"""The outcome of an event whose record does not say one; never replayed."""


_REQUIRED: dict[str, type[Any]] = {"seq": int, "channel": str, "key": str, "ordinal": int, "outcome": str, "ref": str}
_OPTIONAL: dict[str, tuple[str, type[Any]]] = {
    "inputRef": ("input_ref", str),
    "at": ("at", float),
    "label": ("label", str),
    "thread": ("thread", str),
    "parent": ("parent", int),
    "ms": ("ms", float),
    "callId": ("call_id", str),
    "site": ("site", str),
}
_KINDS = {int: "an integer", str: "a string", float: "a number"}

_SPACED = re.compile(rb'"[ \t\r\n]')
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(RecordedEvent).decode
_decode_raw = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def encode_event(event: RecordedEvent) -> bytes:
    """Return the event's JSON object on one line, keys in the format's order, unknown keys last as they were spelled.

    A time that is NaN or infinite is left out: it informs, and JSON has no spelling for it.
    """
    at, ms = event.at, event.ms
    if event.extra is not NO_EXTRA or event.damage is not None or (at is not None and at - at != 0):
        return _encode_exact(event)
    if ms is not None and ms - ms != 0:
        return _encode_exact(event)
    try:
        return _encode(event)
    except UnicodeEncodeError:  # a lone surrogate
        return _encode_exact(event)


def event_texts(events: EventSequence) -> Iterator[bytes]:
    """Yield every event's text: as it stands in its file if it comes from one and is valid there."""
    raw_at: Callable[[int], bytes] | None = getattr(events, "raw_at", None)
    if raw_at is None:
        yield from map(encode_event, events)
        return
    for index in range(len(events)):
        try:
            yield strict_line(raw_at(index))
        except StashError:
            yield encode_event(events[index])


def decode_event(raw: bytes, position: int) -> RecordedEvent:
    """Read one event's JSON text; ``position`` is its place in the file, its ``seq`` if it names none."""
    try:
        event = _decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return _decode_tolerant(raw, position)
    # As many `":` as keys: none stands twice or is null. A space after a quote may hide one, and so may text that
    # looks like a key: these get the closer look.
    if raw.count(b'":') != _present(event) or _SPACED.search(raw) is not None:
        return _decode_tolerant(raw, position)
    return event


def _present(event: RecordedEvent) -> int:
    """Return how many of our keys an event has; -1 if it has what no key of a file may give it."""
    if event.extra is not NO_EXTRA or event.damage is not None:
        return -1
    given = (
        event.input_ref, event.at, event.label, event.thread, event.parent, event.ms, event.call_id, event.site
    )  # fmt: skip
    return len(_REQUIRED) + len(given) - given.count(None)


def _encode_exact(event: RecordedEvent) -> bytes:
    extra = event.extra
    parts = [b'"%b":%b' % (key.encode(), encode_plain(getattr(event, key))) for key in _REQUIRED if key not in extra]
    for key, (name, kind) in _OPTIONAL.items():
        value = getattr(event, name)
        if value is None or key in extra:
            continue
        if kind is not float:
            parts.append(b'"%b":%b' % (key.encode(), encode_plain(value)))
        elif hasattr(value, "token") or value - value == 0:
            parts.append(b'"%b":%b' % (key.encode(), spell_number(value).encode()))
    parts += [encode_plain(key) + b":" + raw for key, raw in extra.items()]
    return b"{" + b",".join(parts) + b"}"


def _decode_tolerant(raw: bytes, position: int) -> RecordedEvent:
    try:
        parsed = parse_tolerant(raw)
    except StashError as error:
        return _unreadable(position, error.message)
    tree = parsed.tree
    if type(tree) is not dict:
        return _unreadable(position, f"is {_kind_of(tree)}, not an object")
    problems = list(parsed.problems)
    extra = _spelled(raw, tree)
    fields: dict[str, Any] = {
        "seq": position, "channel": "", "key": "", "ordinal": 0, "outcome": UNKNOWN_OUTCOME, "ref": ""
    }  # fmt: skip
    for key, kind in _REQUIRED.items():
        if key not in tree:
            problems.append(f"has no {key}")
        elif _is(kind, tree[key]):
            fields[key] = tree[key]
            del extra[key]
        else:
            problems.append(f"{key} is not {_KINDS[kind]}")
    for key, (name, kind) in _OPTIONAL.items():
        value = tree.get(key)
        if value is None:
            continue  # an explicit null says nothing, and stays in extra
        if _is(kind, value):
            fields[name] = value
            del extra[key]
        else:
            problems.append(f"{key} is not {_KINDS[kind]}")
    return RecordedEvent(**fields, extra=extra, damage=_summary(problems))


def _is(kind: type[Any], value: object) -> bool:
    return type(value) is not bool and isinstance(value, (int, float) if kind is float else kind)


def _spelled(raw: bytes, tree: dict[str, Any]) -> dict[str, bytes]:
    """Return each key's JSON text, as it stands in ``raw`` where that is valid JSON."""
    try:
        raw.decode("utf-8")
        texts = {key: bytes(text) for key, text in _decode_raw(raw).items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        texts = _split(raw)
    return {key: texts[key] if key in texts else stored_form(value) for key, value in tree.items()}


def _split(raw: bytes) -> dict[str, bytes]:
    """Return the valid texts of an object that the fast parser refuses for what one of them holds."""
    texts: dict[str, bytes] = {}
    limits = Limits()
    try:
        pos = raw.index(b"{") + 1
        while raw[pos : pos + 1] not in (b"}", b""):
            start = skip_space(raw, pos)
            pos = skip_string(raw, start)
            key = parse_json(raw[start:pos])
            start = skip_space(raw, skip_space(raw, pos) + 1)
            pos = skip_value(raw, start, limits)
            texts[key] = strict_line(raw[start:pos])
            pos = skip_space(raw, pos) + 1
    except (ScanStop, StashError, ValueError):
        pass  # the rest is spelled anew
    return texts


def _kind_of(tree: object) -> str:
    if tree is None:
        return "null"
    return {list: "an array", str: "a string", bool: "true or false"}.get(type(tree), "a number")


def _unreadable(position: int, damage: str) -> RecordedEvent:
    return RecordedEvent(position, "", "", 0, UNKNOWN_OUTCOME, "", damage=shorten(damage, 200))


def _summary(problems: list[str]) -> str | None:
    if not problems:
        return None
    shown = "; ".join(problems[:3])
    return shorten(shown if len(problems) <= 3 else f"{shown}; and {len(problems) - 3} more", 300)
