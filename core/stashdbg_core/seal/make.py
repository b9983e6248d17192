"""Sealing a recording, and the seal of its redacted copy.

What does not mean one thing is refused: a seal over a text that two readers read apart would say nothing.
"""

from __future__ import annotations

import secrets

from stashdbg_core.errors import StashError, invalid_input, invalid_recording
from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.seal.chain import EVENT_SIZE, SIZE, Counts, commitment, event_salts, header_salts, root_of
from stashdbg_core.seal.header import HeaderPart, header_parts, not_whole, part_commitment, two_meanings
from stashdbg_core.seal.seal_file import Salts, Seal
from stashdbg_core.seal.texts import EventText, event_text
from stashdbg_core.seal.values import STEP, Progress, blob_numbers, value_commitment
from stashdbg_core.seal.verify import verify_recording
from stashdbg_core.seal.whole import WholeValues


def seal_recording(recording: Recording, *, secret: bytes | None = None, progress: Progress | None = None) -> Seal:
    """Return a seal of a recording as it is now.

    Args:
        recording: What to seal. A value that is missing is sealed as missing.
        secret: 32 bytes that all salts come from; fresh ones unless vectors are made.
        progress: Told how far it is.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: an event, a value or the file itself is damaged or means two things.
    """
    secret = secrets.token_bytes(SIZE) if secret is None else secret
    if len(secret) != SIZE:
        raise invalid_input(f"a seal's secret has {SIZE} bytes")
    note = two_meanings(recording) or not_whole(recording)
    if note is not None:
        raise _cannot_seal(note.message)
    values = WholeValues(recording.blobs)
    named: set[str] = set()
    total = len(recording.events)
    out = bytearray()
    for index, (number, input_number) in enumerate(blob_numbers(recording)):
        if progress is not None and index % STEP == 0:
            progress(index, total)
        event = event_text(recording.events, index)
        if event.problem is not None:
            raise _cannot_seal(f"the record of event {event.seq} is damaged: {event.problem}")
        salts = event_salts(secret, index)
        out += commitment(salts[:32], event.identity)
        out += commitment(salts[32:64], event.notes)
        named.add(event.ref)
        out += _sealed(values, event, "value", event.ref, salts[64:96], number)
        if event.input_ref is not None:
            named.add(event.input_ref)
        out += _sealed(values, event, "input", event.input_ref, salts[96:], input_number)
    parts = _header(recording, values, named)
    header = _header_commitments(parts, header_salts(secret, len(parts)), values)
    counts, events = counts_of(total, parts), bytes(out)
    return Seal(counts, root_of(counts, header, events), header, events, secret)


def redacted_seal(seal: Seal, original: Recording, redacted: Recording) -> Seal:
    """Return the seal of a redacted copy: root, commitments and signature stay, the secret goes.

    It holds the salts of what is as it was. What differs is listed as not covered when the copy is verified, for
    whoever redacts could have written anything there.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: the original does not match its seal, or the copy has other events.
    """
    found = verify_recording(original, seal)
    if not found.valid:
        raise invalid_input(
            f"the original does not match its seal: {found.message}", hint="redact the sealed recording", **found.named
        )
    values = WholeValues(redacted.blobs)
    named: set[str] = set()
    disclosed: list[Salts] = []
    if len(redacted.events) != seal.counts.events:
        raise _other_shape(f"{len(redacted.events)} events instead of {seal.counts.events}")
    for index in range(seal.counts.events):
        event = event_text(redacted.events, index)
        named.update(ref for ref in (event.ref, event.input_ref) if ref is not None)
        at = index * EVENT_SIZE
        disclosed.append(_kept(values, event, seal.event_salts(index), seal.events[at : at + EVENT_SIZE]))
    parts = _header(redacted, values, named)
    if counts_of(seal.counts.events, parts) != seal.counts:
        raise _other_shape("other keys in meta, or other values that no event reaches")
    header = tuple(
        salt
        if salt is not None and part_commitment(part, salt, values) == seal.header[at * SIZE : (at + 1) * SIZE]
        else None
        for at, (part, salt) in enumerate(zip(parts, seal.header_salts(), strict=True))
    )
    return Seal(seal.counts, seal.root, seal.header, seal.events, None, (header, tuple(disclosed)), seal.signature)


def counts_of(events: int, parts: list[HeaderPart]) -> Counts:
    """Return how many of each kind there are."""
    kinds = [part.kind for part in parts]
    return Counts(events, kinds.count("meta"), kinds.count("extra"), kinds.count("blob"))


def _sealed(values: WholeValues, event: EventText, part: str, ref: str | None, salt: bytes, number: int) -> bytes:
    try:
        return value_commitment(values, ref, salt, number)
    except StashError as error:
        if error.details.get("ref") is None:
            raise  # the file itself cannot be read
        raise _cannot_seal(f"the {part} of event {event.seq} is damaged: {error.message}") from error


def _kept(values: WholeValues, event: EventText, salts: Salts, four: bytes) -> Salts:
    """Return the salts of what of an event is as it was sealed."""
    kept: list[bytes | None] = []
    for at, salt in enumerate(salts):
        if at < 2:
            found = commitment(salt or b"", (event.identity, event.notes)[at])
        else:  # also where there is no salt: what a masked value is made of belongs to it
            found = value_commitment(values, (event.ref, event.input_ref)[at - 2], salt or b"")
        kept.append(salt if found == four[at * SIZE : (at + 1) * SIZE] else None)
    return tuple(kept)


def _header(recording: Recording, values: WholeValues, named: set[str]) -> list[HeaderPart]:
    try:
        return header_parts(recording, values, named)
    except StashError as error:
        raise _cannot_seal(error.message) from error


def _header_commitments(parts: list[HeaderPart], salts: bytes, values: WholeValues) -> bytes:
    out = bytearray()
    for at, part in enumerate(parts):
        try:
            out += part_commitment(part, salts[at * SIZE : (at + 1) * SIZE], values)
        except StashError as error:
            raise _cannot_seal(f"the value {shorten(part.name, 80)} is damaged: {error.message}") from error
    return bytes(out)


def _cannot_seal(message: str) -> StashError:
    return invalid_recording(
        f"this cannot be sealed: {message}",
        hint="a seal covers what means one thing; stashdbg convert writes it afresh",
    )


def _other_shape(what: str) -> StashError:
    return invalid_input(f"this is no redacted copy of the sealed recording: {what}", hint="redact the sealed file")
