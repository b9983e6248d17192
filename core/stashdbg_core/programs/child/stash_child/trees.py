"""Python values to trees of JSON types and back, as ``docs/format.md`` has them: what a child needs of it.

A tree shares nothing with the value it was made from. What has no stored form becomes a stand-in that says so. Modules
are not imported to write a value: a type that the program has not loaded cannot occur.
"""

from __future__ import annotations

import binascii

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

TAG = "$stash"
_DEEPEST = 150
_HUGE = 10**4300
_MOST_SHOWN = 4000


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()
"""No value at all, which is not None."""


def plain(value: Any) -> Any:
    """Return the tree of any value; never raises for the value's sake."""
    try:
        return _plain(value, 0)
    except Exception as error:  # noqa: BLE001 - recording a value must not hurt the program
        return unstorable(value, "reading it raised %s" % type(error).__name__)


def unstorable(value: Any, reason: str, shown: Any = None) -> dict[str, Any]:
    """Return the stand-in for a value that is not stored."""
    tree = {TAG: "unstorable", "class": class_name(type(value)), "reason": reason}
    if shown is not None:
        tree["shown"] = shown
    return tree


def class_name(cls: type) -> str:
    """Return ``module:Qualname`` of a class."""
    return "%s:%s" % (cls.__module__, cls.__qualname__)


def text_or_bytes(data: bytes | bytearray | memoryview) -> Any:
    """Return the tree of bytes that are read as text where they are UTF-8; ``bytes_of`` is the inverse."""
    data = bytes(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {TAG: "bytes", "base64": _base64(data)}


def bytes_of(tree: Any) -> bytes:
    """Return the bytes of a tree that ``text_or_bytes`` made."""
    if isinstance(tree, str):
        return tree.encode("utf-8", "surrogatepass")
    found = untree(tree)
    return bytes(found) if isinstance(found, (bytes, bytearray)) else b""


def _plain(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return _text(value) if kind is str else value
    if kind is int:
        return value if -_HUGE < value < _HUGE else {TAG: "int", "hex": format(value, "x")}
    if kind is float:
        return _float(value)
    if depth > _DEEPEST:
        return unstorable(value, "it is nested deeper than %d levels" % _DEEPEST)
    if kind is list:
        return [_plain(part, depth + 1) for part in value]
    if kind is dict:
        return _dict(value, depth)
    write = _WRITERS.get("%s:%s" % (kind.__module__, kind.__qualname__))
    if write is not None:
        return write(value, depth)
    if isinstance(value, BaseException):
        from .errors import error_tree

        return error_tree(value, depth + 1)
    return unstorable(value, "no stored form is known for this type", _shown(value, depth))


def _text(value: str) -> Any:
    if value.isascii():
        return value
    try:
        value.encode("utf-8")
        return value
    except UnicodeEncodeError:
        joined = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        if joined == value:
            return value
    parts, start = [], 0
    for at in range(1, len(value)):
        if "\ud800" <= value[at - 1] <= "\udbff" and "\udc00" <= value[at] <= "\udfff":
            parts.append(value[start:at])
            start = at
    return {TAG: "str", "parts": [*parts, value[start:]]}


def _float(value: float) -> Any:
    if value - value == 0.0:
        return value
    return {TAG: "float", "value": "nan" if value != value else "inf" if value > 0 else "-inf"}


def _dict(value: dict[Any, Any], depth: int) -> Any:
    if TAG not in value and all(type(key) is str and type(_text(key)) is str for key in value):
        return {key: _plain(part, depth + 1) for key, part in value.items()}
    return {TAG: "dict", "items": _pairs(value, depth)}


def _pairs(value: dict[Any, Any], depth: int) -> list[list[Any]]:
    return [[_plain(key, depth + 1), _plain(part, depth + 1)] for key, part in value.items()]


def _items(value: Any, depth: int) -> list[Any]:
    return [_plain(part, depth + 1) for part in value]


def _sorted(value: Any, depth: int) -> list[Any]:
    import json

    def order(tree: Any) -> bytes:
        text = json.dumps(tree, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return text.encode("utf-8", "surrogatepass")

    return sorted(_items(value, depth), key=order)


def _base64(value: Any) -> str:
    return binascii.b2a_base64(bytes(value), newline=False).decode("ascii")


def _moment(name: str) -> Callable[[Any, int], Any]:
    def write(value: Any, depth: int) -> Any:
        zone = value.tzinfo
        tree = {TAG: name, "value": value.replace(tzinfo=None).isoformat()}
        if zone is not None:
            kind = class_name(type(zone))
            if kind == "datetime:timezone":
                tree["value"] = value.isoformat()
                named = zone.tzname(None)
                if named != type(zone)(zone.utcoffset(None)).tzname(None):
                    tree["name"] = named
            elif kind in ("zoneinfo:ZoneInfo", "zoneinfo._zoneinfo:ZoneInfo") and zone.key:
                tree["zone"] = zone.key
            else:
                return unstorable(value, "its time zone is neither a fixed offset nor a ZoneInfo", value.isoformat())
        if value.fold:
            tree["fold"] = 1
        return tree

    return write


def _timezone(value: Any, depth: int) -> Any:
    offset = value.utcoffset(None)
    tree = {TAG: "timezone", "seconds": offset.days * 86_400 + offset.seconds, "microseconds": offset.microseconds}
    if value.tzname(None) != type(value)(offset).tzname(None):
        tree["name"] = value.tzname(None)
    return tree


def _path(value: Any, depth: int) -> Any:
    return {TAG: "path", "class": type(value).__name__, "value": str(value)}


_WRITERS: dict[str, Callable[[Any, int], Any]] = {
    "builtins:bytes": lambda value, depth: {TAG: "bytes", "base64": _base64(value)},
    "builtins:bytearray": lambda value, depth: {TAG: "bytearray", "base64": _base64(value)},
    "builtins:memoryview": lambda value, depth: {TAG: "memoryview", "base64": _base64(value)},
    "builtins:complex": lambda value, depth: {TAG: "complex", "real": _float(value.real), "imag": _float(value.imag)},
    "builtins:tuple": lambda value, depth: {TAG: "tuple", "items": _items(value, depth)},
    "builtins:set": lambda value, depth: {TAG: "set", "items": _sorted(value, depth)},
    "builtins:frozenset": lambda value, depth: {TAG: "frozenset", "items": _sorted(value, depth)},
    "builtins:ellipsis": lambda value, depth: {TAG: "ellipsis"},
    "collections:OrderedDict": lambda value, depth: {TAG: "ordereddict", "items": _pairs(value, depth)},
    "datetime:datetime": _moment("datetime"),
    "datetime:time": _moment("time"),
    "datetime:date": lambda value, depth: {TAG: "date", "value": value.isoformat()},
    "datetime:timedelta": lambda value, depth: {
        TAG: "timedelta",
        "days": value.days,
        "seconds": value.seconds,
        "microseconds": value.microseconds,
    },
    "datetime:timezone": _timezone,
    "decimal:Decimal": lambda value, depth: {TAG: "decimal", "value": str(value)},
    "fractions:Fraction": lambda value, depth: {
        TAG: "fraction",
        "numerator": value.numerator,
        "denominator": value.denominator,
    },
    "uuid:UUID": lambda value, depth: {TAG: "uuid", "value": str(value)},
    **{
        "%s:%s" % (module, name): _path
        for module in ("pathlib", "pathlib._local")
        for name in ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath")
    },
}


def _shown(value: Any, depth: int) -> Any:
    """Return what a value of a class that is not known holds, without addresses, which differ in every run."""
    bases: tuple[Any, ...] = (str, bytes, int, float, list, tuple, dict)
    for base in bases:
        if isinstance(value, base):
            return _plain(base(value), depth + 1)
    held = getattr(value, "__dict__", None)
    if isinstance(held, dict) and held and not callable(value):
        return _plain({key: part for key, part in held.items() if not key.startswith("_")}, depth + 1)
    return None


def untree(tree: Any) -> Any:
    """Return the value of a tree, for the tags that a child knows; any other is the object it is."""
    if isinstance(tree, list):
        return [untree(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    read = _READERS.get(tree.get(TAG, ""))
    if read is not None:
        try:
            return read(tree)
        except (KeyError, TypeError, ValueError, AttributeError):  # it lacks what the tag needs
            pass
    return {key: untree(part) for key, part in tree.items()}


def _moments(name: str) -> Callable[[dict[str, Any]], Any]:
    def read(tree: dict[str, Any]) -> Any:
        import datetime as dt

        value = getattr(dt, name).fromisoformat(tree["value"])
        if "zone" in tree:
            import zoneinfo

            value = value.replace(tzinfo=zoneinfo.ZoneInfo(tree["zone"]))
        elif "name" in tree:
            value = value.replace(tzinfo=dt.timezone(value.utcoffset(), tree["name"]))
        return value.replace(fold=1) if tree.get("fold") == 1 else value

    return read


def _from_module(module: str, name: str, *keys: str) -> Callable[[dict[str, Any]], Any]:
    def read(tree: dict[str, Any]) -> Any:
        import importlib

        return getattr(importlib.import_module(module), name)(*[tree[key] for key in keys])

    return read


def _read_timezone(tree: dict[str, Any]) -> Any:
    import datetime as dt

    offset = dt.timedelta(0, tree["seconds"], tree["microseconds"])
    return dt.timezone(offset, tree["name"]) if "name" in tree else dt.timezone(offset)


def _read_path(tree: dict[str, Any]) -> Any:
    import pathlib

    cls = getattr(pathlib, tree["class"])
    try:
        return cls(tree["value"])
    except NotImplementedError:  # a path of the other system
        return getattr(pathlib, "Pure" + tree["class"])(tree["value"])


def _read_exception(tree: dict[str, Any]) -> Any:
    from .errors import rebuild_error

    return rebuild_error(tree)


def _read_pairs(tree: dict[str, Any]) -> list[tuple[Any, Any]]:
    return [(untree(key), untree(part)) for key, part in tree["items"]]


_READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "str": lambda tree: "".join(tree["parts"]),
    "int": lambda tree: int(tree["hex"], 16),
    "float": lambda tree: float(tree["value"]),
    "complex": lambda tree: complex(untree(tree["real"]), untree(tree["imag"])),
    "bytes": lambda tree: binascii.a2b_base64(tree["base64"]),
    "bytearray": lambda tree: bytearray(binascii.a2b_base64(tree["base64"])),
    "memoryview": lambda tree: memoryview(binascii.a2b_base64(tree["base64"])),
    "tuple": lambda tree: tuple(untree(tree["items"])),
    "set": lambda tree: set(untree(tree["items"])),
    "frozenset": lambda tree: frozenset(untree(tree["items"])),
    "dict": lambda tree: dict(_read_pairs(tree)),
    "ordereddict": lambda tree: __import__("collections").OrderedDict(_read_pairs(tree)),
    "ellipsis": lambda tree: ...,
    "datetime": _moments("datetime"),
    "time": _moments("time"),
    "date": lambda tree: __import__("datetime").date.fromisoformat(tree["value"]),
    "timedelta": _from_module("datetime", "timedelta", "days", "seconds", "microseconds"),
    "timezone": _read_timezone,
    "decimal": _from_module("decimal", "Decimal", "value"),
    "fraction": _from_module("fractions", "Fraction", "numerator", "denominator"),
    "uuid": _from_module("uuid", "UUID", "value"),
    "path": _read_path,
    "exception": _read_exception,
}
