"""What a recorded HTTP response looks like; apart from the module that makes one, for whoever only asks."""

from __future__ import annotations

from stashdbg_core.canonical import Json
from stashdbg_core.tags import TAG


def is_response(tree: Json) -> bool:
    """Tell whether a tree is a response as ``response_tree`` makes it."""
    return (
        type(tree) is dict
        and TAG not in tree
        and type(tree.get("status")) is int
        and 100 <= tree["status"] <= 599
        and "body" in tree
        and type(tree.get("headers", {})) is dict
    )
