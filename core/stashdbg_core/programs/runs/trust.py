"""Which recordings were made by this user on this machine: only their commands run without being typed.

A file is known by the digest of all its bytes; one that was edited, or came from elsewhere, is unknown. The digests
lie in the user's state folder, readable by the user alone.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.programs.process.command import Command, placeholder_in, recorded_command
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.atomic import write_atomic
from stashdbg_core.store.state_file import changing

_KEPT = 10_000
"""Digests kept; the oldest go first."""
_MOST = _KEPT + 1_000
"""Digests in the file at most: it is written anew only when it has so many."""
_LINE = 66
_BLOCK = 1 << 20


def trust_path() -> Path:
    """Return the file of digests."""
    from platformdirs import user_state_path

    return user_state_path("stashdbg", appauthor=False) / "recorded-here"


def remember(path: Path) -> None:
    """Take a file for one that this user made here; what cannot be written down is not known later, and no more.

    Args:
        path: A recording that was just written.
    """
    try:
        digest, place = _digest(path), trust_path()
        with changing(place):
            known = _known()
            if known and len(known) < _MOST:
                if digest not in known:
                    _append(place, digest)
            else:
                text = "".join(f"{line}\n" for line in [*known, digest][-_KEPT:])
                write_atomic(place, lambda file: file.write(text.encode("ascii")))
    except (OSError, StashError):
        return


def remember_fork(parent: Path | None, fork: Path) -> None:
    """Take a fork that was just written for one made here, if its parent is."""
    if parent is not None and was_recorded_here(parent):
        remember(fork)


def was_recorded_here(path: Path) -> bool:
    """Tell whether this very file was made by this user on this machine."""
    try:
        return _digest(path) in _known()
    except OSError:
        return False


def runnable_command(recording: Recording) -> Command:
    """Return a recording's command if it may run without being typed.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: the recording names none, was not made here, or its command holds a
            placeholder in place of a secret.
    """
    command = recorded_command(recording)
    if command is None:
        raise invalid_input("the recording does not say which program made it", hint="type the command after --")
    shown = command.words()
    if recording.path is None or not was_recorded_here(recording.path):
        raise invalid_input(
            f"the recording was not made here, so its command does not run by itself: {shown}",
            hint="read it, and if it is what you want to run, type it after --",
        )
    placeholder = placeholder_in(recording)
    if placeholder is not None:
        raise invalid_input(
            f"the recorded command holds {shorten(placeholder, 60)} in place of a secret: {shown}",
            hint="type the command with the secret after --",
        )
    return command


def _known() -> list[str]:
    """Return the digests, the oldest first; a file that others may write to counts as empty."""
    try:
        descriptor = os.open(trust_path(), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return []
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if facts.st_mode & 0o022 or facts.st_uid != os.getuid():
            return []
        data = file.read(_MOST * _LINE)
    return data.decode("ascii", "replace").split()


def _append(place: Path, digest: str) -> None:
    """Add a digest; one that is lost to a power cut costs a command typed once, so nobody waits for the disk."""
    descriptor = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.write(descriptor, f"\n{digest}\n".encode("ascii"))  # half a line, should there be one, stays by itself
    finally:
        os.close(descriptor)


def _digest(path: Path) -> str:
    hasher = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            hasher.update(block)
    return hasher.hexdigest()
