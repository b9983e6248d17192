"""What the program reads from its standard input: recorded as it came, and served on replay.

Below ``sys.stdin`` stands a raw stream that records what each read of descriptor 0 gave, whatever the program reads
with. A line typed at a terminal goes past it, through the terminal's own editing; so ``input()`` there is recorded as
the line it returned. Code that reads descriptor 0 itself is not seen.
"""

from __future__ import annotations

import builtins
import io
import os
import sys

from . import calls
from .trees import bytes_of, text_or_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STDIN = "stdin"
_PART = 1 << 16
_input = builtins.input
_kept: list[Any] = []


class RecordedInput(io.RawIOBase):
    """The bytes of descriptor 0.

    Args:
        raw: The stream that really reads.
    """

    name = "<stdin>"
    mode = "rb"
    closefd = False

    def __init__(self, raw: Any) -> None:
        super().__init__()
        self._raw = raw

    def readinto(self, buffer: Any) -> int | None:
        """Fill the buffer with what comes next."""
        if calls.inside():
            return self._raw.readinto(buffer)  # type: ignore[no-any-return]
        size = min(len(buffer), _PART)

        def read() -> Any:
            data = self._raw.read(size)
            return None if data is None else text_or_bytes(data)

        given = calls.value(STDIN, "read", lambda: read_tree(read))
        if given is None:
            return None
        data = given if isinstance(given, bytes) else bytes_of(given)
        buffer[: len(data)] = data
        return len(data)

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that there is no way back, even if it is a file: what was read was recorded."""
        return False

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._raw.fileno()  # type: ignore[no-any-return]

    def isatty(self) -> bool:
        """Tell whether a terminal is behind it."""
        return self._raw.isatty()  # type: ignore[no-any-return]

    def close(self) -> None:
        """Close it."""
        if not self.closed:
            self._raw.close()
        super().close()


def read_tree(read: Any) -> Any:
    """Return what was read as text if it is UTF-8, which people can read, and as bytes otherwise."""
    tree = read()
    return tree if tree is None or isinstance(tree, str) else bytes_of(tree)


def install() -> None:
    """Lay the hooks."""
    stream = sys.stdin
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    if raw is None or raw.fileno() != 0:
        return
    buffered = io.BufferedReader(RecordedInput(raw))
    replacement = io.TextIOWrapper(buffered, encoding=stream.encoding, errors=stream.errors)
    replacement.mode = "r"  # type: ignore[misc]
    _kept.append(stream)  # closing it would close descriptor 0
    sys.stdin = sys.__stdin__ = replacement  # type: ignore[misc]
    builtins.input = _recorded_input
    _kept.append(replacement)


def _recorded_input(prompt: object = "", /) -> str:
    """Read a string from standard input, without its line feed, after writing the prompt to standard output."""
    if calls.inside() or sys.stdin is not _kept[1]:
        return _input(prompt)
    typed = os.isatty(0) and os.isatty(1)
    if calls.mode() != "record":
        try:
            line = calls.recorded_value(STDIN, "input", soft=True)
        except EOFError:
            _write(prompt)
            raise
        if line is not calls.ABSENT:
            _write(prompt)
            return str(line)
        if calls.mode() == "replay":
            return _read_without_terminal(prompt)
    if not typed:
        return _input(prompt)  # which reads sys.stdin
    return calls.value(STDIN, "input", lambda: _input(prompt), soft=True)  # type: ignore[no-any-return]


def _read_without_terminal(prompt: object) -> str:
    _write(prompt)
    line = sys.stdin.readline()
    if not line:
        raise EOFError("EOF when reading a line")
    return line[:-1] if line.endswith("\n") else line


def _write(prompt: object) -> None:
    stream = sys.stdout
    stream.flush()
    text = str(prompt)
    if text:
        stream.write(text)
        stream.flush()
