"""JSON texts kept as trees: the usual spellings of JSON, told apart, so that a tree and a name give the text back.

A spelling is named by its layout (``compact``, ``spaced`` as Python's ``json`` writes by default, ``indent`` by two
blanks, ``indent4`` and so on), what it escapes (``-ascii``: all that is not ASCII; ``-html``: ``< > &``), and
``-newline`` if a line feed ends it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.parse import parse_json
from stashdbg_core.values import decode_value, encode_value
from stashdbg_core.values.plain import is_plain_value

COMPACT = "compact"
MAX_SPELLED = 16 * 1024 * 1024
"""Characters beyond which a text is not taken apart."""

_NAME = re.compile(r"(?P<layout>compact|spaced|indent(?P<by>[1-8])?)(?P<escapes>-ascii|-html)?(?P<newline>-newline)?\Z")
_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_HTML_ESCAPES = tuple(_HTML.values())
_FIRST_KEY = re.compile(r'"\s*:( ?)')


def spelled_tree(text: str) -> tuple[Json, str] | None:
    """Return the tree of a JSON object or array and how it is spelled; None unless the two give the text back.

    An object of the text's own that has the key ``$stash`` stands escaped in the tree, as ``docs/format.md`` says.
    """
    if text[:1] not in ("{", "[") or len(text) > MAX_SPELLED:
        return None
    try:
        tree = parse_json(text.encode("utf-8"))
    except (StashError, UnicodeEncodeError):
        return None
    if not is_plain_value(tree):
        tree = encode_value(tree).tree
    for spelling in _likely(text):
        if spelled_text(tree, spelling) == text:
            return tree, spelling
    return None


def spelled_text(tree: Json, spelling: str = COMPACT) -> str:
    """Return the text of a tree; compact if the spelling is unknown."""
    found = _NAME.match(spelling) or _NAME.match(COMPACT)
    assert found is not None
    value = tree if is_plain_value(tree) else decode_value(tree, on_unstorable="stand-in")
    layout = found["layout"]
    ascii_only = found["escapes"] == "-ascii"
    try:
        if layout.startswith("indent"):
            text = json.dumps(value, indent=int(found["by"] or 2), ensure_ascii=ascii_only, default=str)
        else:
            marks = (",", ":") if layout == COMPACT else (", ", ": ")
            text = json.dumps(value, separators=marks, ensure_ascii=ascii_only, default=str)
    except RecursionError:
        return ""
    if found["escapes"] == "-html":
        for character, escape in _HTML.items():
            text = text.replace(character, escape)
    return text + "\n" if found["newline"] else text


def _likely(text: str) -> Iterator[str]:
    """Yield the spellings that a text may have, the likeliest first."""
    newline = "-newline" if text.endswith("\n") else ""
    layouts: list[str] = ["compact", "spaced"]
    if text[1:2] == "\n":
        blanks = len(text) - len(text[2:].lstrip(" ")) - 2
        layouts = ["indent" if blanks == 2 else f"indent{blanks}"] if 1 <= blanks <= 8 else []
    elif (key := _FIRST_KEY.search(text)) is not None and key[1]:
        layouts = ["spaced", "compact"]
    escapes = [""]
    if "\\u" in text:
        head = text.lower()
        escapes = ["-ascii", ""] if text.isascii() else [""]
        if any(escape in head for escape in _HTML_ESCAPES):
            escapes.insert(0, "-html")
    yield from (f"{layout}{escape}{newline}" for layout in layouts for escape in escapes)
