"""Recordings of agent-rewind (``.rewind``): a line a call, with its input, value or error, and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stashdbg_core import tags
from stashdbg_core.canonical import Json
from stashdbg_core.formats.format import Format, one_run
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.images import Tagged
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.values.streams import StreamRecord

if TYPE_CHECKING:
    from stashdbg_core.formats.sink import RunSink

_STREAM = "__rewind_stream__"
_KNOWN = frozenset(["seq", "kind", "name", "fingerprint", "request", "response", "error", "duration_ms", "ts", "live"])


def detect(head: Head) -> bool:
    """Tell whether a file is a recording of agent-rewind."""
    return bool(head.lines) and "rewind_format" in head.lines[0]


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read a recording."""
    sink.title(source.name)
    for line, record in source.records(sink):
        if "rewind_format" in record:
            if record["rewind_format"] != 1:
                sink.unknown(f"format version {record['rewind_format']}")
            sink.meta(createdAt=record.get("created_at"), meta=record.get("meta"))
        elif "kind" in record and "name" in record:
            _call(record, sink)
        else:
            sink.damaged_line(line, "is no call")


def _call(record: dict[str, Any], sink: RunSink) -> None:
    for name in record.keys() - _KNOWN:
        sink.unknown(f"field {name}")
    error: Json = record.get("error")
    ms: Any = record.get("duration_ms")
    own = {name: record[name] for name in ("fingerprint", "live", *(record.keys() - _KNOWN)) if record.get(name)}
    sink.event(
        str(record["kind"]),
        str(record["name"]),
        input=record.get("request"),
        value=_value(record.get("response")) if error is None else error,
        outcome="return" if error is None else "throw",
        at=epoch_ms(record.get("ts")),
        ms=float(ms) if type(ms) in (int, float) else None,
        extra=own,
    )


def _value(response: Json) -> Json:
    """Return what a call returned; of a stream, its chunks as one."""
    chunks = response.get(_STREAM) if isinstance(response, dict) else None
    if not isinstance(chunks, list) or len(response) != 1:
        return response
    tree = StreamRecord("sync", chunks, [0.0] * len(chunks)).to_tree()
    return Tagged(tree) if tags.TAG not in str(chunks) else response


FORMAT = Format(
    "agent-rewind",
    "agent-rewind recording",
    detect,
    one_run,
    read,
    exact=("everything that agent-rewind records: inputs, values, errors, times",),
    missing=("when the chunks of a stream came",),
)
