"""Values without parts, by exact type: how each is written as a tag."""

from __future__ import annotations

import base64
import datetime as dt
import pathlib
import re
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

from stashdbg_core.canonical import Json, SpelledNumber
from stashdbg_core.tags import (
    BYTEARRAY,
    BYTES,
    COMPLEX,
    DATE,
    DATETIME,
    DECIMAL,
    ELLIPSIS,
    FLOAT,
    FRACTION,
    INT,
    IP,
    MEMORYVIEW,
    PATH,
    RANGE,
    STR,
    TAG,
    TIME,
    TIMEDELTA,
    TIMEZONE,
    UUID,
    ZONE,
)
from stashdbg_core.values.names import loaded_class
from stashdbg_core.values.plain import HUGE

Tag: TypeAlias = dict[str, Any]
_PAIR = re.compile("(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")


class NotStorable(Exception):
    """This value has no stored form.

    Args:
        reason: Why, as an English clause.
        shown: A tree of what it holds, for people; None if nothing is shown.
    """

    def __init__(self, reason: str, shown: Json = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.shown = shown


def _float(value: float) -> Json:
    if value - value == 0.0:
        return value
    return {TAG: FLOAT, "value": "nan" if value != value else "inf" if value > 0 else "-inf"}


def _str(value: str) -> Json:
    if value.isascii() or _is_spelled(value):
        return value
    return {TAG: STR, "parts": _PAIR.split(value)}


def _is_spelled(text: str) -> bool:
    """Tell whether JSON can hold a text: not if reading its escapes would make one character of two surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _PAIR.search(text) is None
    return True


def _int(value: int) -> Json:
    return value if -HUGE < value < HUGE else {TAG: INT, "hex": format(value, "x")}


def _base64(data: Any) -> str:
    return base64.b64encode(data).decode("ascii")


def _memoryview(value: memoryview) -> Json:
    if value.format != "B" or value.ndim != 1:
        raise NotStorable("only a memoryview of unsigned bytes in one dimension is stored")
    return {TAG: MEMORYVIEW, "base64": _base64(value.tobytes())}


def _moment(name: str) -> Callable[[Any], Json]:
    def encode(value: Any) -> Json:
        tag: Tag = {TAG: name, "value": value.replace(tzinfo=None).isoformat()}
        zone = value.tzinfo
        if type(zone) is dt.timezone:
            tag["value"] = value.isoformat()
            named = zone.tzname(None)
            if named != dt.timezone(zone.utcoffset(None)).tzname(None):
                tag["name"] = named
        elif zone is not None:
            tag["zone"] = _zone_key(zone)
        if value.fold:
            tag["fold"] = 1
        return tag

    return encode


def _zone_key(zone: Any) -> str:
    zoneinfo = sys.modules.get("zoneinfo")
    if zoneinfo is None or type(zone) is not zoneinfo.ZoneInfo:
        raise NotStorable("its time zone is neither a fixed offset nor a ZoneInfo")
    key = zone.key
    if type(key) is not str:
        raise NotStorable("its time zone has no name")
    return key


def _timezone(value: dt.timezone) -> Json:
    offset = value.utcoffset(None)
    tag: Tag = {TAG: TIMEZONE, "seconds": offset.days * 86_400 + offset.seconds, "microseconds": offset.microseconds}
    if value.tzname(None) != dt.timezone(offset).tzname(None):
        tag["name"] = value.tzname(None)
    return tag


ENCODERS: dict[type, Callable[[Any], Json]] = {
    str: _str,
    bool: lambda value: value,
    type(None): lambda value: value,
    int: _int,
    float: _float,
    SpelledNumber: lambda value: value,
    bytes: lambda value: {TAG: BYTES, "base64": _base64(value)},
    bytearray: lambda value: {TAG: BYTEARRAY, "base64": _base64(value)},
    memoryview: _memoryview,
    complex: lambda value: {TAG: COMPLEX, "real": _float(value.real), "imag": _float(value.imag)},
    range: lambda value: {TAG: RANGE, "start": _int(value.start), "stop": _int(value.stop), "step": _int(value.step)},
    type(Ellipsis): lambda _: {TAG: ELLIPSIS},
    dt.datetime: _moment(DATETIME),
    dt.time: _moment(TIME),
    dt.date: lambda value: {TAG: DATE, "value": value.isoformat()},
    dt.timedelta: lambda value: {
        TAG: TIMEDELTA,
        "days": value.days,
        "seconds": value.seconds,
        "microseconds": value.microseconds,
    },
    dt.timezone: _timezone,
}
for _path in (pathlib.PosixPath, pathlib.WindowsPath, pathlib.PurePosixPath, pathlib.PureWindowsPath):
    ENCODERS[_path] = lambda value: {TAG: PATH, "class": type(value).__name__, "value": _str(str(value))}

# Types of modules that are loaded only if the program uses them.
_BY_NAME: dict[str, Callable[[Any], Json]] = {
    "decimal:Decimal": lambda value: {TAG: DECIMAL, "value": str(value)},
    "fractions:Fraction": lambda value: {
        TAG: FRACTION,
        "numerator": _int(value.numerator),
        "denominator": _int(value.denominator),
    },
    "uuid:UUID": lambda value: {TAG: UUID, "value": str(value)},
    "zoneinfo:ZoneInfo": lambda value: {TAG: ZONE, "zone": _zone_key(value)},
}
IP_CLASSES = frozenset(f"IPv{v}{kind}" for v in "46" for kind in ("Address", "Network", "Interface"))
for _name in IP_CLASSES:
    _BY_NAME[f"ipaddress:{_name}"] = lambda value: {TAG: IP, "class": type(value).__name__, "value": str(value)}


def is_json_key(key: object) -> bool:
    """Tell whether a dict's key may stand as it is in a JSON object."""
    return type(key) is str and (key.isascii() or _is_spelled(key))


def encoder_for(cls: type, name: str) -> Callable[[Any], Json] | None:
    """Return what encodes instances of exactly this class, if it is one without parts."""
    found = ENCODERS.get(cls)
    if found is None and name in _BY_NAME and loaded_class(name) is cls:
        found = _BY_NAME[name]
    return found
