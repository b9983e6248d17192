"""One event as one JSON object, and back.

Encoding then decoding gives an equal event. Decoding never raises: what cannot be understood is named in ``damage``
and stays in ``extra`` as it was spelled, so that writing the event again loses nothing. Text in ``extra`` is always
valid JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from stashdbg_core.canonical import encode_plain, spell_number, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import RecordedEvent
from stashdbg_core.parse import parse_json, parse_tolerant
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.compact import strict_line
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.scan import ScanStop, skip_space, skip_string, skip_value

_ABSENT: Any = None
UNKNOWN_OUTCOME = "damaged"
"""The outcome of an event whose record does not say one; never replayed."""


class _Wire(
    msgspec.Struct,
    forbid_unknown_fields=True,
    omit_defaults=True,
    gc=False,
    rename={"input_ref": "inputRef", "call_id": "callId"},
):
    """An event whose keys are all known and all of the right type; the order of fields is the order of keys."""

    seq: int
    channel: str
    key: str
    ordinal: int
    outcome: str
    ref: str
    input_ref: str = _ABSENT
    at: int | float = _ABSENT
    label: str = _ABSENT
    thread: str = _ABSENT
    parent: int = _ABSENT
    ms: int | float = _ABSENT
    call_id: str = _ABSENT
    site: str = _ABSENT


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

_wire: Callable[..., _Wire] = _Wire  # None stands for an absent key, which a decoder must not accept
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Wire).decode
_decode_raw = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def encode_event(event: RecordedEvent) -> bytes:
    """Return the event's JSON object on one line, keys in the format's order, unknown keys last as they were spelled.

    A time that is NaN or infinite is left out: it informs, and JSON has no spelling for it.
    """
    at, ms = event.at, event.ms
    if event.extra or (at is not None and at - at != 0) or (ms is not None and ms - ms != 0):
        return _encode_exact(event)
    wire = _wire(
        event.seq,
        event.channel,
        event.key,
        event.ordinal,
        event.outcome,
        event.ref,
        event.input_ref,
        at,
        event.label,
        event.thread,
        event.parent,
        ms,
        event.call_id,
        event.site,
    )
    try:
        return _encode(wire)
    except UnicodeEncodeError:  # a lone surrogate
        return _encode_exact(event)


def decode_event(raw: bytes, position: int) -> RecordedEvent:
    """Read one event's JSON text; ``position`` is its place in the file, its ``seq`` if it names none."""
    try:
        wire = _decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return _decode_tolerant(raw, position)
    event = RecordedEvent(
        wire.seq,
        wire.channel,
        wire.key,
        wire.ordinal,
        wire.outcome,
        wire.ref,
        wire.input_ref,
        wire.at,
        wire.label,
        wire.thread,
        wire.parent,
        wire.ms,
        wire.call_id,
        wire.site,
    )
    # As many `":` as keys: no key stands twice. Spaced-out JSON, or such text inside a string, gets the closer look.
    return event if raw.count(b'":') == _present(wire) else _decode_tolerant(raw, position)


def _present(wire: _Wire) -> int:
    count = len(_REQUIRED)
    for value in (wire.input_ref, wire.at, wire.label, wire.thread, wire.parent, wire.ms, wire.call_id, wire.site):
        if value is not None:
            count += 1
    return count


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
