"""A foreign file as its reader sees it: bytes, lines, JSON, and the files beside it.

Reading is bounded: limits are checked before work is done, a line too long costs its length and no memory, and no name
in a file leads out of the folder that the file lies in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_recording, not_found
from stashdbg_core.formats.compression import ZSTD_MAGIC, unpacked
from stashdbg_core.parse import BOM, over_limit, parse_json
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.scan import check_size
from stashdbg_core.store.source import BytesSource, FileSource, Source

MAX_LINE = 16 << 20
"""Bytes of the longest line that is read."""
MAX_BESIDE = 10_000
"""Files of one folder that are listed at most."""
DATABASE_LOGS = ("-wal", "-journal")
"""How the names of files end that lie beside an SQLite database and belong to its content."""
_BLOCK = 1 << 20
_EMPTY = b"\0 \t\r"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file."""

    offset: int
    """Where it starts; in what was unpacked, if the file is compressed."""
    number: int
    """From 1; blank ones count."""
    raw: bytes
    """Without its end; empty if it is longer than ``MAX_LINE``."""
    ends: bool
    """Whether it has an end: a last line without one may still be being written."""
    size: int


class Complaints(Protocol):
    """Is told of lines that no reader gets."""

    def note(self, kind: str, message: str, *, offset: int | None = None) -> None:
        """Say something that a reader of the recording should know."""
        ...

    def damaged_line(self, line: Line, why: str) -> None:
        """Say that a line could not be read."""
        ...


class Cancelled(Exception):
    """Whoever asked for the reading does not want it any more."""


class ForeignSource:
    """A file of another tool, or bytes that were one.

    Args:
        where: The file, or its bytes.
        name: What to call it; a file's own name if not given.
        limits: Reading limits.
        progress: Told how many bytes were read, now and then.
        cancelled: Asked as often whether to stop.

    Raises:
        StashError: ``ERR_NOT_FOUND``: it cannot be read; ``ERR_INVALID_RECORDING``: it is larger than the limit.
    """

    def __init__(
        self,
        where: Path | bytes | Source,
        *,
        name: str | None = None,
        limits: Limits = Limits(),
        progress: Callable[[int], object] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self.limits = limits
        self._source: Source
        if isinstance(where, Path):
            self._source = FileSource(where)
        else:
            self._source = BytesSource(where, name or "input") if isinstance(where, bytes) else where
        self.path: Path | None = self._source.path if isinstance(self._source, FileSource) else None
        self.name = name or (self.path.name if self.path is not None else self._source.name)
        self.identity = self._source.identity if isinstance(self._source, FileSource) else None
        """What tells whether the file has changed since."""
        self.size = self._source.size
        check_size(self.size, shorten(self.name, 200), limits)
        self._progress = progress
        self._cancelled = cancelled
        self.is_zstd = self._source.read_at(0, len(ZSTD_MAGIC)) == ZSTD_MAGIC
        self.at_end: Callable[[int], bool] | None = None
        """Asked, at the end of a file of lines, whether there is more by now (see ``grow``); gets where the end is."""
        self.grown = 0
        """How many times the file has grown while it was read: what was found beside it may be out of date."""

    def head(self, length: int = 1 << 16) -> bytes:
        """Return the first bytes, unpacked, without a byte-order mark."""
        return self.prefix(length + len(BOM)).removeprefix(BOM)[:length]

    def prefix(self, length: int) -> bytes:
        """Return the first bytes, unpacked."""
        if not self.is_zstd:
            return self._source.read_at(0, length)
        held = b""
        for block in self._blocks(0):
            held += block
            if len(held) >= length:
                break
        return held[:length]

    def read_at(self, offset: int, length: int) -> bytes:
        """Return bytes of the file as it is, packed or not."""
        return self._source.read_at(offset, length)

    def grow(self) -> bool:
        """Take in what was added to the file; tell whether something was.

        Raises:
            StashError: ``ERR_NOT_FOUND``: it is gone, is another file, or was cut; ``ERR_INVALID_RECORDING``: it is
                larger than the limit now.
        """
        before = self.identity
        if self.path is None or before is None or not self._source.changed():
            return False
        now = FileSource(self.path)
        if now.identity[:2] != before[:2] or now.size < self.size:
            raise not_found(f"{shorten(self.name, 200)} was replaced or cut")
        check_size(now.size, shorten(self.name, 200), self.limits)
        has_more = now.size > self.size
        self._source, self.size, self.identity = now, now.size, now.identity
        self.grown += has_more
        return has_more

    def changed(self) -> bool:
        """Tell whether the file has changed since it was opened."""
        return self._source.changed()

    def tell(self, done: int | None = None) -> None:
        """Say how many bytes were read by other means than this source's own.

        Raises:
            Cancelled: Whoever asked for the reading does not want it any more.
        """
        if self._cancelled is not None and self._cancelled():
            raise Cancelled
        if self._progress is not None and done is not None:
            self._progress(done)

    def write_to(self, target: Path) -> None:
        """Write the whole file, unpacked, to another one."""
        with target.open("wb") as file:
            file.writelines(self._blocks(0))

    def data(self) -> bytes:
        """Return the whole file, unpacked.

        Raises:
            StashError: ``ERR_INVALID_RECORDING``: it is larger than one document may be.
        """
        if self.size > self.limits.line:
            raise over_limit("line", self.limits.line, f"{shorten(self.name, 200)} is one document of more bytes")
        if not self.is_zstd:
            return b"".join(self._blocks(0))
        parts, size = [], 0
        for block in self._blocks(0):
            parts.append(block)
            size += len(block)
            if size > self.limits.line:
                raise over_limit("line", self.limits.line, f"{shorten(self.name, 200)} unpacks to more bytes")
        return b"".join(parts)

    def json(self) -> Json:
        """Return the file as one JSON tree; what strict parsers refuse is tolerated where it can be.

        Raises:
            StashError: ``ERR_INVALID_RECORDING``: it is not JSON.
        """
        return parse_json(self.data().removeprefix(BOM))

    def lines(self, start: int = 0) -> Iterator[Line]:
        """Yield the lines from an offset on; blank ones, and ones of NUL bytes, are left out."""
        offset, number, carry, overlong = start, 0, b"", 0
        for block in self._growing_blocks(start):
            parts = block.split(b"\n")
            last = parts.pop()
            for part in parts:
                number += 1
                raw = carry + part if carry else part
                size = overlong + len(raw)
                if overlong or size > MAX_LINE:
                    yield Line(offset, number, b"", True, size)
                else:
                    if not offset:
                        raw = raw.removeprefix(BOM)
                    if raw.strip(_EMPTY):
                        yield Line(offset, number, raw.removesuffix(b"\r"), True, size)
                offset += size + 1
                carry, overlong = b"", 0
            carry += last
            if len(carry) > MAX_LINE:
                overlong, carry = overlong + len(carry), b""
        size = overlong + len(carry)
        if overlong:
            yield Line(offset, number + 1, b"", False, size)
        elif carry.strip(_EMPTY):
            raw = carry if offset else carry.removeprefix(BOM)
            yield Line(offset, number + 1, raw.removesuffix(b"\r"), False, size)

    def records(
        self, sink: Complaints, start: int = 0, *, skip: Callable[[Line], bool] | None = None
    ) -> Iterator[tuple[Line, dict[str, Any]]]:
        """Yield each line that is a JSON object; the sink is told of the others.

        A last line without an end that does not parse is still being written, and no damage.

        Args:
            sink: Told of damaged lines.
            start: Offset to begin at.
            skip: Tells of a line, before it is parsed, whether it is left out.
        """
        for line in self.lines(start):
            if skip is not None and skip(line):
                continue
            if not line.raw:
                sink.damaged_line(line, f"is longer than {MAX_LINE >> 20} MB")
                continue
            try:
                tree = parse_json(line.raw)
            except StashError as error:
                if line.ends:
                    sink.damaged_line(line, error.message)
                else:
                    sink.note(
                        "unfinished-line",
                        "the last line is not whole: it may still be being written",
                        offset=line.offset,
                    )
                continue
            if not line.raw.isascii() and not _is_utf8(line.raw):
                sink.note(
                    "not-utf8",
                    f"line {line.number} has bytes that are no UTF-8; each reads as U+FFFD",
                    offset=line.offset,
                )
            if isinstance(tree, dict):
                yield line, tree
            else:
                sink.damaged_line(line, "is JSON, but no object")

    def beside(self, *relative: str) -> ForeignSource | None:
        """Return a file of the same folder or one below it, or None: missing, elsewhere, not a regular file."""
        found = self._inside(relative)
        if found is None or not found.is_file():
            return None
        try:
            return ForeignSource(found, limits=self.limits, progress=None, cancelled=self._cancelled)
        except StashError:
            return None

    def names_beside(self, folder: str, pattern: str, *, most: int = MAX_BESIDE) -> list[str]:
        """Return the names of a folder below the file's own that fit a pattern such as ``*.jsonl``, in order.

        None is opened, and past ``most`` none is listed.
        """
        found = self._inside((folder,))
        if found is None or not found.is_dir():
            return []
        names: list[str] = []
        try:
            with os.scandir(found) as entries:
                for entry in entries:
                    if fnmatchcase(entry.name, pattern):
                        names.append(entry.name)
                    if len(names) >= most:
                        break
        except OSError:
            return []
        return sorted(names)

    def _inside(self, relative: tuple[str, ...]) -> Path | None:
        if self.path is None:
            return None
        try:
            folder = self.path.resolve().parent
            target = folder.joinpath(*relative).resolve()
        except (OSError, ValueError, RuntimeError):
            return None
        return target if target.is_relative_to(folder) else None

    def _blocks(self, start: int) -> Iterator[bytes]:
        """Yield the file, unpacked, from an offset on."""
        if self.is_zstd:
            yield from _after(unpacked(self._packed_blocks(0), self.limits.size, self.name), start)
        else:
            yield from self._packed_blocks(start)

    def _growing_blocks(self, start: int) -> Iterator[bytes]:
        """Yield the file, unpacked, from an offset on, and what is added to it while somebody waits for that."""
        yield from self._blocks(start)
        end = max(start, self.size)
        while not self.is_zstd and self.at_end is not None and self.at_end(end):
            yield from self._packed_blocks(end)
            end = self.size

    def _packed_blocks(self, start: int) -> Iterator[bytes]:
        offset = start
        while offset < self.size:
            self.tell()
            block = self._source.read_at(offset, _BLOCK)
            if not block:
                raise invalid_recording(f"{shorten(self.name, 200)} ended while it was read", hint="open it again")
            offset += len(block)
            yield block
            self.tell(offset)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _after(blocks: Iterator[bytes], start: int) -> Iterator[bytes]:
    for block in blocks:
        if start < len(block):
            yield block[start:] if start else block
        start = max(0, start - len(block))
