"""What OpenHands counted of its model calls, by the response's id: tokens, latency, and when the cost was noted.

Its events carry local times without a zone; costs and responses, in seconds since the epoch, tell which it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.shapes import objects_of
from stashdbg_core.formats.times import epoch_ms

_QUARTER = 900_000.0
"""Milliseconds of which every zone is a multiple."""
_DAY = 86_400_000.0


class Metrics:
    """The model calls that metrics tell of.

    Args:
        parts: Objects with ``token_usages``, ``response_latencies`` and ``costs``, as OpenHands writes them.
    """

    def __init__(self, parts: Iterable[Any]) -> None:
        self._usages: dict[str, dict[str, Any]] = {}
        self._latencies: dict[str, float] = {}
        self._noted: dict[str, float] = {}
        for part in parts:
            if isinstance(part, dict):
                self._take(part)

    def ids(self) -> frozenset[str]:
        """Return the ids of the responses."""
        return frozenset(self._usages)

    def model(self, response: str) -> str | None:
        """Return the model that gave a response."""
        named = self._usages.get(response, {}).get("model")
        return named if isinstance(named, str) and named else None

    def usage(self, response: str) -> dict[str, Json] | None:
        """Return the tokens of a call, under the names of OpenAI's chat; prompt tokens count the cached ones in."""
        counted = self._usages.get(response)
        if counted is None:
            return None
        usage: dict[str, Json] = {name: counted.get(name, 0) for name in ("prompt_tokens", "completion_tokens")}
        usage["prompt_tokens_details"] = {"cached_tokens": counted.get("cache_read_tokens", 0)}
        if counted.get("cache_write_tokens"):
            usage["cache_write_tokens"] = counted["cache_write_tokens"]
        if counted.get("reasoning_tokens"):
            usage["completion_tokens_details"] = {"reasoning_tokens": counted["reasoning_tokens"]}
        return usage

    def latency(self, response: str) -> float | None:
        """Return how long a call took, in milliseconds."""
        return self._latencies.get(response)

    def note(self, response: str, at: float | None) -> None:
        """Take in when a response was made, in milliseconds since the epoch, as the response itself says."""
        if at is not None:
            self._noted.setdefault(response, at)

    def zone(self, responses: Iterable[tuple[str, float]]) -> float | None:
        """Return by how many milliseconds local time is ahead of UTC; None if nothing tells.

        Args:
            responses: Responses with the local times of their events, read as UTC.
        """
        for response, local in responses:
            noted = self._noted.get(response)
            if noted is not None and abs(local - noted) < _DAY:
                return round((local - noted) / _QUARTER) * _QUARTER
        return None

    def _take(self, part: dict[str, Any]) -> None:
        usages, costs = objects_of(part.get("token_usages")), objects_of(part.get("costs"))
        for place, usage in enumerate(usages):
            response = usage.get("response_id")
            if not isinstance(response, str) or not response:
                continue
            self._usages[response] = usage
            noted = epoch_ms(costs[place].get("timestamp")) if len(costs) == len(usages) else None
            if noted is not None:
                self._noted[response] = noted
        for latency in objects_of(part.get("response_latencies")):
            seconds, response = latency.get("latency"), latency.get("response_id")
            if isinstance(seconds, int | float) and isinstance(response, str):
                self._latencies[response] = seconds * 1000
