"""One digest for what a recording is a recording of, whatever file layout it lies in.

Values and inputs are hashed by what their references commit to; where a reference is not the hash of its value, the
digest says nothing about the value.
"""

from __future__ import annotations

from hashlib import sha256

from stashdbg_core.canonical import encode_plain
from stashdbg_core.model import Recording

DIGEST_PREFIX = "sha256:"


def recording_digest(recording: Recording) -> str:
    """Return ``sha256:`` and 64 hex digits over the id and, of every event, identity, outcome and references.

    The text hashed is JSON in stored form, one value a line: the id, then ``[seq, channel, key, ordinal, outcome, ref,
    inputRef]`` of each event in ``seq`` order, each line ended by a line feed.
    """
    hasher = sha256(encode_plain(recording.id) + b"\n")
    for event in recording.events:
        line = [event.seq, event.channel, event.key, event.ordinal, event.outcome, event.ref, event.input_ref]
        hasher.update(encode_plain(line) + b"\n")
    return DIGEST_PREFIX + hasher.hexdigest()
