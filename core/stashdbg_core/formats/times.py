"""Times as the formats write them, in milliseconds since the epoch."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_NUMBER = re.compile(r"-?\d{1,25}(\.\d{1,12})?")
_SECONDS, _MILLISECONDS, _MICROSECONDS = 1e11, 1e14, 1e17
"""Below each of these a number counts in that unit; from the last on, in nanoseconds."""


def epoch_ms(value: object) -> float | None:
    """Return a time in milliseconds since the epoch, to the microsecond; None for what is no time.

    Args:
        value: ISO 8601 text (without a zone it counts as UTC), or a number, or its text: seconds, milliseconds,
            microseconds or nanoseconds since the epoch, told apart by size.
    """
    if isinstance(value, str):
        text = value.strip()
        if _NUMBER.fullmatch(text):
            return _scaled(float(text))
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        since = moment - _EPOCH
        return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds / 1000
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _scaled(float(value)) if -1e25 < value < 1e25 else None


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _scaled(number: float) -> float:
    size = abs(number)
    if size < _SECONDS:
        number *= 1000
    elif size >= _MICROSECONDS:
        number /= 1e6
    elif size >= _MILLISECONDS:
        number /= 1000
    return round(number, 3)
