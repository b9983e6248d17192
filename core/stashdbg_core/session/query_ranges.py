"""Numbers, durations and moments as a query writes them: one, a range, or a bound."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

_BOUND = re.compile(r"(>=|<=|>|<)(.+)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d{1,18}(?:\.\d{1,18})?")
_DURATION = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)(ms|s|m|h|)")
_CLOCK = re.compile(r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2}(?:\.\d{1,6})?)")
_UNITS = {"": 1.0, "ms": 1.0, "s": 1000.0, "m": 60_000.0, "h": 3_600_000.0}

Reader = Callable[[str], tuple[float, float]]
"""Reads one value and returns the first and last instant or number that it covers; ValueError if it is none."""


def read_range(text: str, read: Reader) -> tuple[float, float]:
    """Return the lowest and highest number that fits.

    Raises:
        ValueError: It is no number of this kind.
    """
    bound = _BOUND.fullmatch(text)
    if bound:
        sign, (low, high) = bound.group(1), read(bound.group(2))
        return {
            ">": (math.nextafter(high, math.inf), math.inf),
            ">=": (low, math.inf),
            "<": (-math.inf, math.nextafter(low, -math.inf)),
            "<=": (-math.inf, high),
        }[sign]
    try:
        return read(text)
    except ValueError:
        for place in [at for at, character in enumerate(text) if character == "-"][1:] or [text.find("-")]:
            if 0 < place < len(text) - 1:
                try:
                    return read(text[:place])[0], read(text[place + 1 :])[1]
                except ValueError:
                    continue
        first, dots, second = text.partition("..")
        if dots:
            return read(first)[0], read(second)[1]
        raise


def number(text: str) -> tuple[float, float]:
    """Read a number."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    value = float(text)
    return value, value


def duration(text: str) -> tuple[float, float]:
    """Read a duration in milliseconds: ``250``, ``1.5s``, ``2m``."""
    found = _DURATION.fullmatch(text)
    if not found:
        raise ValueError(text)
    value = float(found.group(1)) * _UNITS[found.group(2)]
    return value, value


def moment(began: float | None) -> Reader:
    """Return a reader of moments in milliseconds since the epoch; ``+2s`` and ``+01:30`` count from ``began``."""

    def read(text: str) -> tuple[float, float]:
        if text.startswith("+"):
            if began is None:
                raise ValueError(text)
            return began + _offset(text[1:]), began + _offset(text[1:])
        if text.isascii() and text.isdigit() and 9 <= len(text) <= 15:
            return float(text), float(text)
        start = datetime.fromisoformat(text)
        start = start.replace(tzinfo=UTC) if start.tzinfo is None else start
        clock = text[10:]
        covers = timedelta(days=1) if not clock else timedelta(minutes=1) if clock.count(":") == 1 else timedelta(0)
        low = start.timestamp() * 1000
        return low, low + max(covers / timedelta(milliseconds=1) - 1, 0)

    return read


def _offset(text: str) -> float:
    clock = _CLOCK.fullmatch(text)
    if clock:
        hours, minutes, seconds = clock.groups()
        return int(hours or 0) * 3_600_000.0 + int(minutes) * 60_000.0 + float(seconds) * 1000
    return duration(text)[0]


def reader(takes: str, began: float | None) -> Reader:
    """Return what reads the values of an operator that takes a ``number``, ``duration`` or ``moment``."""
    return {"number": number, "duration": duration}.get(takes) or moment(began)
