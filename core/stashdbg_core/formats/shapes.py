"""Reading trees of which no shape is certain."""

from __future__ import annotations

from typing import Any


def object_of(value: Any) -> dict[str, Any]:
    """Return a value that is an object; an empty one in place of any other."""
    return value if isinstance(value, dict) else {}


def objects_of(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; none if it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def word(value: Any) -> str | None:
    """Return a value that is a text, and not empty; None for any other."""
    return value if isinstance(value, str) and value else None
