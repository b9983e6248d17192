"""Counts, sizes, durations and moments in words for people."""

from __future__ import annotations

from datetime import UTC, datetime


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it should be."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size_words(size: int) -> str:
    """Return a number of bytes for people: ``512 B``, ``1.2 kB``, ``30 MB``."""
    if size < 1000:
        return f"{size} B"
    amount = float(size)
    for unit in ("kB", "MB", "GB"):
        amount /= 1000
        if amount < 999.5 or unit == "GB":
            break
    return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.1f} {unit}"


def duration_words(ms: float) -> str:
    """Return a duration for people: ``0.3 ms``, ``85 ms``, ``1.2 s``, ``2 m 05 s``, ``3 h 04 m``."""
    if ms != ms or ms < 0:
        return "?"
    if ms < 10:
        return f"{ms:.1f} ms"
    if ms < 1000:
        return f"{ms:.0f} ms"
    seconds = ms / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} m {int(seconds % 60):02d} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60):02d} m" if seconds < 1e9 else "?"


def offset_words(ms: float) -> str:
    """Return the time since the run began for people: ``+00:12.4``, ``+1:02:03.0``; a minus where clocks went back."""
    if ms != ms or abs(ms) > 1e14:
        return "+?"
    sign, tenths = ("-", round(-ms / 100)) if ms < 0 else ("+", round(ms / 100))
    minutes, tenths = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{f'{hours}:' if hours else ''}{minutes:02d}:{tenths // 10:02d}.{tenths % 10}"


def minute_words(seconds: float) -> str:
    """Return a moment in seconds since the epoch as the local time, to the minute; empty if no calendar holds it."""
    try:
        return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return ""


def moment_words(at: float) -> str:
    """Return a moment in milliseconds since the epoch as UTC: ``2026-11-30 10:15:18.123 UTC``."""
    try:
        moment = datetime.fromtimestamp(at / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{at!r} ms since 1970, which no calendar holds"
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d} UTC"
