"""Pieces of Ollama's answers: lines that say whether they are the last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stashdbg_core.session.stream_pieces.piece import Path, Piece


def ollama(inner: dict[str, Any], path: Path) -> Iterator[Piece]:
    """Yield the pieces of a line."""
    message = inner.get("message")
    for key in ("thinking", "content"):
        if type(message) is dict and type(message.get(key)) is str:
            yield Piece((key,), (*path, "message", key), message[key])
    if type(inner.get("response")) is str:
        yield Piece(("text",), (*path, "response"), inner["response"])
