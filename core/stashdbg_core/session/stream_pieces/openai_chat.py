"""Pieces of OpenAI's chat completions, and of text completions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stashdbg_core.session.stream_pieces.piece import Name, Path, Piece, number, opened


def openai_chat(choices: list[Any], path: Path) -> Iterator[Piece]:
    """Yield the pieces of a chunk's ``choices``."""
    for at, choice in enumerate(choices):
        inner, here = opened(choice, (*path, at))
        if type(inner) is not dict:
            continue
        index = number(inner.get("index"))
        lead: Name = () if index == 0 else ("choices", index)
        delta, here = opened(inner.get("delta"), (*here, "delta"))
        if type(delta) is not dict:
            if type(inner.get("text")) is str:
                yield Piece((*lead, "text"), (*here[:-1], "text"), inner["text"])
            continue
        for key in ("reasoning_content", "content", "refusal"):
            if type(delta.get(key)) is str:
                yield Piece((*lead, key), (*here, key), delta[key])
        calls = delta.get("tool_calls")
        for place, call in enumerate(calls if type(calls) is list else ()):
            yield from _tool_call(call, place, lead, (*here, "tool_calls", place))


def _tool_call(call: Any, place: int, lead: Name, path: Path) -> Iterator[Piece]:
    inner, here = opened(call, path)
    if type(inner) is not dict:
        return
    function, here = opened(inner.get("function"), (*here, "function"))
    for key in ("name", "arguments"):
        if type(function) is dict and type(function.get(key)) is str:
            yield Piece((*lead, "tool_calls", number(inner.get("index"), place), key), (*here, key), function[key])
