"""A masked copy of a recording: values, inputs, errors, keys, labels, ids, meta.

What holds nothing to mask keeps its bytes and its ref. Each stored piece is masked once for each way in which a name
announces it, for a name may stand in one piece and its secret in another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import RawObject, RecordedEvent, Recording
from stashdbg_core.redact.pieces import Pieces
from stashdbg_core.redact.redactor import Redactor
from stashdbg_core.redact.scan import EVENT_TEXTS, JSON_NAMES, REDACTION, event_texts
from stashdbg_core.redact.shared import PieceMasker
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList


def redact_recording(recording: Recording, redactor: Redactor | None = None) -> Recording:
    """Return a copy of ``recording`` with everything masked that ``redactor`` knows as secret.

    Placeholders that are there already stay, and their numbers are not given again. ``meta.redaction`` says how many
    places were masked by kind, on top of what it said before.
    """
    redactor = redactor or Redactor()
    copy = _Copy(recording, redactor)
    events = EventList([copy.event(event) for event in recording.events])
    copy.rest()
    new_id, extra = redactor.redact_text(recording.id), _object(recording.extra, redactor)
    meta = _object(recording.meta, redactor, leave=REDACTION)
    described = _described(meta, redactor)
    return replace(
        recording,
        id=new_id,
        events=events,
        blobs=copy.blobs,
        meta=meta.replaced(redaction=described),
        extra=extra,
        path=None,
    )


class _Copy:
    def __init__(self, recording: Recording, redactor: Redactor) -> None:
        self._table = recording.blobs
        self._redactor = redactor
        self._work = BlobStore(recording.blobs)
        """The values, and what becomes of their pieces on the way."""
        self._pieces = Pieces(self._work, redactor.suspects)
        self._maskers = [PieceMasker(self._work, self._pieces, each) for each in redactor.passes()]
        self._new_refs: dict[str, str] = {}
        self.blobs = BlobStore()
        for ref in self._table.refs():
            raw = self._table.payload(ref).raw
            if b"REDACTED" in raw:
                redactor.reserve(raw.decode("utf-8", "replace"))

    def event(self, event: RecordedEvent) -> RecordedEvent:
        """Return a masked copy of an event, its values stored."""
        texts = event_texts(event)
        masked = self._redactor.redact_tree(texts)
        changes: dict[str, object] = {"ref": self._stored(event.ref)}
        if event.input_ref is not None:
            changes["input_ref"] = self._stored(event.input_ref)
        if masked is not texts:
            for name in EVENT_TEXTS:
                if getattr(event, name) is not None:
                    changes[name] = masked[JSON_NAMES.get(name, name)]
            named = {JSON_NAMES.get(name, name) for name in EVENT_TEXTS}
            changes["extra"] = {
                key: event.extra[key] if masked[key] is texts.get(key) else stored_form(masked[key])
                for key in masked
                if key not in named
            }
        return event.replaced(**changes)

    def rest(self) -> None:
        """Copy what no event reaches."""
        for ref in self._table.refs():
            if ref not in self._new_refs and ref not in self._pieces.reached:
                self._stored(ref)

    def _stored(self, ref: str) -> str:
        known = self._new_refs.get(ref)
        if known is None:
            known = self._new_refs[ref] = self._copied(ref)
        return known

    def _copied(self, ref: str) -> str:
        if self._pieces.is_clean(ref):
            self._keep(ref)
            return ref
        if not self._pieces.is_sound(ref):
            return self._whole(ref)
        for masker in self._maskers:
            ref = masker.mask(ref)
        self._keep(ref)
        return ref

    def _whole(self, ref: str) -> str:
        """Mask a value that is damaged, or breaks a limit, as far as it goes."""
        try:
            tree = self._table.tree(ref)
        except StashError:
            raw = self._table.payload(ref).raw
            if raw:
                text = raw.decode("utf-8", "surrogateescape")
                self.blobs.put_raw(ref, self._redactor.redact_text(text).encode("utf-8", "surrogateescape"))
            return ref
        masked = self._redactor.redact_tree(tree)
        if masked is tree:
            self._keep(ref)
            return ref
        return self.blobs.put(masked)

    def _keep(self, ref: str) -> None:
        """Copy a value and its pieces as they stand; missing ones stay missing."""
        pending = [ref]
        while pending:
            piece = pending.pop()
            if piece not in self.blobs and (raw := self._work.payload(piece).raw):
                self.blobs.put_raw(piece, raw)
                pending.extend(self._pieces.pieces(piece))


def _object(given: RawObject, redactor: Redactor, leave: str = "") -> RawObject:
    tree = {key: given[key] for key in given if key != leave}
    masked = redactor.redact_tree(tree)
    if masked is tree:
        return given
    if leave in given:
        masked = {**masked, leave: given[leave]}
    return RawObject(
        {key: given.raw[key] if tree.get(key) is value else stored_form(value) for key, value in masked.items()}
    )


def _described(meta: Mapping[str, Json], redactor: Redactor) -> Json:
    """Return ``meta.redaction``: who masked, and how many places by kind, earlier ones included."""
    before = meta.get(REDACTION)
    described = {k: redactor.redact_tree(v) for k, v in before.items() if k != "counts"} if type(before) is dict else {}
    counts = before.get("counts") if type(before) is dict else None
    total = {key: count for key, count in counts.items() if type(count) is int} if type(counts) is dict else {}
    for kind, count in redactor.counts.items():
        total[kind] = total.get(kind, 0) + count
    described.setdefault("rules", "default")
    described["counts"] = dict(sorted(total.items()))
    return described
