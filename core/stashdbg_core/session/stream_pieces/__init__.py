"""Where the chunks of a streamed answer spell its texts, one module for each provider behind one door.

A provider's module looks at the JSON of one chunk and yields the pieces it adds; what a chunk means never depends on
another provider's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stashdbg_core.canonical import Json
from stashdbg_core.session.stream_pieces.anthropic import anthropic
from stashdbg_core.session.stream_pieces.bedrock import Converse, chunk_of_another
from stashdbg_core.session.stream_pieces.cohere import cohere
from stashdbg_core.session.stream_pieces.gemini import gemini
from stashdbg_core.session.stream_pieces.ollama import ollama
from stashdbg_core.session.stream_pieces.openai_chat import openai_chat
from stashdbg_core.session.stream_pieces.openai_responses import openai_response
from stashdbg_core.session.stream_pieces.piece import Piece, opened


def stream_pieces(chunks: Iterable[Json]) -> Iterator[tuple[int, Piece]]:
    """Yield the pieces of text that chunks add, each with the number of its chunk.

    Args:
        chunks: Each a text, or the tree of what it says; anything else adds nothing.
    """
    converse = Converse()
    for at, chunk in enumerate(chunks):
        if type(chunk) is str:
            yield at, Piece(("text",), (), chunk)
            continue
        inner, path = opened(chunk, ())
        if type(inner) is not dict:
            continue
        another = chunk_of_another(inner, path)
        if another is not None:
            inner, path = another
        for piece in _pieces(inner, path, converse):
            yield at, piece


def _pieces(inner: dict[str, Json], path: tuple[str | int, ...], converse: Converse) -> Iterator[Piece]:
    kind, response = inner.get("type"), inner.get("response")
    if type(inner.get("choices")) is list:
        yield from openai_chat(inner["choices"], (*path, "choices"))
    elif type(inner.get("candidates")) is list:
        yield from gemini(inner["candidates"], (*path, "candidates"))
    elif type(inner.get("done")) is bool:
        yield from ollama(inner, path)
    elif type(response) is dict and type(response.get("candidates")) is list:
        yield from gemini(response["candidates"], (*path, "response", "candidates"))
    elif type(kind) is not str:
        yield from converse.pieces(inner, path)
    elif kind in ("content-start", "content-delta"):
        yield from cohere(inner, path)
    elif kind.startswith("content_block_"):
        yield from anthropic(inner, path)
    elif kind.startswith("response."):
        yield from openai_response(kind, inner, path)
