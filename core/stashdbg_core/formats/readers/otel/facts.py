"""What one span says of a call, and the attributes it says it with, each dialect taking what it knows.

Facts of several dialects are merged: the first that says something is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.readers.otel.attributes import parsed, unflatten
from stashdbg_core.formats.sink import ABSENT

_LONGEST_REST = 2000
"""Characters of an attribute that nobody reads and that is still kept beside the event."""


@dataclass(slots=True)
class Facts:
    """What a span says."""

    channel: str | None = None
    key: str | None = None
    """Of a model call the model, of a tool its name, of an agent its name."""
    messages: list[Json] | None = None
    request: dict[str, Json] = field(default_factory=dict)
    input: Json = ABSENT
    output: Json = ABSENT
    usage: dict[str, Json] = field(default_factory=dict)
    answer: dict[str, Json] = field(default_factory=dict)
    """What belongs into an answer that does not have it: model, id, stop reason."""
    call_id: str | None = None
    error: str | None = None

    def merge(self, other: Facts) -> None:
        """Take what another dialect says where nothing was said."""
        for one in fields(self):
            mine, theirs = getattr(self, one.name), getattr(other, one.name)
            if isinstance(mine, dict) and one.name in ("request", "usage", "answer"):
                setattr(self, one.name, {**theirs, **mine})
            elif mine is None or mine is ABSENT:
                setattr(self, one.name, theirs)


class Attributes:
    """Attributes of a span, of which it is noted which were read.

    Args:
        held: By name.
    """

    def __init__(self, held: Mapping[str, Json]) -> None:
        self.held = held
        self.cut: str | None = None
        """Why some content is not whole."""
        self._read: set[str] = set()

    def get(self, *names: str) -> Json:
        """Return the first of these that is there, or ``ABSENT``."""
        found: Json = ABSENT
        for name in names:
            if name in self.held:
                self._read.add(name)
                if found is ABSENT and self.held[name] is not None:
                    found = self.held[name]
        return found

    def text(self, *names: str) -> str | None:
        """Return the first of these that is a text with something in it."""
        found = None
        for name in names:
            value = self.get(name)
            if found is None and isinstance(value, str) and value.strip():
                found = value
        return found

    def json(self, *names: str) -> Json:
        """Return the first of these, parsed if it is JSON in a string, or ``ABSENT``."""
        value = self.get(*names)
        tree, cut = parsed(value)
        self.cut = self.cut or cut
        return tree

    def listed(self, *names: str) -> list[Json] | None:
        """Return the first of these that is a list with something in it."""
        for name in names:
            tree = self.json(name)
            if isinstance(tree, list) and tree:
                return tree
        return None

    def tree(self, prefix: str) -> Json:
        """Return what the attributes below a prefix spell out, or None."""
        tree = unflatten(self.held, prefix)
        if tree is not None:
            self._read.update(name for name in self.held if name.startswith(prefix + "."))
        return tree

    def count(self, *names: str) -> int | None:
        """Return the first of these that is a count."""
        found = None
        for name in names:
            value = self.get(name)
            if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
                value = int(value)
            if found is None and type(value) is int and value >= 0:
                found = value
        return found

    def starting(self, prefix: str) -> dict[str, Json]:
        """Return the attributes below a prefix by the rest of their names."""
        found = {name[len(prefix) :]: value for name, value in self.held.items() if name.startswith(prefix)}
        self._read.update(prefix + name for name in found)
        return found

    def rest(self) -> dict[str, Json]:
        """Return the attributes that nobody read, without the long ones."""
        return {
            name: value
            for name, value in self.held.items()
            if name not in self._read and len(str(value)[: _LONGEST_REST + 1]) <= _LONGEST_REST
        }


def usage_facts(**counts: int | None) -> dict[str, Json]:
    """Return token counts as an answer states them.

    Args:
        **counts: ``input`` (all of them, those of a cache among them), ``output``, ``total``, ``cached``, ``written``,
            ``reasoning``.
    """
    usage: dict[str, Any] = {
        f"{name}_tokens": counts[name] for name in ("input", "output", "total") if counts.get(name) is not None
    }
    given = {
        known: counts[name]
        for name, known in (("cached", "cached_tokens"), ("written", "cache_creation_tokens"))
        if counts.get(name)
    }
    if given:
        usage["input_tokens_details"] = given
    if counts.get("reasoning"):
        usage["output_tokens_details"] = {"reasoning_tokens": counts["reasoning"]}
    return usage
