"""A seal, and the file it is kept in beside its recording.

A seal of an original holds the secret that all salts come from. That of a redacted copy holds the salts of what stays
disclosed and no secret, for with a salt a masked text could be guessed and tested.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.errors import StashError, invalid_input, not_found
from stashdbg_core.sanitize import shorten
from stashdbg_core.seal.chain import ALGORITHM, EVENT_SIZE, PARTS, SIZE, Counts, event_salts, header_salts
from stashdbg_core.store.atomic import write_atomic

SUFFIX = ".seal.json"
MAX_BYTES = 4_000_000_000
Salts = tuple[bytes | None, ...]


@dataclass(frozen=True, slots=True)
class Seal:
    """Commitments to a whole recording, and what it takes to check them."""

    counts: Counts
    root: bytes
    header: bytes
    """The commitments to the header's parts, one after the other."""
    events: bytes
    """The four commitments of each event, one after the other."""
    secret: bytes | None = None
    """Where the salts come from; None in the seal of a redacted copy."""
    disclosed: tuple[Salts, tuple[Salts, ...]] | None = None
    """Without a secret: the salts of the header's parts and of each event, None for what is masked."""
    signature: str | None = None
    """An SSH signature in its armour."""

    def header_salts(self) -> Salts:
        """Return the salt of each part of the header."""
        if self.disclosed is not None:
            return self.disclosed[0]
        salts = header_salts(self.secret or b"", self.counts.header)
        return tuple(salts[at : at + SIZE] for at in range(0, len(salts), SIZE))

    def event_salts(self, index: int) -> Salts:
        """Return the four salts of an event."""
        if self.disclosed is not None:
            return self.disclosed[1][index]
        salts = event_salts(self.secret or b"", index)
        return salts[:32], salts[32:64], salts[64:96], salts[96:]

    def to_json(self) -> dict[str, Json]:
        """Return the seal file's JSON tree."""
        tree: dict[str, Json] = {"stash": "seal", "version": 1, "algorithm": ALGORITHM}
        tree["counts"] = self.counts._asdict()
        tree["root"] = self.root.hex()
        if self.secret is not None:
            tree["secret"] = self.secret.hex()
        if self.signature is not None:
            tree["signature"] = {"format": "ssh", "text": self.signature}
        tree["header"] = [_text(part) for part in _split(self.header, SIZE)]
        tree["events"] = [_text(part) for part in _split(self.events, EVENT_SIZE)]
        if self.disclosed is not None:
            header, events = self.disclosed
            tree["salts"] = {
                "header": [_salt_text(salt) for salt in header],
                "events": [[_salt_text(salt) for salt in salts] for salts in events],
            }
        return tree


class _Counts(msgspec.Struct):
    events: int
    meta: int
    extra: int
    blobs: int


class _SaltLists(msgspec.Struct):
    header: list[bytes | None]
    events: list[list[bytes | None]]


class _SignatureText(msgspec.Struct):
    format: str
    text: str


class _File(msgspec.Struct):
    """A seal file; what is in base64 there is bytes here."""

    stash: str
    version: int
    algorithm: str
    counts: _Counts
    root: str
    header: list[bytes]
    events: list[bytes]
    secret: str | None = None
    salts: _SaltLists | None = None
    signature: _SignatureText | None = None


class _Kind(msgspec.Struct):
    stash: str
    algorithm: str
    version: int = 0


def seal_path(recording: str | os.PathLike[str]) -> Path:
    """Return where the seal of a recording file is kept: ``run.seal.json`` beside ``run.json``."""
    path = Path(recording)
    return path.with_name((path.stem if path.suffix == ".json" else path.name) + SUFFIX)


def write_seal(seal: Seal, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a seal to a file of mode 0600.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there is a file of that name, or it cannot be written; nothing was changed.
    """
    wanted = Path(path)
    if not overwrite:
        refuse_existing(wanted)

    def write(file: BinaryIO) -> None:
        tree = seal.to_json()
        lists = {key: tree.pop(key) for key in ("header", "events", "salts") if key in tree}
        file.write(stored_form(tree)[:-1])
        for key in ("header", "events"):
            texts = lists[key]
            file.write(b',"%b":[\n' % key.encode() + ",\n".join([f'"{text}"' for text in texts]).encode() + b"\n]")
        if "salts" in lists:
            file.write(b',"salts":' + stored_form(lists["salts"]))
        file.write(b"}\n")

    written = write_atomic(wanted, write, overwrite=overwrite)
    if written != wanted:  # somebody wrote one meanwhile
        os.unlink(written)
        raise _is_there(wanted)
    return written


def refuse_existing(path: Path) -> None:
    """Refuse a path that is taken: a seal is never replaced silently.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there is a file of that name.
    """
    if os.path.lexists(path):
        raise _is_there(path)


def read_seal(path: str | os.PathLike[str]) -> Seal:
    """Read a seal file.

    Raises:
        StashError: ``ERR_NOT_FOUND``: it cannot be read; ``ERR_INVALID_INPUT``: it is no seal of ours;
            ``details["verdict"]`` is the word for it.
    """
    shown = shorten(str(path), 200)
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        message = f"{shown} does not exist"
        raise not_found(message, hint="stashdbg seal makes one", verdict="no-seal") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise not_found(f"cannot read {shown}: {reason}", hint="check the path", verdict="no-seal") from error
    return parse_seal(data, shown)


def parse_seal(data: bytes, name: str = "the seal") -> Seal:
    """Read a seal from its JSON text; see ``read_seal``."""
    if not data.strip():
        raise _refused("no-seal", f"{name} is empty")
    try:
        kind = msgspec.json.decode(data, type=_Kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise _refused("foreign-seal", f"{name} is not a stashdbg seal") from None
    if kind.stash != "seal":
        raise _refused("foreign-seal", f"{name} is not a stashdbg seal")
    if kind.algorithm != ALGORITHM or kind.version != 1:
        given = shorten(f"{kind.algorithm} (version {kind.version})", 60)
        raise _refused(
            "unknown-algorithm", f"{name} uses {given}, and this stashdbg knows only {ALGORITHM} (version 1)"
        )
    try:
        return _checked(msgspec.json.decode(data, type=_File))
    except (msgspec.MsgspecError, ValueError, OverflowError) as error:
        raise _refused("seal-damaged", f"{name} is damaged: {shorten(str(error), 120)}") from None


def _checked(file: _File) -> Seal:
    counts = Counts(file.counts.events, file.counts.meta, file.counts.extra, file.counts.blobs)
    if min(counts) < 0 or counts.header != len(file.header) or counts.events != len(file.events):
        raise ValueError("its counts are not those of its lists")
    _check_sizes(file.header, SIZE)
    _check_sizes(file.events, EVENT_SIZE)
    disclosed = None
    if file.salts is not None:
        if len(file.salts.header) != len(file.header) or len(file.salts.events) != len(file.events):
            raise ValueError("its salts are not as many as its commitments")
        if any(len(salts) != len(PARTS) for salts in file.salts.events):
            raise ValueError("an event has not four salts")
        for salts in (file.salts.header, *file.salts.events):
            _check_sizes([salt for salt in salts if salt is not None], SIZE)
        disclosed = (tuple(file.salts.header), tuple(map(tuple, file.salts.events)))
    if (file.secret is None) == (disclosed is None):
        raise ValueError("it must have either a secret or salts")
    return Seal(
        counts,
        _hex(file.root, "root"),
        b"".join(file.header),
        b"".join(file.events),
        None if file.secret is None else _hex(file.secret, "secret"),
        disclosed,
        None if file.signature is None else file.signature.text,
    )


def _hex(text: str, name: str) -> bytes:
    if len(text) != 2 * SIZE or not text.isascii() or not text.isalnum():
        raise ValueError(f"its {name} is not 64 hex digits")
    return bytes.fromhex(text)


def _check_sizes(parts: list[bytes], size: int) -> None:
    if any(len(part) != size for part in parts):
        raise ValueError(f"a commitment or salt is not {size} bytes long")


def _split(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def _text(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def _salt_text(salt: bytes | None) -> str | None:
    return None if salt is None else _text(salt)


def _refused(verdict: str, message: str) -> StashError:
    return invalid_input(message, hint="name the seal file with --seal, or seal the recording anew", verdict=verdict)


def _is_there(path: Path) -> StashError:
    return invalid_input(
        f"{shorten(str(path), 200)} is there already",
        hint="check it with stashdbg verify; --force replaces it, and with it the root that others may have kept",
    )
