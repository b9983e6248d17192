"""Whatever holds recordings, opened by name: a recording, a journal, a bundle, or a file of another tool.

One recording of a file that holds several is named as if the file were a folder: ``report.zip/recordings/run-2.json``,
and ``traces.jsonl/2`` for the second run of a file of another tool. What is ours is tried first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.report.bundle_reader import is_bundle, read_bundle, recording_names
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.native import HEAD, is_native
from stashdbg_core.store.open import read_source
from stashdbg_core.store.source import FileSource, Source

if TYPE_CHECKING:
    from stashdbg_core.formats.format import Format, RunSummary
    from stashdbg_core.formats.live import LiveConversion

_OTHERS_MANIFEST = 2
"""Version of the manifest in bug reports of agentfootprint, which may hold a ``recording.json`` too; ours differs."""

_PART = "event-"
"""How a file may be named that is a part of a run: ``formats.folders`` says whether it is."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a file holds, before any of it is read."""

    kind: Literal["recording", "bundle", "foreign"]
    format: Format | None = None
    """Of a file of another tool."""


def recognise(source: Source, limits: Limits) -> Held:
    """Tell what a file is by its beginning; what is in no format that is known counts as a recording.

    Raises:
        StashError: It cannot be read, is too large, or is an archive with neither a recording nor a known run in it.
    """
    head = source.read_at(0, HEAD)
    if is_bundle(head):
        return _in_archive(source, limits)
    if is_native(head):
        return Held("recording")
    known = _foreign(source, limits)
    return Held("recording") if known is None else Held("foreign", known)


def held_in(path: Path, *, limits: Limits = Limits()) -> Held:
    """Tell what the file is that a name leads into; see ``recognise``."""
    return recognise(FileSource(_split(path)[0]), limits)


def refuse_unknown(path: Path, *, limits: Limits = Limits()) -> None:
    """Refuse a file that cannot be opened for what it is, as far as its beginning tells.

    Raises:
        StashError: As ``open_one``.
    """
    archive, _ = _split(path)
    source = FileSource(archive)
    if recognise(source, limits).kind == "recording" and not is_native(source.read_at(0, HEAD)):
        read_source(source, limits, archive)


def open_all(
    path: Path,
    *,
    limits: Limits = Limits(),
    progress: Callable[[int, int], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Recording, ...]:
    """Return every recording in a file.

    Args:
        path: The file, or one recording in it.
        limits: Reading limits.
        progress: Told how many bytes of how many were read, now and then, of a file of another tool.
        cancelled: Asked as often whether to stop.

    Raises:
        StashError: As ``store.open.open_recording``; ``ERR_INVALID_INPUT``: the file has no recording of that name,
            or is another tool's and holds several runs.
        formats.source.Cancelled: It was cancelled.
    """
    archive, inner = _split(path)
    return read_all(FileSource(archive), limits, archive, inner, progress=progress, cancelled=cancelled)


def open_one(
    path: Path,
    *,
    limits: Limits = Limits(),
    progress: Callable[[int, int], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Recording:
    """Return the recording in a file; see ``open_all``.

    Raises:
        StashError: As ``open_all``; ``ERR_INVALID_INPUT``: there are several.
    """
    return only(open_all(path, limits=limits, progress=progress, cancelled=cancelled), str(path))


def read_all(
    source: Source,
    limits: Limits,
    path: Path | None = None,
    inner: str | None = None,
    *,
    progress: Callable[[int, int], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Recording, ...]:
    """Return every recording of a source, or the one called ``inner`` in it; see ``open_all``."""
    held = recognise(source, limits)
    if held.format is not None:
        from stashdbg_core.formats.conversion import read_known

        return (read_known(held.format, source, inner, limits, progress=progress, cancelled=cancelled),)
    if held.kind == "recording":
        if inner not in (None, "1"):
            raise invalid_input(f"{source.name} is one recording, and holds no {shorten(str(inner), 60)}")
        return (read_source(source, limits, path),)
    bundle = read_bundle(source, limits, path)
    if inner is None:
        if path is None or len(bundle.names) == 1:
            return bundle.recordings
        named = zip(bundle.recordings, bundle.names, strict=True)
        return tuple(replace(recording, path=path / name) for recording, name in named)
    name = _named(inner, bundle.names)
    if name is None:
        held_names = ", ".join(bundle.names[:10])
        raise invalid_input(f"{source.name} holds no {shorten(inner, 60)}", hint=f"it holds {held_names}")
    recording = bundle.recordings[bundle.names.index(name)]
    return (recording if path is None else replace(recording, path=path / name),)


def recording_paths(path: Path, *, limits: Limits = Limits()) -> tuple[Path, ...]:
    """Return the name of every recording in a file, each to be opened by ``open_one``; none of them is read.

    Raises:
        StashError: It cannot be read, or is an archive without a recording; any other file is taken for one.
    """
    archive, inner = _split(path)
    source = FileSource(archive)
    held = recognise(source, limits)
    if inner is not None or held.kind == "recording":
        return (path,)
    if held.kind == "foreign":
        runs = runs_of(path, limits=limits)
        return (path,) if len(runs) == 1 else tuple(path / str(number) for number in range(1, len(runs) + 1))
    names = recording_names(source)
    return (path,) if len(names) == 1 else tuple(path / name for name in names)


def runs_of(
    path: Path,
    *,
    limits: Limits = Limits(),
    cancelled: Callable[[], bool] | None = None,
) -> Sequence[RunSummary]:
    """Return the runs of a file of another tool, as a picker shows them; empty for what is ours, and for one run.

    Raises:
        StashError: It cannot be read.
        formats.source.Cancelled: It was cancelled.
    """
    from stashdbg_core.formats.source import ForeignSource

    archive, inner = _split(path)
    source = FileSource(archive)
    known = None if inner is not None else recognise(source, limits).format
    return () if known is None else known.runs(ForeignSource(source, limits=limits, cancelled=cancelled))


def head_of(path: Path, *, limits: Limits = Limits()) -> Recording | None:
    """Return the first events of a large file of another tool, which are there at once; None where all of it is.

    Raises:
        StashError: It cannot be read.
    """
    source, inner, known = _recognised(path, limits)
    if known is None:
        return None
    from stashdbg_core.formats.conversion import open_head

    return open_head(known, source, inner, limits)


def follow_one(path: Path, *, limits: Limits = Limits()) -> LiveConversion | None:
    """Begin to follow a file of another tool that is too large to be read anew whenever it grows; None if it is none.

    Raises:
        StashError: It cannot be read; ``ERR_INVALID_INPUT``: it is large, and can only be read as a whole.
    """
    source, inner, known = _recognised(path, limits)
    if known is None:
        return None
    from stashdbg_core.formats.live import follow_run

    return follow_run(known, source, inner, limits)


def file_of(path: Path) -> Path:
    """Return the file that a recording's name leads into: the name itself, unless it goes through a file."""
    return _split(path)[0]


def place_of(path: Path) -> Path:
    """Return the name that a recording would have as a file of its own beside the file that holds it.

    It is ``traces-2.json`` for ``traces.jsonl/2``, and the name itself for what is a file of its own.
    """
    file, inner = _split(path)
    return path if inner is None else file.with_name(f"{file.stem}-{Path(inner).stem}.json")


def only(recordings: tuple[Recording, ...], name: str) -> Recording:
    """Return the one recording there is.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there are several.
    """
    if len(recordings) > 1:
        shown = shorten(name, 200)
        raise invalid_input(
            f"{shown} holds {len(recordings)} recordings",
            hint=f"say which with --run N, or name it: {shown}/recordings/run-1.json",
        )
    return recordings[0]


def _recognised(path: Path, limits: Limits) -> tuple[FileSource, str | None, Format | None]:
    """Return the file that a name leads into, which part of it is meant, and its format if it is another tool's."""
    archive, inner = _split(path)
    source = FileSource(archive)
    return source, inner, recognise(source, limits).format


def _in_archive(source: Source, limits: Limits) -> Held:
    """Tell what an archive holds: recordings of ours, else runs of another tool's."""
    try:
        recording_names(source)
    except StashError:
        known = _foreign(source, limits)
        if known is None:
            raise
        return Held("foreign", known)
    if _manifest_version(source, limits) == _OTHERS_MANIFEST:
        known = _foreign(source, limits)
        if known is not None:
            return Held("foreign", known)
    return Held("bundle")


def _manifest_version(source: Source, limits: Limits) -> object:
    """Return the version of an archive's manifest, packed or not; None if it has none that can be read."""
    from stashdbg_core.formats.source import ForeignSource
    from stashdbg_core.formats.zip_members import ZipMembers

    try:
        manifest = ZipMembers(ForeignSource(source, limits=limits)).json("manifest.json")
    except StashError:
        return None
    return manifest.get("manifestVersion") if isinstance(manifest, dict) else None


def _foreign(source: Source, limits: Limits) -> Format | None:
    from stashdbg_core.formats.opening import detect
    from stashdbg_core.formats.source import ForeignSource

    return detect(ForeignSource(source, limits=limits))


def _named(inner: str, names: Sequence[str]) -> str | None:
    """Return the recording of that name, or of that number counted from 1."""
    if inner in names:
        return inner
    return names[int(inner) - 1] if inner.isascii() and inner.isdecimal() and 0 < int(inner) <= len(names) else None


def _split(path: Path) -> tuple[Path, str | None]:
    """Return the file and the name in it; the file that stands for it if the path is a folder.

    Raises:
        StashError: ``ERR_NOT_FOUND``: it is a folder, and no run.
    """
    if path.is_dir() or (path.name.startswith(_PART) and path.is_file()):
        return _file_for(path), None
    for parent in path.parents[:2]:
        if not path.exists() and parent.is_file():
            return parent, path.relative_to(parent).as_posix()
    if path.name.isdecimal() and not path.exists() and path.parent.is_dir():
        return _file_for(path.parent), path.name
    return path, None


def _file_for(path: Path) -> Path:
    from stashdbg_core.formats.folders import file_for

    return file_for(path)
