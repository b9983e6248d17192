"""Files of span records, for tracers whose records are plain JSON objects: lines, an array, or one object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from stashdbg_core.errors import StashError
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource, Line
from stashdbg_core.parse import parse_json


@dataclass(slots=True)
class Trace:
    """The records of one run, in file order."""

    id: str
    title: str = ""
    nodes: list[dict[str, Any]] = field(default_factory=list)
    told: Mapping[str, Any] = field(default_factory=dict)
    """What the file says of the run as a whole."""


def records(source: ForeignSource, sink: RunSink | None) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file: its lines, the elements of its array, or the one it is.

    Args:
        source: The file.
        sink: Told of damaged lines; None to pass over them.
    """
    lines = json_lines(source)
    if lines is None:
        tree = source.json() if source.size else []
        yield from (node for node in (tree if isinstance(tree, list) else [tree]) if isinstance(node, dict))
        return
    if sink is not None:
        yield from (node for _, node in source.records(sink))
        return
    for line in lines:
        try:
            node = parse_json(line.raw)
        except StashError:
            continue
        if isinstance(node, dict):
            yield node


def traces_of(
    nodes: Iterable[dict[str, Any]],
    trace_of: Callable[[Mapping[str, Any]], str],
    title_of: Callable[[Mapping[str, Any]], str],
) -> list[Trace]:
    """Return records by trace, in the order in which the traces are first named."""
    found: dict[str, Trace] = {}
    for node in nodes:
        key = trace_of(node)
        trace = found.get(key)
        if trace is None:
            trace = found[key] = Trace(key)
        if not trace.title or trace.title == "trace":
            trace.title = title_of(node)
        trace.nodes.append(node)
    return list(found.values())


def json_lines(source: ForeignSource) -> Iterator[Line] | None:
    """Return the lines of a file of JSON lines; None for one document, or several that span lines.

    The first line has to be a document of its own, or be damaged and not just unfinished, and the second one be.
    """
    lines = source.lines()
    first = list(islice(lines, 2))
    if len(first) < 2:
        return None
    if not _is_document(first[0].raw):
        unfinished = first[0].raw.rstrip().endswith((b"{", b"[", b","))
        if unfinished or not _is_document(first[1].raw):
            return None
    return chain(first, lines)


def _is_document(raw: bytes) -> bool:
    try:
        return isinstance(parse_json(raw), dict | list)
    except StashError:
        return False
