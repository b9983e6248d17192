"""Tokens that model calls used, where the recorded answer says so.

Knows the names of OpenAI (chat and responses), Anthropic, Gemini, Bedrock, Cohere and Ollama. ``input`` counts every
token of the request, those read from or written to a cache among them, whichever way the provider splits them. Nothing
is estimated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.exchange.joined import answer_of
from stashdbg_core.exchange.shape import is_response
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session.tasks import Steps
from stashdbg_core.tags import STREAM, tag_of

_HOLDERS = ("message", "response", "fields", "value", "body", "data", "result", "output")
"""Keys under which an answer may be wrapped."""
_NAMES = ("usage", "usageMetadata", "usage_metadata")
_DEPTH = 3
_CHUNKS = 100_000
_MOST = 2**53
_LARGEST = 8_000_000
"""Bytes of a value beyond which it is not looked into."""
_MARKS = (b"sage", b"eval_count", b'"ref"')
"""One of these stands in every value that says what was used."""
_MEASURED = 32


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, or of several added up."""

    input: int = 0
    output: int = 0
    cached: int = 0
    """Of ``input``, those read from a cache."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.input + other.input, self.output + other.output, self.cached + other.cached)

    def to_json(self) -> dict[str, Json]:
        """Return it under the names that ``stashdbg stats --json`` prints."""
        return {"inputTokens": self.input, "outputTokens": self.output, "cachedTokens": self.cached}


@dataclass(slots=True)
class UsageTotals:
    """Tokens of a run."""

    calls: int = 0
    """Calls that say what they used."""
    total: Usage = Usage()
    by_call: dict[tuple[str, str], tuple[int, Usage]] = field(default_factory=dict)
    """By channel and key: how many calls said so, and what they used."""
    along: list[tuple[int, Usage]] = field(default_factory=list)
    """Index of each of these calls and its tokens, for a plot along the run."""

    def add(self, index: int, event: RecordedEvent, usage: Usage) -> None:
        """Take in a call."""
        self.calls += 1
        self.total += usage
        calls, so_far = self.by_call.get((event.channel, event.key), (0, Usage()))
        self.by_call[event.channel, event.key] = calls + 1, so_far + usage
        self.along.append((index, usage))

    def to_json(self) -> dict[str, Json]:
        """Return the totals under the names that ``stashdbg stats --json`` prints."""
        keys = [
            {"channel": channel, "key": key, "calls": calls, **usage.to_json()}
            for (channel, key), (calls, usage) in self.by_call.items()
        ]
        return {"calls": self.calls, **self.total.to_json(), "keys": keys}


def usage_steps(recording: Recording) -> Steps[UsageTotals]:
    """Add up in slices what the calls of a run used.

    Raises:
        StashError: The file cannot be read any more.
    """
    totals = UsageTotals()
    for index, event in enumerate(recording.events):
        usage = usage_of_event(recording, event)
        if usage is not None:
            totals.add(index, event, usage)
        if index % _MEASURED == _MEASURED - 1:
            yield
    return totals


def usage_of_event(recording: Recording, event: RecordedEvent) -> Usage | None:
    """Return what a call used; None where its value does not say."""
    raw = recording.blobs.payload(event.ref).raw
    if not 0 < len(raw) <= _LARGEST or not any(mark in raw for mark in _MARKS):
        return None
    try:
        return usage_of(recording.blobs.tree(event.ref))
    except StashError:
        return None


def usage_of(tree: Json) -> Usage | None:
    """Return what the answer of a model says that it used; of a stream the most that any chunk says."""
    if is_response(tree):
        tree = answer_of(tree)
    found = [usage for said in _said(tree, _DEPTH) if (usage := _read(said)) is not None]
    if not found:
        return None
    return Usage(*(max(getattr(usage, name) for usage in found) for name in ("input", "output", "cached")))


def _said(tree: Json, depth: int) -> Iterator[dict[str, Json]]:
    if not isinstance(tree, dict) or not depth:
        return
    if tag_of(tree) == STREAM and isinstance(tree.get("chunks"), list):
        for chunk in tree["chunks"][:_CHUNKS]:
            yield from _said(chunk, depth)
        return
    direct = [tree[name] for name in _NAMES if isinstance(tree.get(name), dict)]
    meta = tree.get("meta")
    if isinstance(meta, dict) and isinstance(meta.get("tokens"), dict):
        direct.append(meta)
    yield from direct
    if type(tree.get("eval_count")) is int:
        yield {"prompt_tokens": tree.get("prompt_eval_count"), "completion_tokens": tree["eval_count"]}
    elif not direct:
        for name in _HOLDERS:
            yield from _said(tree.get(name), depth - 1)


def _read(said: dict[str, Json]) -> Usage | None:
    inner = said.get("fields")
    if tag_of(said) is not None and isinstance(inner, dict):
        said = inner
    if "promptTokenCount" in said or "prompt_token_count" in said:
        given, cached = (
            _count(said, "promptTokenCount", "prompt_token_count"),
            _count(said, "cachedContentTokenCount", "cached_content_token_count"),
        )
        answered = _count(said, "candidatesTokenCount", "candidates_token_count")
        return Usage(given, answered + _count(said, "thoughtsTokenCount", "thoughts_token_count"), cached)
    if isinstance(said.get("tokens"), dict):
        said = said["tokens"]
    if "inputTokens" in said or "outputTokens" in said:
        cached = _count(said, "cacheReadInputTokens")
        given = _count(said, "inputTokens") + cached + _count(said, "cacheWriteInputTokens")
        return Usage(given, _count(said, "outputTokens"), cached)
    given, answered = _count(said, "prompt_tokens", "input_tokens"), _count(said, "completion_tokens", "output_tokens")
    if not any(name in said for name in ("prompt_tokens", "input_tokens", "completion_tokens", "output_tokens")):
        return None
    details = said.get("prompt_tokens_details", said.get("input_tokens_details"))
    cached = _count(details, "cached_tokens") if isinstance(details, dict) else 0
    read = _count(said, "cache_read_input_tokens")
    return Usage(given + read + _count(said, "cache_creation_input_tokens"), answered, cached + read)


def _count(said: dict[str, Json], *names: str) -> int:
    found = next((said[name] for name in names if name in said), 0)
    return found if type(found) is int and 0 <= found < _MOST else 0
