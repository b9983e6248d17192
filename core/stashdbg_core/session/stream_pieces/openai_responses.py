"""Pieces of OpenAI's responses: events that say which part of the output they add to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stashdbg_core.session.stream_pieces.piece import Path, Piece, number


def openai_response(kind: str, inner: dict[str, Any], path: Path) -> Iterator[Piece]:
    """Yield the piece of an event of this kind."""
    if kind.endswith(".delta") and type(inner.get("delta")) is str:
        last = "arguments" if "arguments" in kind else "text"
        places = [number(inner.get(key)) for key in ("output_index", "content_index")]
        yield Piece(("output", *places, last), (*path, "delta"), inner["delta"])
