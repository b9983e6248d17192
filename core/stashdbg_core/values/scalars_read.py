"""Values without parts: how each tag is read.

Reading a malformed tag raises one of ``MALFORMED``; the caller then takes it for a program's own dict.
"""

from __future__ import annotations

import base64
import datetime as dt
import pathlib
import re
from collections.abc import Callable
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import not_found
from stashdbg_core.sanitize import shorten
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
from stashdbg_core.values.scalars import IP_CLASSES, Tag

MALFORMED = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError)


def _text(tag: Tag, key: str = "value") -> str:
    text = tag[key]
    if type(text) is dict:
        text = _decode_str(text)
    if type(text) is not str:
        raise TypeError(key)
    return text


def _decode_str(tag: Tag) -> str:
    if tag[TAG] != STR or type(tag["parts"]) is not list:
        raise ValueError("parts")
    return "".join(tag["parts"])


def _whole(tag: Tag, key: str) -> int:
    number = tag[key]
    if type(number) is dict:
        number = _decode_int(number)
    if type(number) is not int:
        raise TypeError(key)
    return number


def _decode_int(tag: Tag) -> int:
    if tag[TAG] != INT or not re.fullmatch("-?[0-9a-f]+", _text(tag, "hex")):
        raise ValueError("hex")
    return int(tag["hex"], 16)


def _decode_float(tag: Json) -> float:
    if type(tag) in (float, int):
        return float(tag)
    return {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}[tag["value"]]


def _decode_bytes(tag: Tag) -> bytes:
    return base64.b64decode(_text(tag, "base64"), validate=True)


def _zone(key: str) -> dt.tzinfo:
    if not re.fullmatch(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*", key):
        raise ValueError("zone")
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(key)
    except (LookupError, ValueError, OSError):
        raise not_found(
            f"the recorded time zone {shorten(key, 60)} is not known on this machine",
            hint="install the time zone database, for instance with `pip install tzdata`",
        ) from None


def _decode_moment(cls: Any) -> Callable[[Tag], Any]:
    def decode(tag: Tag) -> Any:
        value = cls.fromisoformat(_text(tag))
        if "zone" in tag:
            value = value.replace(tzinfo=_zone(_text(tag, "zone")))
        elif "name" in tag:
            value = value.replace(tzinfo=dt.timezone(value.tzinfo.utcoffset(None), _text(tag, "name")))
        return value.replace(fold=1) if tag.get("fold") == 1 else value

    return decode


def _decode_timezone(tag: Tag) -> dt.timezone:
    offset = dt.timedelta(seconds=_whole(tag, "seconds"), microseconds=_whole(tag, "microseconds"))
    return dt.timezone(offset, _text(tag, "name")) if "name" in tag else dt.timezone(offset)


def _decode_decimal(tag: Tag) -> Any:
    import decimal

    return decimal.Decimal(_text(tag))


def _decode_fraction(tag: Tag) -> Any:
    import fractions

    return fractions.Fraction(_whole(tag, "numerator"), _whole(tag, "denominator"))


def _decode_uuid(tag: Tag) -> Any:
    import uuid

    return uuid.UUID(_text(tag))


def _decode_path(tag: Tag) -> pathlib.PurePath:
    windows = {"PosixPath": False, "PurePosixPath": False, "WindowsPath": True, "PureWindowsPath": True}[tag["class"]]
    flavour = pathlib.PureWindowsPath if windows else pathlib.PurePosixPath
    here = type(pathlib.Path())
    # A path of the other system cannot be made here; its pure form is the nearest.
    return (here if tag["class"] == here.__name__ else flavour)(_text(tag))


def _decode_ip(tag: Tag) -> Any:
    import ipaddress

    if tag["class"] not in IP_CLASSES:
        raise ValueError("class")
    return getattr(ipaddress, tag["class"])(_text(tag))


DECODERS: dict[str, Callable[[Tag], Any]] = {
    STR: _decode_str,
    INT: _decode_int,
    FLOAT: _decode_float,
    BYTES: _decode_bytes,
    BYTEARRAY: lambda tag: bytearray(_decode_bytes(tag)),
    MEMORYVIEW: lambda tag: memoryview(_decode_bytes(tag)),
    COMPLEX: lambda tag: complex(_decode_float(tag["real"]), _decode_float(tag["imag"])),
    RANGE: lambda tag: range(_whole(tag, "start"), _whole(tag, "stop"), _whole(tag, "step")),
    ELLIPSIS: lambda tag: ...,
    DATETIME: _decode_moment(dt.datetime),
    TIME: _decode_moment(dt.time),
    DATE: lambda tag: dt.date.fromisoformat(_text(tag)),
    TIMEDELTA: lambda tag: dt.timedelta(_whole(tag, "days"), _whole(tag, "seconds"), _whole(tag, "microseconds")),
    TIMEZONE: _decode_timezone,
    ZONE: lambda tag: _zone(_text(tag, "zone")),
    DECIMAL: _decode_decimal,
    FRACTION: _decode_fraction,
    UUID: _decode_uuid,
    PATH: _decode_path,
    IP: _decode_ip,
}
"""By tag."""
