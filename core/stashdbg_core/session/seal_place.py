"""Where the seal of an opened recording lies."""

from __future__ import annotations

from pathlib import Path

from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.opening.files import held_in
from stashdbg_core.seal.seal_file import seal_path


def seal_file_of(recording: Recording) -> Path:
    """Return where the seal of a recording lies, or would.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: the recording has no file of its own for a seal to lie beside.
    """
    path = recording.path
    if path is None:
        raise invalid_input("this recording has no file, and a seal lies beside one", hint="save the recording first")
    if not path.is_file() or _is_archive(path):
        raise invalid_input(
            "this recording lies in an archive, where no seal can lie beside it", hint="write it as a file of its own"
        )
    if not _is_ours(path):
        raise invalid_input(
            "this recording was read from another tool's file, and a seal covers recordings of ours",
            hint="write it as a recording with stashdbg convert, and seal that",
        )
    return seal_path(path)


def has_seal(recording: Recording) -> bool:
    """Tell whether a seal lies beside the recording's file."""
    try:
        return seal_file_of(recording).is_file()
    except StashError:
        return False


def _is_ours(path: Path) -> bool:
    try:
        return held_in(path).kind != "foreign"
    except StashError:
        return True


def _is_archive(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"PK"
    except OSError:
        return False
