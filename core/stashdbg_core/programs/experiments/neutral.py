"""An earlier output with what it had to say taken out: the texts that reached a later call, or all of them.

What makes the value one of its kind stays: names, ids, roles, status and headers, so that the program can read it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stashdbg_core.canonical import Json, SpelledNumber, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.exchange.shape import is_response
from stashdbg_core.parse import parse_json
from stashdbg_core.session.pointers import ABSENT, resolve, scalar_text, walk
from stashdbg_core.session.stream_message import stream_message
from stashdbg_core.session.why_facts import number_key
from stashdbg_core.session.why_wanted import Evidence
from stashdbg_core.tags import EXCEPTION, STREAM, TAG

NEUTRAL = "(removed)"
"""What stands in the place of a text."""
NEUTRAL_NUMBER = 0
KEPT_KEYS = frozenset({
    "id", "jsonrpc", "name", "call_id", "tool_call_id", "tool_use_id", "item_id", "role", "type", "object", "model",
    "finish_reason", "stop_reason", "finishReason", "status", "class", "ending", "kind", "media_type", "mime_type",
    "mimeType", "usage", "usageMetadata", "system_fingerprint", "service_tier", "created", "created_at", "headers",
    "times_ms", "argv", "index",
})  # fmt: skip
"""Fields that say what a value is, not what it tells."""
_OPEN_TAGS = (STREAM, EXCEPTION)
_PARSED = 1_000_000


@dataclass(frozen=True, slots=True)
class Neutral:
    """A value with something taken out."""

    tree: Json
    removed: tuple[str, ...]
    """The texts that were taken out, heads of them; empty if every text was."""


def neutralised(tree: Json, evidence: Sequence[Evidence], *, whole: bool = False) -> Neutral | None:
    """Return an outcome without what reached a later call; None if nothing of it can be taken out.

    Args:
        tree: The outcome.
        evidence: What it has in common with the later call; where that is no text or number, every text goes.
        whole: Take out every text at once.
    """
    message = stream_message(tree)
    shown = tree if message is None else message.tree
    listed = [] if whole else [one for one in evidence if one.kind != "order only"]
    removal = _Removal(shown, listed)
    inner = removal.edit(shown)
    removed = tuple(removal.removed)
    if not removed:
        inner, removed = _edit_body(shown, _blank), ()
    try:
        stored = inner if message is None else message.edited(inner)
    except StashError:  # the message has a part that no chunk can spell
        stored = _edit_body(tree, _blank)
        removed = ()
    return None if _same(stored, tree) else Neutral(stored, removed)


def is_carried(before: Json, after: Json, removed: Sequence[str]) -> bool:
    """Tell whether a field differs only in that the neutral text stands where the text that was taken out stood."""
    if type(after) in (int, float) and after == NEUTRAL_NUMBER:
        return number_key(scalar_text(before) or "") in {number_key(text) for text in removed} - {None}
    if type(before) is not str or type(after) is not str:
        return False
    before, after = _respelled(before), _respelled(after)
    if any(before.replace(text, str(NEUTRAL_NUMBER)) == after for text in removed if number_key(text)):
        return True
    if NEUTRAL not in after:
        return False
    pattern = ".*".join(re.escape(part) for part in after.split(NEUTRAL))
    return re.fullmatch(pattern, before, re.DOTALL) is not None


class _Removal:
    """Takes stretches of text and numbers out of a value, wherever in it they stand."""

    def __init__(self, tree: Json, evidence: Sequence[Evidence]) -> None:
        texts = [text for _, _, text in walk(tree) if isinstance(text, str)]
        self._stretches: list[str] = []
        self._numbers: set[str] = set()
        self._wholes: list[Json] = []
        self.removed: dict[str, None] = {}
        for one in evidence:
            if one.kind in ("same number", "same value"):
                key = number_key(one.text)
                self._numbers |= {key} if key else set()
            if one.kind == "same value" and not number_key(one.text):
                part = _part(tree, one.source)
                self._wholes += [part] if isinstance(part, (dict, list)) and part else []
            elif one.text:
                self._stretches.append(_stretch(texts, one))
        self._stretches.sort(key=len, reverse=True)

    def edit(self, tree: Json, key: str | None = None) -> Json:
        if any(tree is whole for whole in self._wholes):
            self.removed[stored_form(tree).decode("utf-8", "replace")] = None
            return _all_blank(tree)
        if isinstance(tree, dict):
            return {name: node if _is_kept(name, tree) else self.edit(node, name) for name, node in tree.items()}
        if isinstance(tree, list):
            return [self.edit(node) for node in tree]
        if isinstance(tree, str):
            return self._text(tree)
        if isinstance(tree, (int, float, SpelledNumber)) and not isinstance(tree, bool):
            text = tree.token if isinstance(tree, SpelledNumber) else scalar_text(tree) or ""
            if number_key(text) in self._numbers:
                self.removed[text] = None
                return NEUTRAL_NUMBER
        return tree

    def _text(self, text: str) -> str:
        inner = _json_in(text)
        if inner is not None:
            edited = self.edit(inner)
            return text if _same(edited, inner) else stored_form(edited).decode("utf-8", "surrogatepass")
        for stretch in self._stretches:
            if stretch and stretch in text:
                self.removed[stretch] = None
                text = text.replace(stretch, NEUTRAL)
        return text


def _stretch(texts: Sequence[str], evidence: Evidence) -> str:
    """Return the whole of what evidence shows the head of."""
    for text in texts:
        at = text.find(evidence.text)
        if at >= 0:
            return text[at : at + max(evidence.characters, len(evidence.text))]
    return evidence.text


def _part(tree: Json, pointer: str) -> Json:
    found = resolve(tree, pointer)
    return None if found is ABSENT else found


def _edit_body(tree: Json, edit: Any) -> Json:
    """Edit a value, of an HTTP response its body alone."""
    return {**tree, "body": edit(tree["body"])} if is_response(tree) else edit(tree)


def _blank(tree: Json) -> Json:
    """Return a value whose texts say nothing."""
    if isinstance(tree, dict):
        return {name: node if _is_kept(name, tree) else _blank(node) for name, node in tree.items()}
    if isinstance(tree, list):
        return [_blank(node) for node in tree]
    if isinstance(tree, str) and tree:
        inner = _json_in(tree)
        if inner is None:
            return NEUTRAL
        blank = _blank(inner)
        return tree if _same(blank, inner) else stored_form(blank).decode("utf-8", "surrogatepass")
    return tree


def _all_blank(tree: Json) -> Json:
    """Return an object whose texts and numbers say nothing."""
    if isinstance(tree, dict):
        return {name: node if _is_kept(name, tree) else _all_blank(node) for name, node in tree.items()}
    if isinstance(tree, list):
        return [_all_blank(node) for node in tree]
    if isinstance(tree, str):
        return NEUTRAL
    return NEUTRAL_NUMBER if isinstance(tree, (int, float, SpelledNumber)) and not isinstance(tree, bool) else tree


def _is_kept(name: str, around: dict[str, Json]) -> bool:
    """Tell whether a field stays: it says what the value is, or belongs to a tag of our own."""
    return name in KEPT_KEYS or name == TAG or (TAG in around and around[TAG] not in _OPEN_TAGS and name == "base64")


def _json_in(text: str) -> dict[str, Json] | list[Json] | None:
    if text[:1] not in ("{", "[") or len(text) > _PARSED:
        return None
    try:
        tree = parse_json(text.encode("utf-8", "surrogatepass"))
    except (StashError, UnicodeError):
        return None
    return tree if isinstance(tree, (dict, list)) else None


def _respelled(text: str) -> str:
    """Return a text that is JSON as we spell it, so that blanks do not count."""
    tree = _json_in(text)
    return text if tree is None else stored_form(tree).decode("utf-8", "surrogatepass")


def _same(one: Json, other: Json) -> bool:
    return one is other or stored_form(one) == stored_form(other)
