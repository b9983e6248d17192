"""The only writer to standard output and standard error.

Data goes to standard output, narration to standard error. Whatever is written here passes the sanitiser first, so no
command can let recorded text act on a terminal; colour is put around it afterwards, and only where a terminal wants it.
What the stream's encoding lacks is written as a backslash escape.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TextIO, TypeAlias

from stashdbg_core.sanitize import sanitize_line

Style: TypeAlias = Literal["bold", "dim", "error", "warning", "key", "string", "number", "literal", "channel"]

_SGR: dict[Style, str] = {
    "bold": "1",
    "dim": "2",
    "error": "1;31",
    "warning": "33",
    "key": "36",
    "string": "32",
    "number": "35",
    "literal": "1;35",
    "channel": "34",
}
_DEFAULT_WIDTH = 120
"""Columns assumed where nothing says how wide the reader is."""
_NARROWEST = 20


class OutputClosed(Exception):
    """Whoever read standard output went away; the command stops quietly."""


@dataclass(frozen=True, slots=True)
class Styled:
    """Text with a style, which counts only on a terminal."""

    text: str
    style: Style


Part: TypeAlias = str | Styled


def prepare() -> None:
    """Make the standard streams of this process safe to use; called once, before anything is opened or written.

    A closed descriptor 0, 1 or 2 is filled, or else the next file opened would become standard output.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def line(*parts: Part) -> None:
    """Write one line of data, its parts sanitised and joined.

    Raises:
        OutputClosed: Nobody reads any more.
    """
    lines([parts])


def lines(rows: Iterable[Sequence[Part]]) -> None:
    """Write lines of data as they come, each of its parts.

    Raises:
        OutputClosed: Nobody reads any more.
    """
    coloured = colour(sys.stdout)
    for parts in rows:
        text = "".join([part if isinstance(part, str) else part.text for part in parts])
        if coloured or not (text.isascii() and text.isprintable()):  # else there is nothing to make safe
            text = "".join([_rendered(part, coloured) for part in parts])
        _put(text + "\n")


def ascii_text(text: str) -> None:
    """Write text that is printable ASCII and line feeds already, such as JSON from ``json_text``.

    Raises:
        OutputClosed: Nobody reads any more.
    """
    _put(text)


def data(text: bytes) -> None:
    """Write a file's own JSON text as it is, except to a terminal: there as printable ASCII.

    Raises:
        OutputClosed: Nobody reads any more.
    """
    if is_terminal(sys.stdout) or not hasattr(sys.stdout, "buffer"):
        from stashdbg.cli.json_out import ascii_json

        _put(ascii_json(text))
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text)
    except BrokenPipeError:
        raise _closed() from None


def narrate(*parts: Part) -> None:
    """Write one line to standard error; a lost standard error is nobody's problem."""
    stream = sys.stderr
    if stream is None:
        return
    coloured = colour(stream)
    try:
        stream.write("".join(_rendered(part, coloured) for part in parts) + "\n")
        stream.flush()
    except (OSError, ValueError):
        _abandon(stream)


def complain(error: Mapping[str, str | None], *, as_json: bool = False) -> None:
    """Write what went wrong and what to do about it to standard error: its ``code``, ``message`` and ``hint``."""
    if as_json:
        from stashdbg.cli.json_out import json_text

        narrate(json_text({"error": dict(error)}))
    else:
        parts = [str(error["message"]).rstrip("."), error["hint"]]
        narrate(Styled("stashdbg: ", "error"), "; ".join(part for part in parts if part))


def status(text: str) -> None:
    """Write one line to standard error in place of the last such line; an empty one takes it away."""
    stream = sys.stderr
    if stream is None:
        return
    try:
        stream.write(f"\r\x1b[K{sanitize_line(text)}")
        stream.flush()
    except (OSError, ValueError):
        _abandon(stream)


def finish() -> None:
    """Write out what is still held back.

    Raises:
        OutputClosed: Nobody reads any more.
    """
    if sys.stdout is not None and not sys.stdout.closed:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            raise _closed() from None


def abandon_output() -> None:
    """Drop what is held back for standard output, so that the interpreter does not complain at exit."""
    if sys.stdout is not None:
        _abandon(sys.stdout)


def is_terminal(stream: TextIO | None) -> bool:
    """Tell whether a stream is a terminal; a closed or missing one is not."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def is_dumb() -> bool:
    """Tell whether the terminal says that it can neither colour nor move its cursor."""
    return os.environ.get("TERM", "") in ("", "dumb")


def colour(stream: TextIO | None) -> bool:
    """Tell whether colour is wanted on a stream."""
    return is_terminal(stream) and not is_dumb() and not os.environ.get("NO_COLOR")


def width() -> int:
    """Return how many columns a line of data may use."""
    spelled = os.environ.get("COLUMNS", "")
    if spelled.isascii() and spelled.isdecimal() and len(spelled) < 6 and int(spelled):
        return max(int(spelled), _NARROWEST)
    if is_terminal(sys.stdout):
        try:
            return max(os.get_terminal_size(sys.stdout.fileno()).columns, _NARROWEST)
        except (OSError, ValueError):
            return _DEFAULT_WIDTH
    return _DEFAULT_WIDTH


def _rendered(part: Part, coloured: bool) -> str:
    if isinstance(part, str):
        return sanitize_line(part)
    text = sanitize_line(part.text)
    return f"\x1b[{_SGR[part.style]}m{text}\x1b[0m" if coloured and text else text


def _put(text: str) -> None:
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        raise _closed() from None


def _closed() -> OutputClosed:
    abandon_output()
    return OutputClosed()


def _abandon(stream: TextIO) -> None:
    """Point a stream's descriptor at nothing: what its buffer holds can then be flushed at exit without an error."""
    try:
        descriptor = stream.fileno()
        nothing = os.open(os.devnull, os.O_WRONLY)
    except (OSError, ValueError):
        return
    os.dup2(nothing, descriptor)
    os.close(nothing)
