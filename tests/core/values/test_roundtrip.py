"""Whatever is stored comes back equal and of the same type, down to the last leaf."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import fractions
import ipaddress
import math
import pathlib
import struct
import uuid
import zoneinfo
from decimal import Decimal
from typing import Any, NamedTuple

import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import stored_form
from stashdbg_core.parse import parse_json
from stashdbg_core.values import TypeRegistry, decode_stored, decode_value, encode_value, snapshot


class Colour(enum.Enum):
    RED = "red"
    PAIR = (1, 2)
    NOT_A_NUMBER = math.nan


class Level(enum.IntEnum):
    LOW = 1


class Word(str, enum.Enum):  # noqa: UP042 - this spelling is in use
    YES = "yes"


class Right(enum.Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass
class Reply:
    text: Any
    parts: list[Any] = dataclasses.field(default_factory=list)
    derived: int = dataclasses.field(init=False, default=7)


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    x: int
    name: str = "p"


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow", arbitrary_types_allowed=True)
    a: int
    b: Any = None
    _hidden: int = pydantic.PrivateAttr(default=3)


class Pair(NamedTuple):
    left: Any
    right: Any


TYPES = TypeRegistry(Colour, Level, Word, Right, Reply, Point, Model, Pair)


def same(left: Any, right: Any) -> bool:
    """Equal and of the same type all the way down; floats by their bits, NaN like NaN."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return struct.pack("d", left) == struct.pack("d", right) or (left != left and right != right)
    if isinstance(left, complex):
        return same(left.real, right.real) and same(left.imag, right.imag)
    if isinstance(left, dict):
        if isinstance(left, collections.defaultdict) and left.default_factory is not right.default_factory:
            return False
        return len(left) == len(right) and all(
            same(k, other) and same(v, w) for (k, v), (other, w) in zip(left.items(), right.items(), strict=True)
        )
    if isinstance(left, (list, tuple, collections.deque)):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, (set, frozenset)):
        rest = list(right)
        for item in left:
            match = next((k for k, other in enumerate(rest) if same(item, other)), None)
            if match is None:
                return False
            rest.pop(match)
        return not rest
    if isinstance(left, pydantic.BaseModel):
        names = ("__dict__", "__pydantic_extra__", "__pydantic_private__", "__pydantic_fields_set__")
        return all(same(getattr(left, name), getattr(right, name)) for name in names)
    if isinstance(left, Reply):
        return all(same(getattr(left, f.name), getattr(right, f.name)) for f in dataclasses.fields(left))
    if isinstance(left, slice):
        return same((left.start, left.stop, left.step), (right.start, right.stop, right.step))
    if isinstance(left, (dt.datetime, dt.time)):
        zones = same(left.tzinfo, right.tzinfo) and left.tzname() == right.tzname()
        return left.replace(tzinfo=None) == right.replace(tzinfo=None) and left.fold == right.fold and zones
    if isinstance(left, Decimal):
        return str(left) == str(right)
    return bool(left == right)


any_text = st.text(st.characters(exclude_categories=()), max_size=8) | st.sampled_from(
    ["$stash", "\ud83d", "\ud83d\ude00", "a\x00\x1f\x7f\u2028", "\udcff\ud800", "", "\U0001f600"]
)
zones = st.sampled_from([dt.UTC, dt.timezone(dt.timedelta(hours=5, minutes=30), "IST"), zoneinfo.ZoneInfo("UTC")])
zones |= st.sampled_from([dt.timezone(dt.timedelta(seconds=-12_345)), zoneinfo.ZoneInfo("Europe/Berlin")])
fold = st.sampled_from([0, 1])
moments = st.builds(lambda m, z, f: m.replace(tzinfo=z, fold=f), st.datetimes(), st.none() | zones, fold)
times = st.builds(lambda m, z, f: m.replace(tzinfo=z, fold=f), st.times(), st.none() | zones, fold)
plain = st.none() | st.booleans() | st.integers() | st.floats() | any_text
hashable = (
    plain
    | st.sampled_from([2**64, -(2**63) - 1, -0.0, 1e16, 1e-5, 5e-324, ...])
    | st.sampled_from([4299, 4300, 5000]).map(lambda digits: 10**digits)
    | st.binary(max_size=9)
    | st.decimals()
    | st.fractions()
    | st.complex_numbers(allow_nan=True)
    | st.uuids()
    | moments
    | times
    | st.dates()
    | st.timedeltas()
    | zones
    | st.builds(range, st.integers(), st.integers(), st.integers(1, 9))
    | st.ip_addresses()
    | st.ip_addresses().map(ipaddress.ip_network)
    | st.ip_addresses().map(ipaddress.ip_interface)
    | st.sampled_from([pathlib.Path("/a/\udcff"), pathlib.PurePosixPath("b"), pathlib.PureWindowsPath("c:\\x")])
    | st.sampled_from([*Colour, *Level, *Word, Right.READ, Right(0), Right.READ | Right.WRITE])
    | st.builds(Point, st.integers(), any_text)
).filter(lambda value: not (isinstance(value, Decimal) and value.is_snan()))
look_alikes = st.sampled_from(
    [
        {"$stash": "bytes", "base64": "AA=="},
        {"$stash": "ref", "ref": "sha256:0"},
        {"$stash": "dict", "items": [[1, 2]]},
        {"$stash": ["float"], "value": "nan"},
        {"$stash": "unstorable", "class": "a:B", "reason": "x"},
        {"$stash": "exception", "class": "builtins:SystemExit", "args": []},
    ]
)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    frozen = st.frozensets(hashable, max_size=4)
    return (
        st.lists(inner, max_size=4)
        | st.dictionaries(any_text, inner, max_size=4)
        | st.dictionaries(hashable | frozen, inner, max_size=3)
        | st.lists(inner, max_size=4).map(tuple)
        | st.sets(hashable | frozen, max_size=4)
        | frozen
        | st.dictionaries(hashable, inner, max_size=3).map(collections.OrderedDict)
        | st.dictionaries(hashable, inner, max_size=3).map(lambda d: collections.defaultdict(list, d))
        | st.lists(any_text, max_size=4).map(collections.Counter)
        | st.lists(inner, max_size=4).map(lambda items: collections.deque(items, 5))
        | st.builds(slice, inner, inner, inner)
        | st.binary(max_size=5).map(bytearray)
        | st.builds(Reply, inner, st.lists(inner, max_size=2))
        | st.builds(Pair, inner, inner)
        | st.builds(lambda a, b, more: Model(a=a, b=b, **{"$stash": more}), st.integers(), inner, inner)
        | look_alikes
    )


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.recursive(hashable, containers, max_leaves=12))
def test_value_to_bytes_and_back(value: Any) -> None:
    taken = snapshot(value)
    assert taken.losses == ()
    assert b"\n" not in taken.stored
    assert taken.stored == stored_form(taken.tree)
    assert same(value, decode_value(parse_json(taken.stored), types=TYPES))
    assert same(value, decode_stored(taken.stored, types=TYPES))
    encoded = encode_value(value)
    assert encoded.losses == ()
    assert stored_form(encoded.tree) == taken.stored


@pytest.mark.parametrize(
    "value",
    [
        (1, 2),
        {1, 2},
        b"PK\x03\x04\xff\xfe",
        "504b0304",
        dt.date(2026, 1, 2),
        Decimal("0.10"),
        math.nan,
        dt.datetime(2026, 10, 25, 2, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"), fold=1),
        uuid.UUID(int=7),
        fractions.Fraction(1, 3),
        {"score": math.nan, "m": [math.inf, -math.inf]},
        [1, 1.0, True],
        {True: 1, 2: "a"},
        "ok \ud83d tail",
        {"id": 9007199254740993, "hi": 18446744073709551616, "lo": -9223372036854775809},
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_that_other_recorders_change(value: Any) -> None:
    assert same(value, decode_stored(snapshot(value).stored))


def test_memoryview_keeps_its_bytes() -> None:
    back = decode_stored(snapshot(memoryview(b"abc")).stored)
    assert type(back) is memoryview
    assert back == b"abc"


def test_decoding_twice_gives_two_values() -> None:
    tree = {"list": [1], "tag": {"$stash": "tuple", "items": [[1]]}}
    first, second = decode_value(tree), decode_value(tree)
    first["list"].append(2)
    first["tag"][0].append(2)
    assert second == {"list": [1], "tag": ([1],)}
    assert tree == {"list": [1], "tag": {"$stash": "tuple", "items": [[1]]}}


@pytest.mark.parametrize(
    "tree",
    [
        {"$stash": "bytes", "base64": "%%%"},
        {"$stash": "bytes"},
        {"$stash": "set", "items": [[1]]},
        {"$stash": "set", "items": [1, 1]},
        {"$stash": "dict", "items": [[[], 1]]},
        {"$stash": "dict", "items": {"a": 1}},
        {"$stash": "decimal", "value": "1e"},
        {"$stash": "datetime", "value": 3},
        {"$stash": "zone", "zone": "../../etc/passwd"},
        {"$stash": "deque", "items": [], "maxlen": -1},
        {"$stash": "path", "class": "os:system", "value": "x"},
        {"$stash": "dataclass", "class": 5, "fields": {}},
        {"$stash": "exception", "class": None, "args": []},
        {"$stash": "fraction", "numerator": 1, "denominator": 0},
        {"$stash": "stream", "kind": "odd", "chunks": []},
        {"$stash": "no such tag", "items": [1]},
        {"$stash": None},
        {"$stash": ["tuple"]},
    ],
)
def test_unknown_and_malformed_tags_are_the_dict_they_are(tree: Any) -> None:
    assert same(tree, decode_value(tree))


json_trees = st.recursive(
    plain.filter(lambda v: v == v and v not in (math.inf, -math.inf)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["$stash", "items", "class", "fields", "value", "args", "x"]), inner)
        | st.builds(
            lambda tag, items, cls: {"$stash": tag, "items": items, "class": cls, "args": items, "value": cls},
            st.sampled_from(["tuple", "set", "dict", "enum", "dataclass", "model", "exception", "namedtuple", "ip"]),
            st.lists(inner, max_size=3),
            st.sampled_from(["builtins:OSError", "builtins:ExceptionGroup", f"{__name__}:Point", "", "os:system", 1]),
        )
    ),
    max_leaves=15,
)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(json_trees)
def test_decoding_a_hostile_tree_gives_a_value_or_a_stash_error(tree: Any) -> None:
    from stashdbg_core.errors import StashError
    from stashdbg_core.values import decode_exception

    try:
        decode_value(tree, types=TYPES)
    except StashError as error:
        assert error.hint  # noqa: PT017
    decode_value(tree, on_unstorable="stand-in")
    assert isinstance(decode_exception(tree), BaseException)
