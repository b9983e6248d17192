"""Whatever holds recordings, opened by name: a recording, a journal, a bundle, or one recording within a bundle.

A recording within a bundle is named as if the archive were a folder: ``report.zip/recordings/run-2.json``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stashdbg_core.errors import invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.report.bundle_reader import is_bundle, read_bundle, recording_names
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.open import read_source
from stashdbg_core.store.source import FileSource, Source

_HEAD = 4


def open_all(path: Path, *, limits: Limits = Limits()) -> tuple[Recording, ...]:  # noqa: B008  (frozen)
    """Return every recording in a file.

    Raises:
        StashError: As ``store.open.open_recording``; ``ERR_INVALID_INPUT``: the archive has no recording of that name.
    """
    archive, inner = _split(path)
    return read_all(FileSource(archive), limits, archive, inner)


def open_one(path: Path, *, limits: Limits = Limits()) -> Recording:  # noqa: B008
    """Return the recording in a file.

    Raises:
        StashError: As ``open_all``; ``ERR_INVALID_INPUT``: there are several.
    """
    return only(open_all(path, limits=limits), str(path))


def read_all(
    source: Source, limits: Limits, path: Path | None = None, inner: str | None = None
) -> tuple[Recording, ...]:
    """Return every recording of a source, or the one called ``inner`` in it; see ``open_all``."""
    if not is_bundle(source.read_at(0, _HEAD)):
        return (read_source(source, limits, path),)
    bundle = read_bundle(source, limits, path)
    if inner is None:
        if path is None or len(bundle.names) == 1:
            return bundle.recordings
        named = zip(bundle.recordings, bundle.names, strict=True)
        return tuple(replace(recording, path=path / name) for recording, name in named)
    if inner not in bundle.names:
        held = ", ".join(bundle.names[:10])
        raise invalid_input(f"{source.name} holds no {shorten(inner, 60)}", hint=f"it holds {held}")
    recording = bundle.recordings[bundle.names.index(inner)]
    return (recording if path is None else replace(recording, path=path / inner),)


def recording_paths(path: Path) -> tuple[Path, ...]:
    """Return the name of every recording in a file, each to be opened by ``open_one``; none of them is read.

    Raises:
        StashError: It cannot be read, or is an archive without a recording; any other file is taken for one.
    """
    archive, inner = _split(path)
    source = FileSource(archive)
    if inner is not None or not is_bundle(source.read_at(0, _HEAD)):
        return (path,)
    names = recording_names(source)
    return (path,) if len(names) == 1 else tuple(path / name for name in names)


def in_archive(path: Path) -> bool:
    """Tell whether a name is an archive's, or goes through one.

    Raises:
        StashError: There is no such file, or it cannot be read.
    """
    return is_bundle(FileSource(_split(path)[0]).read_at(0, _HEAD))


def only(recordings: tuple[Recording, ...], name: str) -> Recording:
    """Return the one recording there is.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there are several.
    """
    if len(recordings) > 1:
        shown = shorten(name, 200)
        raise invalid_input(
            f"{shown} holds {len(recordings)} recordings",
            hint=f"name one of them, such as {shown}/recordings/run-1.json",
        )
    return recordings[0]


def _split(path: Path) -> tuple[Path, str | None]:
    """Return the archive and the name in it; the path itself if it goes through no file."""
    for parent in path.parents[:2]:
        if not path.exists() and parent.is_file():
            return parent, path.relative_to(parent).as_posix()
    return path, None
