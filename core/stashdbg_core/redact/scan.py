"""What secrets a recording still holds, by event, part and pointer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.parse import parse_json
from stashdbg_core.redact.pieces import Pieces
from stashdbg_core.redact.redactor import Redactor
from stashdbg_core.redact.shared import PieceMasker
from stashdbg_core.store.blob_store import BlobStore


@dataclass(frozen=True, slots=True)
class ScanFinding:
    """One secret in a recording; never the secret itself."""

    seq: int | None
    """The event it belongs to; None for ``meta``, ``id``, unknown keys and values that no event reaches."""
    part: str
    """``value``, ``input``, ``event`` (its own keys), ``meta``, ``recording`` or ``blob``."""
    pointer: str
    """RFC 6901, masked itself: a key may be a secret."""
    kind: str

    def to_json(self) -> dict[str, Json]:
        """Return the finding as ``stashdbg scan --json`` has it."""
        return {"seq": self.seq, "part": self.part, "pointer": self.pointer, "kind": self.kind}


EVENT_TEXTS = ("key", "label", "thread", "call_id", "site")
"""Attributes of an event that are the program's own text. ``channel`` and refs are not."""
JSON_NAMES = {"call_id": "callId"}
REDACTION = "redaction"
"""The key of ``meta`` that counts what was masked, by kinds that look like names."""


def scan_tree(tree: Json, redactor: Redactor | None = None) -> list[tuple[str, str]]:
    """Return pointer and kind of every secret in a tree."""
    return [(found.pointer, found.kind) for found in (redactor or Redactor()).findings(tree)]


def kind_words(kinds: Iterable[str]) -> str:
    """Return how many of each kind there are, the most first: ``3 api-key, 1 cookie``."""
    counts = sorted(Counter(kinds).items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {kind}" for kind, count in counts)


def scan_recording(recording: Recording, redactor: Redactor | None = None) -> Iterator[ScanFinding]:
    """Yield the secrets of a recording in the order of its events; each stored piece is searched once.

    A value that several events share is reported for the first of them.
    """
    redactor = redactor or Redactor()
    for found in _findings_of(recording, redactor):
        pointer = "/".join(map(redactor.redact_text, found.pointer.split("/")))
        yield found if pointer == found.pointer else replace(found, pointer=pointer)


def _findings_of(recording: Recording, redactor: Redactor) -> Iterator[ScanFinding]:
    masker = PieceMasker(
        BlobStore(recording.blobs), Pieces(recording.blobs, redactor.suspects), redactor.finding_pass()
    )
    seen: set[str] = set()
    for event in recording.events:
        for pointer, kind in redactor.findings(event_texts(event)):
            yield ScanFinding(event.seq, "event", pointer, kind)
        for part, ref in (("value", event.ref), ("input", event.input_ref)):
            if ref is not None and ref not in seen:
                seen.add(ref)
                for pointer, kind in _findings(recording, ref, masker, redactor):
                    yield ScanFinding(event.seq, part, pointer, kind)
    for pointer, kind in redactor.findings({key: recording.meta[key] for key in recording.meta if key != REDACTION}):
        yield ScanFinding(None, "meta", pointer, kind)
    rest = {"id": recording.id, **{key: recording.extra[key] for key in recording.extra}}
    for pointer, kind in redactor.findings(rest):
        yield ScanFinding(None, "recording", pointer, kind)
    for ref in recording.blobs.refs():
        if ref not in seen and ref not in masker.pieces.reached:
            for pointer, kind in _findings(recording, ref, masker, redactor):
                yield ScanFinding(None, "blob", f"/{ref}{pointer}", kind)


def event_texts(event: RecordedEvent) -> dict[str, Json]:
    """Return what of an event's own record may hold a secret, by its key in the file."""
    texts: dict[str, Json] = {}
    for name in EVENT_TEXTS:
        text = getattr(event, name)
        if text is not None:
            texts[JSON_NAMES.get(name, name)] = text
    texts.update((key, parse_json(raw)) for key, raw in event.extra.items())
    return texts


def _findings(recording: Recording, ref: str, masker: PieceMasker, redactor: Redactor) -> list[tuple[str, str]]:
    if masker.pieces.is_clean(ref):
        return []
    if masker.pieces.is_sound(ref):
        return masker.findings(ref)
    try:
        tree = recording.blobs.tree(ref)
    except StashError:
        tree = recording.blobs.payload(ref).raw.decode("utf-8", "replace")
    return [(found.pointer, found.kind) for found in redactor.findings(tree)]
