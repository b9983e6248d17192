"""Spans that ``otlp_export`` wrote, read back: what the conventions have no words for is in attributes of our own."""

from __future__ import annotations

from stashdbg_core.canonical import Json
from stashdbg_core.formats.images import Tagged
from stashdbg_core.formats.readers.otel.attributes import parsed
from stashdbg_core.formats.readers.otel.spans import OtelSpan
from stashdbg_core.formats.sink import ABSENT
from stashdbg_core.formats.spans import Span
from stashdbg_core.tags import BYTES, TAG

_SCOPE = "stashdbg"
_PREFIX = "stashdbg."
_DEPTH = 64


def as_exported(span: OtelSpan, call: Span) -> None:
    """Make a call what it was in the recording that was exported; one that was not is left alone."""
    held = span.attributes
    if span.scope != _SCOPE:
        return
    rest = call.extra.get("attributes")
    if isinstance(rest, dict):
        kept = {name: value for name, value in rest.items() if not name.startswith((_PREFIX, "otel.scope", "gen_ai."))}
        call.extra = {"attributes": kept} if kept else {}
    if held.get("stashdbg.lane") is True:
        call.silent, call.order = True, -1.0
        return
    channel, key, seq = held.get("stashdbg.channel"), held.get("stashdbg.key"), held.get("stashdbg.seq")
    if not isinstance(channel, str) or not isinstance(key, str):
        return
    call.channel, call.key = channel, key
    if type(seq) is int:
        call.order = float(seq)
    thread, label = held.get("stashdbg.thread"), held.get("stashdbg.label")
    call.thread = thread if isinstance(thread, str) and thread else None
    call.label = label if isinstance(label, str) else None
    call_id = held.get("stashdbg.call.id")
    call.call_id = call_id if isinstance(call_id, str) else call.call_id
    call.running = held.get("stashdbg.pending") is True
    call.cut = None
    if call.ended == call.started:
        call.ended, call.took = None, 0.0 if "stashdbg.ms" in held else None
    given = _exact(held.get("stashdbg.input", ABSENT))
    if given is not ABSENT:
        call.messages, call.input = None, given
    elif channel not in ("llm", "tool"):
        call.input = ABSENT
    came = _exact(held.get("stashdbg.value", ABSENT))
    if came is not ABSENT:
        call.value = came


def _exact(node: Json) -> Json:
    """Return the value of a text that is JSON throughout."""
    if not isinstance(node, str):
        return ABSENT
    listed = parsed(f"[{node}]")[0]
    return _with_bytes(listed[0]) if isinstance(listed, list) and len(listed) == 1 else node


def _with_bytes(tree: Json, depth: int = _DEPTH) -> Json:
    """Return a tree whose binary content is that again; any other tag stays data, for a file can claim what it will."""
    if not depth or not isinstance(tree, dict | list):
        return tree
    if isinstance(tree, list):
        return [_with_bytes(item, depth - 1) for item in tree]
    if tree.get(TAG) == BYTES and tree.keys() == {TAG, "base64"} and isinstance(tree["base64"], str):
        return Tagged(tree)
    return {name: _with_bytes(value, depth - 1) for name, value in tree.items()}
