"""How the lines of a journal begin."""

from __future__ import annotations

HEADER_START = b'{"stash":"journal",'
BLOB_START = b'{"blob":'
BLOB_VALUE = b',"value":'
EVENT_START = b'{"event":'
META_START = b'{"meta":'
END = b"}"


def is_journal(head: bytes) -> bool:
    """Tell whether a file that begins with ``head`` is a journal."""
    return head.startswith(HEADER_START)
