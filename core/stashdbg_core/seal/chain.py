"""The arithmetic of a seal: salts from a secret, commitments to texts, a chain over the commitments.

Every digest and every salt is 32 bytes long and every count 8, so no two different recordings give one input to a hash.
``docs/seal.md`` specifies it, with vectors.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

DOMAIN = "stashdbg-seal/1"
ALGORITHM = "sha256"
"""The only algorithm; a seal that names another is refused, not guessed at."""
SIZE = 32
"""Bytes of a salt, a digest, the secret."""
PARTS = ("identity", "notes", "value", "input")
"""What of an event is committed to, in this order."""
EVENT_SIZE = SIZE * len(PARTS)

_HEAD = f"{DOMAIN}\n{ALGORITHM}\n".encode()
_HEADER_INDEX = 2**64 - 1


class Counts(NamedTuple):
    """How many of what a recording holds."""

    events: int
    meta: int
    """Keys of ``meta``, ``redaction`` not counted."""
    extra: int
    """Keys of the top level that the format does not know."""
    blobs: int
    """Values that no event reaches."""

    @property
    def header(self) -> int:
        """How many commitments come before the events': version and id, too."""
        return 2 + self.meta + self.extra + self.blobs


def event_salts(secret: bytes, index: int) -> bytes:
    """Return the four salts of the event at an index, one after the other."""
    return hashlib.shake_256(secret + index.to_bytes(8, "big")).digest(EVENT_SIZE)


def header_salts(secret: bytes, count: int) -> bytes:
    """Return the salts of the header's parts, one after the other."""
    return hashlib.shake_256(secret + _HEADER_INDEX.to_bytes(8, "big")).digest(SIZE * count)


def commitment(salt: bytes, text: bytes) -> bytes:
    """Return the commitment to a text."""
    return hashlib.sha256(salt + text).digest()


def root_of(counts: Counts, header: bytes, events: bytes) -> bytes:
    """Return the root: the last link of the chain.

    Args:
        counts: Of what the commitments are.
        header: The commitments to the header's parts, one after the other.
        events: The four commitments of each event, one after the other.
    """
    sha256 = hashlib.sha256
    link = sha256(_HEAD + b"".join(count.to_bytes(8, "big") for count in counts) + header).digest()
    for at in range(0, len(events), EVENT_SIZE):
        link = sha256(link + events[at : at + EVENT_SIZE]).digest()
    return link


def signed_text(count: int, root: bytes) -> bytes:
    """Return what a signature is over: domain, algorithm, number of events, root; a line each."""
    return _HEAD + f"{count}\n{root.hex()}\n".encode()
