"""Names whose values are masked in a recording: what a reader may be told of secrets that are not there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.parse import parse_tolerant
from stashdbg_core.redact.names import MAX_NAME, sensitive_kind
from stashdbg_core.redact.placeholders import ANY_PLACEHOLDER


def redacted_names(recordings: Iterable[Recording]) -> list[str]:
    """Return the sensitive names, sorted, under which a placeholder stands in these recordings."""
    return sorted({name for recording in recordings for name in _names(recording)})


def _names(recording: Recording) -> Iterator[str]:
    for ref in recording.blobs.refs():
        raw = recording.blobs.payload(ref).raw
        if b"REDACTED" in raw:
            try:
                yield from _masked(parse_tolerant(raw).tree)
            except StashError:
                continue  # a damaged value names nothing
    for key in recording.meta:
        if b"REDACTED" in recording.meta.raw[key]:
            yield from _masked({key: recording.meta[key]})


def _masked(tree: Json) -> Iterator[str]:
    pending = [tree]
    while pending:
        node = pending.pop()
        if type(node) is dict:
            for name, value in node.items():
                if type(value) is str and ANY_PLACEHOLDER.search(value) and _is_secret(name):
                    yield name
            pending.extend(node.values())
        elif type(node) is list:
            pending.extend(node)


def _is_secret(name: str) -> bool:
    return len(name) <= MAX_NAME and sensitive_kind(name) is not None
