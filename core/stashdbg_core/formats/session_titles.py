"""The title of a session file: the first thing that a person said in it."""

from __future__ import annotations

from pathlib import Path

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.readers.openhands.folder import EVENTS, STATE
from stashdbg_core.parse import parse_json

_READ = 1 << 16
_LINES = 40
_EVENTS = 5
_USER = ("user", "user_message", "user.message")
_TITLES = ("summary", "ai-title", "custom-title")
_INSIDE = ("message", "payload", "data", "llm_message")
_TEXTS = ("text", "content", "message")


def title_of(path: Path) -> str:
    """Return what a person said first, or the file's own title; empty where neither is near the beginning."""
    if path.name == STATE:  # a file an event: the first prompt is near the first
        files = sorted(path.parent.glob(f"{EVENTS}/event-0000*.json"))[:_EVENTS]
        return next((title for file in files if not file.is_symlink() and (title := title_of(file))), "")
    try:
        with path.open("rb") as file:
            data = file.read(_READ)
    except OSError:
        return ""
    said = ""
    for line in data.split(b"\n")[:_LINES]:
        try:
            tree = parse_json(line) if line.startswith(b"{") else None
        except StashError:
            continue
        if not isinstance(tree, dict):
            continue
        if type(kind := tree.get("type")) is str and kind in _TITLES:
            own = next((tree[key] for key in ("summary", "title", "aiTitle") if isinstance(tree.get(key), str)), "")
            if own:
                return label_of(own)
        said = said or label_of(_said(tree))
    return said


def _said(tree: dict[str, Json]) -> str:
    """Return what a person says in a record; empty if it is something else, or made by the tool itself."""
    if tree.get("isMeta") is True:
        return ""
    user = False
    for node in (tree, *(tree[key] for key in _INSIDE if isinstance(tree.get(key), dict))):
        user = user or any(isinstance(node.get(key), str) and node[key] in _USER for key in ("type", "role"))
        for key in _TEXTS if user else ():
            text = _text(node.get(key))
            if text and not text.startswith("<"):
                return text
    return ""


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and isinstance(block.get("text"), str):
                return str(block["text"]).strip()
    return ""
