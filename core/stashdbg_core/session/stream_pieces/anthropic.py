"""Pieces of Anthropic's messages: blocks that begin with a text, and what is added to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stashdbg_core.session.stream_pieces.piece import Path, Piece, number, opened


def anthropic(inner: dict[str, Any], path: Path) -> Iterator[Piece]:
    """Yield the pieces of an event about a block."""
    index = number(inner.get("index"))
    block, here = opened(inner.get("content_block"), (*path, "content_block"))
    if type(block) is dict:
        for key in ("text", "thinking", "name"):
            if type(block.get(key)) is str:
                yield Piece(("content", index, key), (*here, key), block[key])
    delta, here = opened(inner.get("delta"), (*path, "delta"))
    if type(delta) is dict:
        for key, name in (("text", "text"), ("thinking", "thinking"), ("partial_json", "arguments")):
            if type(delta.get(key)) is str:
                yield Piece(("content", index, name), (*here, key), delta[key])
