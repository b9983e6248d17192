"""Comparing two recordings without holding the screen up, and without holding up whoever leaves.

The work is done by a daemon thread: a person who leaves does not wait for it, and what it posts later is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeAlias

from textual.message import Message

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.comparison import Comparison
from stashdbg_core.store.limits import Limits

if TYPE_CHECKING:
    from stashdbg_core.diff.align import AlignMode

LARGE_BYTES = 8_000_000
"""From here on a file is indexed, and compared, by a process of its own."""

Side: TypeAlias = "Path | Recording"
"""A file, or what is open already."""


class DiffProgress(Message):
    """What is being done, in words; safe text."""

    def __init__(self, job: Job, words: str) -> None:
        super().__init__()
        self.job = job
        self.words = words


class DiffReady(Message):
    """The two are compared."""

    def __init__(self, job: Job, comparison: Comparison) -> None:
        super().__init__()
        self.job = job
        self.comparison = comparison


class DiffExplained(Message):
    """Where each difference comes from is known."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job


class DiffFailed(Message):
    """One of them cannot be read, or they cannot be compared."""

    def __init__(self, job: Job, error: StashError) -> None:
        super().__init__()
        self.job = job
        self.error = error


@dataclass(eq=False)
class Job:
    """One comparison under way."""

    sides: tuple[Side, Side]
    names: tuple[str, str]
    limits: Limits
    align: str
    post: Callable[[Message], object]
    _cancelled: Event = field(default_factory=Event)

    def start(self) -> None:
        """Begin."""
        Thread(target=self._run, name="stashdbg-diff", daemon=True).start()

    def cancel(self) -> None:
        """Stop as soon as may be, and post nothing more."""
        self._cancelled.set()

    def _say(self, message: Message) -> None:
        if not self._cancelled.is_set():
            self.post(message)

    def _run(self) -> None:
        try:
            self._compare()
        except StashError as failure:
            self._say(DiffFailed(self, failure))
        except MemoryError:
            error = StashError(
                "there is not enough memory to compare them", code=ErrorCode.INVALID_INPUT, hint="compare smaller runs"
            )
            self._say(DiffFailed(self, error))

    def _compare(self) -> None:
        # The first frame needs none of it.
        from stashdbg_core.diff.process import diff_in_process
        from stashdbg_core.diff.recordings import diff_recordings

        recordings: list[Recording] = []
        for side, name in zip(self.sides, self.names, strict=True):
            if isinstance(side, Recording):
                recordings.append(side)
                continue
            self._say(DiffProgress(self, f"reading {shorten(name, 40)}…"))
            opened = _opened(side, self.limits, self._cancelled.is_set)
            if opened is None or self._cancelled.is_set():
                return
            recordings.append(opened)
        counts = " with ".join(f"{len(recording.events):,}" for recording in recordings)
        self._say(DiffProgress(self, f"comparing {counts} events…"))
        one, other = recordings
        mode: AlignMode = "identity" if self.align == "identity" else "content"
        result = None
        if _is_large(one) and _is_large(other):
            result = diff_in_process(one, other, mode, limits=self.limits, cancelled=self._cancelled.is_set)
        if self._cancelled.is_set():
            return
        result = result or diff_recordings(one, other, align=mode)
        comparison = Comparison(result, self.names)
        self._say(DiffReady(self, comparison))
        comparison.explain()
        self._say(DiffExplained(self))


def _is_large(recording: Recording) -> bool:
    try:
        return recording.path is not None and recording.path.stat().st_size >= LARGE_BYTES
    except OSError:
        return False


def short_names(paths: Sequence[Side]) -> tuple[str, str]:
    """Return what to call two files: their names, with their folders where those are alike."""
    one, other = (side if isinstance(side, Path) else side.path or Path(side.id) for side in paths)
    if one.name != other.name:
        return one.name, other.name
    return str(one), str(other)


def _opened(path: Path, limits: Limits, cancelled: Callable[[], bool]) -> Recording | None:
    from stashdbg_core.opening.files import only, open_all
    from stashdbg_core.store.index_cache import open_cached, open_in_process

    try:
        with open(path, "rb") as file:
            head = file.read(2)
            large = file.seek(0, 2) >= LARGE_BYTES
    except OSError as failure:
        raise StashError(
            f"cannot open {shorten(path.name, 80)}: {failure.strerror or 'it cannot be read'}",
            code=ErrorCode.NOT_FOUND,
            hint="check the file's name",
        ) from failure
    if large and head != b"PK":
        return open_cached(path, limits=limits) or open_in_process(path, limits=limits, cancelled=cancelled)
    return only(open_all(path, limits=limits), str(path))
