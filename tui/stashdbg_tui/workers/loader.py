"""Opening a recording without holding the screen up.

Files that take longer than a frame show their head at once, and the rest is read when that stands on the screen: two
threads share one interpreter. A large one of ours is indexed, one of another tool converted, by a process of its own.
Whatever goes wrong arrives as a message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING

from textual.message import Message

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.limits import Limits

if TYPE_CHECKING:
    from stashdbg_core.formats.format import RunSummary

LARGE_BYTES = 2_000_000
"""From here on the head of a file is shown before the file is indexed, which takes up to 15 ms a megabyte."""
HEAD_EVENTS = 200
PAINT_SECONDS = 1.0
"""So long the rest of a file waits for its head to be painted."""
_PROGRESS_SECONDS = 0.2

Post = Callable[[Message], object]


class HeadLoaded(Message):
    """The first events of a large file can be shown; the rest is read once ``painted`` is set."""

    def __init__(self, path: Path, recording: Recording) -> None:
        super().__init__()
        self.path = path
        self.recording = recording
        self.painted = Event()


class RecordingLoaded(Message):
    """A recording is open."""

    def __init__(self, path: Path, recording: Recording) -> None:
        super().__init__()
        self.path = path
        self.recording = recording


class ReadingOn(Message):
    """So much of a large file has been read."""

    def __init__(self, path: Path, done: int, total: int) -> None:
        super().__init__()
        self.path = path
        self.part = min(1.0, done / total) if total > 0 else 0.0


class ArchiveOpened(Message):
    """A file is a bug report of several recordings, of which the first is opened."""

    def __init__(self, path: Path, recordings: Sequence[Path]) -> None:
        super().__init__()
        self.path = path
        self.recordings = recordings


class RunsFound(Message):
    """A file of another tool holds several runs, none of them opened yet."""

    def __init__(self, path: Path, runs: Sequence[RunSummary]) -> None:
        super().__init__()
        self.path = path
        self.runs = runs


class LoadFailed(Message):
    """A file is not a recording, or cannot be read."""

    def __init__(self, path: Path, error: StashError) -> None:
        super().__init__()
        self.path = path
        self.error = error


def load(path: Path, limits: Limits, post: Post, is_cancelled: Callable[[], bool]) -> None:
    """Open a file and post what came of it; runs in a worker thread and never raises.

    Args:
        path: The file.
        limits: What is refused.
        post: Takes the messages, from any thread.
        is_cancelled: Whether nobody waits any more.
    """
    # The reader is not needed for the first frame.
    from stashdbg_core.formats.source import Cancelled
    from stashdbg_core.opening.files import held_in, open_one, recording_paths

    try:
        recording: Recording | None = None
        kind = held_in(path, limits=limits).kind
        if kind == "bundle":
            held = recording_paths(path)
            if len(held) > 1:
                post(ArchiveOpened(path, held))
            recording = open_one(held[0], limits=limits)
        elif kind == "foreign":
            recording = _open_foreign(path, limits, post, is_cancelled)
        else:
            recording = _open_plain(path, limits, post, is_cancelled)
    except OSError as failure:
        post(LoadFailed(path, _unreadable(path, failure.strerror or "it cannot be read")))
    except StashError as failure:
        post(LoadFailed(path, failure))
    except MemoryError:
        post(LoadFailed(path, _unreadable(path, "there is not enough memory to index it")))
    except Cancelled:
        return
    else:
        if recording is not None and not is_cancelled():
            post(RecordingLoaded(path, recording))


def _open_plain(path: Path, limits: Limits, post: Post, is_cancelled: Callable[[], bool]) -> Recording | None:
    from stashdbg_core.store.head import open_head
    from stashdbg_core.store.index_cache import open_cached, open_in_process

    large = path.is_file() and path.stat().st_size >= LARGE_BYTES
    recording = open_cached(path, limits=limits) if large else None
    if large and recording is None:
        head = open_head(path, HEAD_EVENTS, limits=limits)
        if head is not None and not is_cancelled():
            _show_head(path, replace(head, path=path), post)
    return recording or open_in_process(path, limits=limits, cancelled=is_cancelled)


def _open_foreign(path: Path, limits: Limits, post: Post, is_cancelled: Callable[[], bool]) -> Recording | None:
    from stashdbg_core.opening.files import head_of, open_one, runs_of

    said = [0.0]

    def progress(done: int, total: int) -> None:
        if monotonic() - said[0] >= _PROGRESS_SECONDS:
            said[0] = monotonic()
            post(ReadingOn(path, done, total))

    runs = runs_of(path, limits=limits, cancelled=is_cancelled)
    if len(runs) > 1:
        post(RunsFound(path, runs))
        return None
    head = head_of(path, limits=limits)
    if head is not None and not is_cancelled():
        _show_head(path, head, post)
    return open_one(path, limits=limits, progress=progress, cancelled=is_cancelled)


def _show_head(path: Path, head: Recording, post: Post) -> None:
    message = HeadLoaded(path, head)
    post(message)
    message.painted.wait(PAINT_SECONDS)


def _unreadable(path: Path, why: str) -> StashError:
    return StashError(
        f"cannot open {shorten(path.name, 80)}: {why}",
        code=ErrorCode.NOT_FOUND,
        hint="check the file, or open a smaller one",
    )
