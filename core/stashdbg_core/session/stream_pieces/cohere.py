"""Pieces of Cohere's answers: contents by their index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stashdbg_core.session.stream_pieces.piece import Path, Piece, number, value_at

_TEXT: Path = ("delta", "message", "content", "text")


def cohere(inner: dict[str, Any], path: Path) -> Iterator[Piece]:
    """Yield the piece of an event about a content."""
    text = value_at(inner, _TEXT)
    if type(text) is str:
        yield Piece(("content", number(inner.get("index")), "text"), (*path, *_TEXT), text)
