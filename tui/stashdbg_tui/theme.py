"""The colours: one dark and one light theme, and the variables every other theme gets.

Style sheets use tokens only. Meaning never rests on colour: marks have a glyph and a word as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.theme import Theme

DARK = Theme(
    name="stash-dark",
    primary="#7aa2f7",
    secondary="#7dcfff",
    accent="#e0af68",
    warning="#e0af68",
    error="#f7768e",
    success="#9ece6a",
    foreground="#c8d0e8",
    background="#14161f",
    surface="#191c27",
    panel="#232736",
    dark=True,
    variables={
        "cursor-row": "#2e3854",
        "cursor-row-blurred": "#222838",
        "found": "#e0af68",
        "found-text": "#14161f",
        "muted": "#858eb2",
        "rule": "#2c3146",
        "json-key": "#7dcfff",
        "json-string": "#a9d18a",
        "json-number": "#ff9e64",
        "json-literal": "#bb9af7",
        "channel-1": "#7aa2f7",
        "channel-2": "#9ece6a",
        "channel-3": "#bb9af7",
        "channel-4": "#858eb2",
        "channel-5": "#e0af68",
        "channel-6": "#73daca",
        "footer-key-foreground": "#e0af68",
        "input-selection-background": "#7aa2f7 30%",
        "block-cursor-text-style": "none",
    },
)

LIGHT = Theme(
    name="stash-light",
    primary="#2e5fc7",
    secondary="#0b6b8b",
    accent="#9a5b00",
    warning="#9a5b00",
    error="#c2274b",
    success="#3d7a1f",
    foreground="#2a2f45",
    background="#fbfaf7",
    surface="#f4f2ec",
    panel="#e8e5dc",
    dark=False,
    variables={
        "cursor-row": "#d3def7",
        "cursor-row-blurred": "#e6e9f0",
        "found": "#ffdf8e",
        "found-text": "#2a2f45",
        "muted": "#5d6275",
        "rule": "#d9d5c9",
        "json-key": "#0b6b8b",
        "json-string": "#3d7a1f",
        "json-number": "#b0500a",
        "json-literal": "#7a3fb8",
        "channel-1": "#2e5fc7",
        "channel-2": "#3d7a1f",
        "channel-3": "#7a3fb8",
        "channel-4": "#5d6275",
        "channel-5": "#9a5b00",
        "channel-6": "#0b7d70",
        "footer-key-foreground": "#9a5b00",
        "input-selection-background": "#2e5fc7 25%",
        "block-cursor-text-style": "none",
    },
)

FALLBACK = {
    "cursor-row": "$primary 30%",
    "cursor-row-blurred": "$foreground 10%",
    "found": "$warning",
    "found-text": "$background",
    "muted": "$foreground 60%",
    "rule": "$foreground 20%",
    "json-key": "$secondary",
    "json-string": "$success",
    "json-number": "$warning",
    "json-literal": "$accent",
    "channel-1": "$primary",
    "channel-2": "$success",
    "channel-3": "$accent",
    "channel-4": "$foreground 60%",
    "channel-5": "$warning",
    "channel-6": "$secondary",
}
"""What themes that do not know our variables get."""

ANSI = {
    "cursor-row": "ansi_default",
    "cursor-row-blurred": "ansi_default",
    "found": "ansi_default",
    "found-text": "ansi_default",
    "muted": "ansi_bright_black",
    "rule": "ansi_bright_black",
    "json-key": "ansi_cyan",
    "json-string": "ansi_green",
    "json-number": "ansi_yellow",
    "json-literal": "ansi_magenta",
    "channel-1": "ansi_blue",
    "channel-2": "ansi_green",
    "channel-3": "ansi_magenta",
    "channel-4": "ansi_bright_black",
    "channel-5": "ansi_yellow",
    "channel-6": "ansi_cyan",
}
"""The same for themes that leave colours to the terminal."""

_CHANNELS = {"llm": 1, "model": 1, "chat": 1, "tool": 2, "mcp": 3, "clock": 4, "random": 4, "http": 6, "subprocess": 5}
_GLYPHS = {1: "◆", 2: "▪", 3: "◇", 4: "·", 5: "▸", 6: "○"}


def channel_colour(channel: str) -> int:
    """Return the number of a channel's colour, 1 to 6; a channel of the program's own always gets the same."""
    known = _CHANNELS.get(channel)
    return known if known is not None else (5, 6, 3)[sum(channel.encode("utf-8", "replace")[:32]) % 3]


def channel_glyph(channel: str) -> str:
    """Return the sign that stands for a channel beside its colour."""
    return _GLYPHS[channel_colour(channel)]


_SIGNS = {"bookmark": "*", "note": "✎", "breakpoint": "●", "watch": "Δ"}
_SHORT = {"bookmark": "book", "note": "note", "breakpoint": "break", "watch": "watch"}


def sign(name: str) -> str:
    """Return the sign of a mark."""
    return _SIGNS[name]


def mark_words(names: Sequence[str], room: int, most: int) -> str:
    """Return the marks of an event in words: in full in ``room`` cells, else shortened or counted in ``most``.

    A single one has its sign before the row, and needs no word.
    """
    if len(names) < 2:
        return ""
    full, short = " ".join(names), " ".join(_SHORT[name] for name in names)
    if len(full) <= room:
        return full
    return next((words for words in (short, f"{len(names)} marks") if len(words) <= most), "")
