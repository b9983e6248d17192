"""Reading trees of which no shape is certain."""

from __future__ import annotations

from typing import Any


def objects_of(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; none if it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
