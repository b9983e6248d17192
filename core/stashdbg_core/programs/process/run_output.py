"""The last lines that a program wrote, for a pane: bounded, decoded as they come, safe to ask for from any thread."""

from __future__ import annotations

import codecs
import threading
from collections import deque
from dataclasses import dataclass
from typing import Literal

_LINES = 1000
_LONGEST = 2000
"""Characters that are kept of a line."""
Stream = Literal["stdout", "stderr", "note"]


@dataclass(frozen=True, slots=True)
class OutputLine:
    """One line, as it was written and unsanitised."""

    stream: Stream
    text: str


class OutputTail:
    """Takes what a program writes, and keeps the last lines of it."""

    def __init__(self) -> None:
        self.version = 0
        """Changes whenever there is something new."""
        self._lines: deque[OutputLine] = deque(maxlen=_LINES)
        self._open: dict[Stream, str] = {}
        self._decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")}
        self._lock = threading.Lock()

    def take(self, stream: str, data: bytes) -> None:
        """Take bytes of ``stdout`` or ``stderr``."""
        name: Stream = "stderr" if stream == "stderr" else "stdout"
        with self._lock:
            text = self._open.pop(name, "") + self._decoders[name].decode(data)
            *whole, last = text.replace("\r\n", "\n").split("\n")
            for line in whole[-_LINES:]:
                self._lines.append(OutputLine(name, _overwritten(line)))
            if last:
                self._open[name] = last[-_LONGEST:]
            self.version += 1

    def note(self, text: str) -> None:
        """Add a line of ours."""
        with self._lock:
            self._lines.append(OutputLine("note", text[:_LONGEST]))
            self.version += 1

    def lines(self) -> list[OutputLine]:
        """Return the last lines, those that have no end yet among them."""
        with self._lock:
            return [*self._lines, *(OutputLine(name, _overwritten(text)) for name, text in self._open.items())]


def _overwritten(line: str) -> str:
    """Return what is left of a line on which a carriage return starts again, as progress bars do."""
    return line.rstrip("\r").rpartition("\r")[2][:_LONGEST]
