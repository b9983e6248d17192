"""A recorded exception is caught by the same ``except`` and says the same."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import subprocess
from email.message import Message
from io import BytesIO
from typing import Any
from urllib.error import HTTPError

import pytest

from stashdbg_core.canonical import stored_form
from stashdbg_core.parse import parse_json
from stashdbg_core.values import RecordedError, TypeRegistry, decode_exception, encode_exception, exception_kind
from stashdbg_core.values import snapshot as take


class Limit(Exception):
    def __init__(self, code: int, *, after: float) -> None:
        super().__init__(f"limit {code}")
        self.after = after
        self.response = object()


class Doubling(Exception):
    def __init__(self, token: str) -> None:
        super().__init__(f"Token {token} is not valid")


class OwnText(ConnectionError):
    __slots__ = ("token",)

    def __init__(self, token: int) -> None:
        self.token = token

    def __str__(self) -> str:
        return f"token {self.token}"


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


class Shape:
    def __str__(self) -> str:
        return "a shape"


TYPES = TypeRegistry(Limit, Doubling, OwnText, Unspeakable)


def again(error: BaseException, types: TypeRegistry | None = None) -> BaseException:
    tree = encode_exception(error)
    assert b"Traceback" not in stored_form(tree)
    rebuilt = decode_exception(parse_json(stored_form(tree)), types)
    tree.pop("omitted", None)
    recorded_again = encode_exception(rebuilt)
    recorded_again.pop("omitted", None)
    assert recorded_again == tree
    return rebuilt


def raised(source: str) -> BaseException:
    try:
        exec(source)
    except BaseException as error:  # noqa: BLE001 - the point
        return error
    raise AssertionError


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        ValueError(),
        KeyError("k"),
        OSError(2, "no", "f"),
        OSError("plain"),
        PermissionError(13, "no", "a", None, "b"),
        BlockingIOError(11, "later"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
        UnicodeEncodeError("utf-8", "\ud83d", 0, 1, "surrogates"),
        StopIteration(3),
        SystemExit(3),
        SystemExit("bye"),
        KeyboardInterrupt(),
        asyncio.CancelledError("why"),
        ImportError("m", name="n", path="p"),
        SyntaxError("bad", ("f", 1, 2, "t")),
        ExceptionGroup("two", [ValueError(1), TypeError("t")]),
        BaseExceptionGroup("odd", [KeyboardInterrupt(), ExceptionGroup("in", [OSError(5, "io")])]),
        json.JSONDecodeError("bad", "{", 1),
        subprocess.CalledProcessError(2, ["ls"], "out"),
        raised("{}['a']"),
        raised("[].nothing"),
        raised("import no_such_module"),
        raised("1 +"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_builtin_and_loaded_standard_exceptions_are_themselves(error: BaseException) -> None:
    back = again(error)
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert repr(back) == repr(error)
    for name in ("errno", "strerror", "filename", "filename2", "name", "path", "lineno", "code", "value", "start"):
        assert getattr(back, name, None) == getattr(error, name, None)
    assert back.__traceback__ is None


def test_registered_classes_are_rebuilt_without_their_constructor() -> None:
    back = again(Limit(3, after=2.5), TYPES)
    assert type(back) is Limit
    assert (str(back), back.after) == ("limit 3", 2.5)
    assert not hasattr(back, "response")
    assert take(Limit(3, after=1)).losses == ()
    assert encode_exception(Limit(3, after=1))["omitted"] == ["response"]
    assert str(again(Doubling("42"), TYPES)) == "Token 42 is not valid"
    own = again(OwnText(7), TYPES)
    assert type(own) is OwnText
    assert (str(own), own.token) == ("token 7", 7)


def test_other_classes_are_recorded_errors_that_the_same_except_catches() -> None:
    back = again(Limit(3, after=2.5))
    assert isinstance(back, RecordedError)
    assert (back.type_name, back.module, str(back), back.attributes["after"]) == ("Limit", __name__, "limit 3", 2.5)
    with pytest.raises(ConnectionError, match="token 7") as caught:
        raise again(OwnText(7))
    assert isinstance(caught.value, RecordedError)


class OwnGroup(ExceptionGroup[Exception]):
    pass


def test_groups_of_unregistered_classes_keep_their_members() -> None:
    back = again(OwnGroup("two", [ValueError(1), Limit(3, after=1)]))
    assert isinstance(back, RecordedError)
    assert isinstance(back, ExceptionGroup)
    assert (back.type_name, [str(e) for e in back.exceptions]) == ("OwnGroup", ["1", "limit 3"])
    broken = {"$stash": "exception", "class": "a:B", "base": "ExceptionGroup", "args": [], "text": "t"}
    assert type(decode_exception(broken)) is RecordedError


def test_text_survives_args_that_cannot_be_stored() -> None:
    for error in (ValueError(Shape()), ValueError("a", Shape()), KeyError(Shape())):
        tree = encode_exception(error)
        back = decode_exception(tree)
        assert isinstance(back, type(error))
        assert str(back) == tree["text"]


def test_an_exception_that_cannot_say_what_it_is_is_still_recorded() -> None:
    assert type(again(Unspeakable(1), TYPES)) is Unspeakable
    assert isinstance(again(Unspeakable(1)), RecordedError)


def test_cause_context_and_notes() -> None:
    caused = raised("try:\n {}['k']\nexcept KeyError as k:\n raise ValueError('v') from k")
    caused.add_note("look here")
    back = again(caused)
    assert repr(back.__cause__) == "KeyError('k')"
    assert back.__suppress_context__
    assert back.__notes__ == ["look here"]
    context = again(raised("try:\n {}['k']\nexcept KeyError:\n raise ValueError('v')"))
    assert repr(context.__context__) == "KeyError('k')"
    assert context.__cause__ is None
    hidden = again(raised("try:\n {}['k']\nexcept KeyError:\n raise ValueError('v') from None"))
    assert (hidden.__context__, hidden.__cause__, hidden.__suppress_context__) == (None, None, True)


def test_chains_that_bite_their_tail_and_long_ones_end() -> None:
    first, second = ValueError("1"), ValueError("2")
    first.__context__, second.__context__ = second, first
    assert repr(again(first).__context__) == "ValueError('2')"
    link: BaseException = ValueError("0")
    for number in range(5_000):
        following = ValueError(str(number))
        following.__cause__, link = link, following
    assert str(decode_exception(encode_exception(link))) == "4999"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError(), "error"),
        (asyncio.CancelledError(), "cancelled"),
        (concurrent.futures.CancelledError(), "cancelled"),
        (KeyboardInterrupt(), "interrupt"),
        (SystemExit(3), "exit"),
        (GeneratorExit(), "error"),
    ],
)
def test_cancellation_interruption_and_exit_are_told_apart(error: BaseException, kind: str) -> None:
    assert exception_kind(encode_exception(error)) == kind


def test_an_unregistered_cancellation_still_cancels() -> None:
    tree = {**encode_exception(asyncio.CancelledError("x")), "class": "trio:Cancelled"}
    assert isinstance(decode_exception(tree), asyncio.CancelledError)


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        ({"name": "RateLimit", "message": "slow down"}, "slow down"),
        ("just text", "just text"),
        (None, ""),
        ([1], ""),
        ({"$stash": "exception"}, ""),
        ({"$stash": "exception", "class": "os:system", "args": ["x"], "text": "t"}, "t"),
        ({"$stash": "exception", "class": "builtins:open", "args": [], "text": "t"}, "t"),
        ({"$stash": "exception", "class": "builtins:ExceptionGroup", "args": ["m"], "text": "t"}, "t"),
    ],
)
def test_throws_of_other_tools_and_damaged_ones_can_be_raised(tree: Any, text: str) -> None:
    error = decode_exception(tree)
    assert isinstance(error, Exception)
    assert str(error) == text
    assert exception_kind(tree) == "error"


def test_a_rebuilt_exception_that_delegates_its_attributes_is_recorded_again() -> None:
    original = HTTPError("http://localhost/v1", 429, "Too Many Requests", Message(), BytesIO(b"busy"))
    tree = encode_exception(original)
    rebuilt = decode_exception(tree)
    assert (type(rebuilt), rebuilt.code, str(rebuilt)) == (HTTPError, 429, str(original))
    assert encode_exception(rebuilt) == tree
