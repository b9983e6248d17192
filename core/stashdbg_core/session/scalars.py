"""Tagged values without parts, as people read them: a UUID as its text, bytes as their size and a dump of their head.

What is none of these, or holds more than its tag says, is left to be shown as the object it is. The texts are recorded
text and unsanitised.
"""

from __future__ import annotations

import datetime as dt
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stashdbg_core import tags
from stashdbg_core.canonical import Json
from stashdbg_core.session.lines import Token, TokenKind
from stashdbg_core.session.pointers import scalar_text
from stashdbg_core.session.words import size_words
from stashdbg_core.tags import TAG

DUMP_ROW = 8
"""Bytes of a row of a dump: it fits beside the timeline of a terminal of 110 columns."""
DUMPED = 16 * DUMP_ROW
"""Bytes at the head of a value that are dumped."""

BYTES_TAGS = (tags.BYTES, tags.BYTEARRAY, tags.MEMORYVIEW)


@dataclass(frozen=True, slots=True)
class Dump:
    """The head of bytes, row by row.

    Args:
        base64: What they are stored as, or enough of its head.
        size: How many bytes there are.
    """

    base64: str
    size: int

    @property
    def rows(self) -> range:
        """The offsets at which rows begin; the last row is a remark if bytes are left out."""
        return range(0, min(self.size, DUMPED + 1), DUMP_ROW)

    def row(self, offset: int) -> list[Token]:
        """Return a row: where it begins, the bytes in hexadecimal, and as ASCII."""
        if offset >= DUMPED:
            return [(f"… {size_words(self.size - DUMPED)} more", "note")]
        group = offset // 3
        data = b64decode(self.base64[4 * group : 4 * (group + DUMP_ROW // 3 + 2)])
        row = data[offset - 3 * group :][:DUMP_ROW]
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "·" for byte in row)
        return [(f"{offset:04x}  ", "note"), (f"{row.hex(' '):<{3 * DUMP_ROW}} ", "text"), (shown, "string")]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value without parts: what it says, and of which type it is."""

    text: str
    type: str
    kind: TokenKind = "string"
    dump: Dump | None = None
    """Of bytes."""

    @property
    def tokens(self) -> list[Token]:
        """Its own line."""
        return [(self.text, self.kind), (f"  {self.type}", "note")]

    @property
    def dump_lines(self) -> list[list[Token]]:
        """The lines below it."""
        return [self.dump.row(offset) for offset in self.dump.rows] if self.dump is not None else []


def read_scalar(tree: Json) -> Scalar | None:
    """Return a tagged value without parts as people read it; None for any other tree."""
    name = tree.get(TAG) if isinstance(tree, dict) else None
    known = _READERS.get(name) if isinstance(name, str) else None
    if known is None:
        return None
    keys, read = known
    assert isinstance(tree, dict)
    if not tree.keys() <= {TAG, *keys}:
        return None
    try:
        return read(tree)
    except (LookupError, TypeError, ValueError, OverflowError):  # it is not what its tag says
        return None


def bytes_scalar(name: str, base64: str, *, cut: bool = False) -> Scalar:
    """Return bytes as people read them.

    Args:
        name: The tag's name.
        base64: What they are stored as.
        cut: Whether only their head is known.

    Raises:
        ValueError: It is no base64.
    """
    if cut:
        base64 = base64[: len(base64) // 4 * 4]
    elif len(base64) % 4:
        raise ValueError("not padded")
    head = base64[: 2 * DUMPED]
    b64decode(head, validate=True)
    size = len(base64.rstrip("=")) * 3 // 4
    return Scalar(f"{size_words(size)}{' and more' if cut else ''}", name, "number", Dump(head, size))


def _bytes(tree: dict[str, Any]) -> Scalar:
    return bytes_scalar(tree[TAG], _text(tree["base64"]))


def _of_type(tree: dict[str, Any]) -> Scalar:
    return Scalar(_text(tree["value"]), tree[TAG])


def _of_class(tree: dict[str, Any]) -> Scalar:
    return Scalar(_text(tree["value"]), _text(tree["class"]))


def _number(tree: dict[str, Any]) -> Scalar:
    return Scalar(_text(tree["value"]), tree[TAG], "number")


def _int(tree: dict[str, Any]) -> Scalar:
    digits = _text(tree["hex"])
    return Scalar(f"-0x{digits[1:]}" if digits.startswith("-") else f"0x{digits}", tags.INT, "number")


def _fraction(tree: dict[str, Any]) -> Scalar:
    return Scalar(f"{int(tree['numerator'])}/{int(tree['denominator'])}", tags.FRACTION, "number")


def _complex(tree: dict[str, Any]) -> Scalar:
    return Scalar(str(complex(tree["real"], tree["imag"])).strip("()"), tags.COMPLEX, "number")


def _moment(tree: dict[str, Any]) -> Scalar:
    zone, fold = _text(tree.get("zone") or tree.get("name") or ""), "fold=1" if tree.get("fold") else ""
    return Scalar(" ".join(part for part in (_text(tree["value"]), zone, fold) if part), tree[TAG])


def _timedelta(tree: dict[str, Any]) -> Scalar:
    return Scalar(str(dt.timedelta(tree["days"], tree["seconds"], tree["microseconds"])), tags.TIMEDELTA)


def _timezone(tree: dict[str, Any]) -> Scalar:
    zone = dt.timezone(dt.timedelta(seconds=tree["seconds"], microseconds=tree["microseconds"]))
    return Scalar(f"{zone.tzname(None)} {_text(tree.get('name') or '')}".rstrip(), tags.TIMEZONE)


def _enum(tree: dict[str, Any]) -> Scalar:
    name, value = tree["name"], scalar_text(tree.get("value"))
    of = _text(tree["class"]).rpartition(":")[2]
    if value is None:
        raise TypeError("its value has parts")
    member = of if name is None else f"{of}.{_text(name)}"
    return Scalar(f"{member} = {value}" if "value" in tree else member, tags.ENUM, "literal")


def _text(text: Any) -> str:
    """Return a text; one that JSON cannot hold is a tag of its own, and then all is shown as stored."""
    if not isinstance(text, str):
        raise TypeError("no text")
    return text


def _said(words: str) -> Callable[[dict[str, Any]], Scalar]:
    return lambda tree: Scalar(words, tree[TAG], "literal")


_READERS: dict[str, tuple[tuple[str, ...], Callable[[dict[str, Any]], Scalar]]] = {
    **dict.fromkeys(BYTES_TAGS, (("base64",), _bytes)),
    **dict.fromkeys((tags.UUID, tags.DATE), (("value",), _of_type)),
    **dict.fromkeys((tags.DECIMAL, tags.FLOAT), (("value",), _number)),
    **dict.fromkeys((tags.PATH, tags.IP), (("class", "value"), _of_class)),
    **dict.fromkeys((tags.DATETIME, tags.TIME), (("value", "name", "zone", "fold"), _moment)),
    tags.INT: (("hex",), _int),
    tags.FRACTION: (("numerator", "denominator"), _fraction),
    tags.COMPLEX: (("real", "imag"), _complex),
    tags.TIMEDELTA: (("days", "seconds", "microseconds"), _timedelta),
    tags.TIMEZONE: (("seconds", "microseconds", "name"), _timezone),
    tags.ZONE: (("zone",), lambda tree: Scalar(_text(tree["zone"]), tags.ZONE)),
    tags.ENUM: (("class", "name", "value"), _enum),
    tags.ELLIPSIS: ((), _said("...")),
    tags.PENDING: ((), _said("never finished")),
    tags.DROPPED: ((), _said("left out by a redactor")),
}
