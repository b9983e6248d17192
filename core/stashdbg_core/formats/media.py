"""Pictures, sound and files that stand as base64 within the messages of any provider, made binary content."""

from __future__ import annotations

from stashdbg_core.canonical import Json
from stashdbg_core.formats.images import Tagged, data_url, image

_LONG = 64
"""Characters below which base64 is not worth a value of its own."""
_DEPTH = 24
_TYPES = ("media_type", "mime_type", "mimeType")


def with_media(tree: Json, depth: int = _DEPTH) -> Json:
    """Return a tree with its ``data:`` URLs and base64 sources as binary content; itself if it has none."""
    if isinstance(tree, str):
        return (data_url(tree) or tree) if len(tree) > _LONG and tree.startswith("data:") else tree
    if not depth or isinstance(tree, Tagged):
        return tree
    if isinstance(tree, list):
        items = [with_media(item, depth - 1) for item in tree]
        return items if any(new is not old for new, old in zip(items, tree, strict=True)) else tree
    if not isinstance(tree, dict):
        return tree
    held = _source(tree)
    if held is not None:
        return held
    made = {name: with_media(value, depth - 1) for name, value in tree.items()}
    return made if any(made[name] is not tree[name] for name in made) else tree


def _source(node: dict[str, Json]) -> Json | None:
    """Return what stands for ``{media_type, data}`` and its kin; None for anything else."""
    data = node.get("data")
    if not isinstance(data, str) or len(data) <= _LONG:
        return None
    mime = next((node[name] for name in _TYPES if isinstance(node.get(name), str)), None)
    if mime is None and isinstance(node.get("format"), str) and len(node) == 2:
        mime = f"audio/{node['format']}"
    return None if mime is None else {**node, "data": image(mime, data)}
