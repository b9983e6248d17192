"""The child writes values as the library does, and reads them back."""

from __future__ import annotations

import asyncio
import datetime as dt
import decimal
import fractions
import json
import math
import pathlib
import uuid
import zoneinfo
from collections import OrderedDict
from typing import Any

import pytest

from stashdbg_core.programs.child.stash_child import json_text
from stashdbg_core.programs.child.stash_child.errors import error_tree, rebuild_error
from stashdbg_core.programs.child.stash_child.trees import bytes_of, plain, text_or_bytes, untree
from stashdbg_core.values import decode_value, encode_value

EAST = dt.timezone(dt.timedelta(hours=2))
VALUES: list[Any] = [
    None, True, 0, -1, 10**30, 10**5000, 1.5, -0.0, math.inf, -math.inf,
    "text", "h\xe9 \U0001f44d", "\ud83d", "\ud83d\udc4d", b"\x00\xff", bytearray(b"ab"), ..., 1 + 2j,
    (1, "a", (b"x",)), {3, 1, 2}, frozenset({"b", "a"}), [], {}, {"a": [1, {"b": None}]},
    {1: "a", None: "b"}, {"$stash": "bytes", "base64": ""}, OrderedDict(b=1, a=2),
    dt.datetime(2026, 1, 2, 3, 4, 5, 6), dt.datetime(2026, 1, 2, tzinfo=dt.UTC), dt.datetime(2026, 1, 2, fold=1),
    dt.datetime(2026, 7, 2, tzinfo=zoneinfo.ZoneInfo("Europe/Paris")), dt.datetime(2026, 1, 2, tzinfo=EAST),
    dt.datetime(2026, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=1), "CET")), dt.date(2026, 1, 2), dt.time(1, 2, 3),
    dt.timedelta(-1, 2, 3), EAST, decimal.Decimal("-1.50E+400"), fractions.Fraction(2, 3), uuid.UUID(int=7),
    pathlib.PurePosixPath("/a/b"), pathlib.Path("x"),
]  # fmt: skip


class Odd(Exception):
    """A program's own exception, with a constructor nobody knows."""

    def __init__(self, code: int, extra: object) -> None:
        super().__init__(f"odd {code}")
        self.code = code
        self.extra = extra


def errors() -> list[BaseException]:
    """Return exceptions of many kinds, as a program raises them."""
    chained: BaseException
    try:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise FileNotFoundError(2, "No such file", "/nowhere") from error
    except OSError as error:
        chained = error
    noted = ValueError("text", 3)
    noted.add_note("a note")
    group = ExceptionGroup("two", [TypeError("a"), OSError(5, "io")])
    left = [KeyboardInterrupt(), SystemExit(3), asyncio.CancelledError("why")]
    known = [json.JSONDecodeError("bad", "doc", 1), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no")]
    return [chained, noted, group, *left, *known, Odd(7, {"a": (1,)})]


def test_values_are_written_as_the_library_writes_them_and_read_back() -> None:
    write = json_text.writer(plain)
    for value in VALUES:
        tree = plain(value)
        assert tree == encode_value(value).tree, value
        assert json_text.read(write(tree).encode()) == tree
        back = untree(tree)
        assert (type(back), back) == (type(value), value)
    assert math.isnan(untree(plain(math.nan)))


def test_what_cannot_be_stored_says_so_and_hurts_nobody() -> None:
    class Angry:
        @property
        def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
            raise RuntimeError

    held: list[Any] = []
    held.append(held)
    for value in (object(), Angry(), lambda: 1, [[open]]):
        assert '"$stash":"unstorable"' in json_text.writer(plain)(plain(value)), value
    assert "nested deeper" in json_text.writer(plain)(plain(held))
    snapshot = {"a": [1]}
    tree = plain(snapshot)
    snapshot["a"].append(2)
    assert tree == {"a": [1]}


@pytest.mark.parametrize("data", [b"", b"text", "h\xe9".encode(), b"\xff\x00", b"a\r\nb"])
def test_bytes_are_text_where_they_can_be(data: bytes) -> None:
    assert isinstance(text_or_bytes(data), str) is (b"\xff" not in data)
    assert bytes_of(text_or_bytes(data)) == data


def test_exceptions_keep_what_is_caught_and_said() -> None:
    for error in errors():
        tree = error_tree(error)
        assert tree == encode_value(error).tree, error
        back = rebuild_error(tree, __name__)
        assert (type(back), str(back), type(back.__cause__)) == (type(error), str(error), type(error.__cause__))
        assert error_tree(back) == tree
        read = decode_value(tree)
        assert isinstance(read, BaseException)
        assert str(read) == str(error)
    stranger = rebuild_error(error_tree(Odd(7, None)))
    assert (type(stranger).__name__, str(stranger)) == ("RecordedError", "odd 7")
    assert isinstance(rebuild_error({"$stash": "exception", "class": "x:Y", "base": "OSError", "args": []}), OSError)
    assert str(rebuild_error("no tag at all")) == "no tag at all"
