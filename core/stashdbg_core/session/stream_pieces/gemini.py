"""Pieces of Gemini's answers: parts of candidates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stashdbg_core.session.stream_pieces.piece import Name, Path, Piece, opened


def gemini(candidates: list[Any], path: Path) -> Iterator[Piece]:
    """Yield the pieces of a chunk's ``candidates``."""
    for at, candidate in enumerate(candidates):
        inner, here = opened(candidate, (*path, at))
        content, here = opened(inner.get("content") if type(inner) is dict else None, (*here, "content"))
        parts = content.get("parts") if type(content) is dict else None
        for number, part in enumerate(parts if type(parts) is list else ()):
            said, place = opened(part, (*here, "parts", number))
            if type(said) is dict and type(said.get("text")) is str:
                lead: Name = () if at == 0 else ("candidates", at)
                yield Piece((*lead, "text"), (*place, "text"), said["text"])
