"""Pieces of Bedrock's streams: what converse says of blocks, and the texts with which some models go on.

The events stand as in ``exchange.frames``, by their names; what a model of another provider said lies in a ``chunk``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stashdbg_core.session.stream_pieces.piece import Path, Piece, number, value_at

_CONTINUED = ("outputText", "generation")
_NAME: Path = ("contentBlockStart", "start", "toolUse", "name")
_DELTA = ("contentBlockDelta", "delta")
_ADDED: tuple[tuple[str, Path], ...] = (
    ("reasoning", (*_DELTA, "reasoningContent", "text")),
    ("arguments", (*_DELTA, "toolUse", "input")),
)
_TEXT: Path = (*_DELTA, "text")


def chunk_of_another(inner: dict[str, Any], path: Path) -> tuple[dict[str, Any], Path] | None:
    """Return what a model of another provider said through Bedrock, and where it stands; None if it is nothing such."""
    chunk = inner.get("chunk")
    said = chunk.get("bytes") if len(inner) == 1 and type(chunk) is dict else None
    return (said, (*path, "chunk", "bytes")) if type(said) is dict else None


class Converse:
    """Reads one stream's events in their order.

    Blocks that hold nothing but text are one text where they follow one another: Nova begins one for each piece.
    """

    def __init__(self) -> None:
        self._text_block: int | None = None
        """The first of the blocks of text that are being added to."""

    def pieces(self, inner: dict[str, Any], path: Path) -> Iterator[Piece]:
        """Yield the pieces of an event."""
        for key in _CONTINUED:
            if type(inner.get(key)) is str:
                yield Piece(("text",), (*path, key), inner[key])
        name = value_at(inner, _NAME)
        if type(name) is str:
            self._text_block = None
            yield Piece(
                ("content", number(inner["contentBlockStart"].get("contentBlockIndex")), "name"), (*path, *_NAME), name
            )
        delta = inner.get("contentBlockDelta")
        if type(delta) is not dict:
            return
        block = number(delta.get("contentBlockIndex"))
        text = value_at(inner, _TEXT)
        if type(text) is not str:
            self._text_block = None
        else:
            self._text_block = block if self._text_block is None else self._text_block
            yield Piece(("content", self._text_block, "text"), (*path, *_TEXT), text)
        for last, place in _ADDED:
            said = value_at(inner, place)
            if type(said) is str:
                yield Piece(("content", block, last), (*path, *place), said)
