"""A recording's parts beside the commitments of a seal: what differs, and what the seal does not cover.

Everything is hashed anew; nothing is taken from references or from links of the chain.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import Recording
from stashdbg_core.parse import parse_tolerant
from stashdbg_core.sanitize import shorten
from stashdbg_core.seal.chain import EVENT_SIZE, PARTS, SIZE, commitment, event_salts
from stashdbg_core.seal.header import HeaderPart, header_parts, part_commitment
from stashdbg_core.seal.result import Broken, Uncovered, Verdict
from stashdbg_core.seal.seal_file import Seal
from stashdbg_core.seal.texts import EventText, event_text, identity_text
from stashdbg_core.seal.values import STEP, Progress, blob_numbers, value_commitment
from stashdbg_core.seal.whole import WholeValues

MAX_BROKEN = 1000
_EDITED = dict(
    zip(
        PARTS,
        (Verdict.IDENTITY_EDITED, Verdict.NOTES_EDITED, Verdict.VALUE_EDITED, Verdict.INPUT_EDITED),
        strict=True,
    )
)
_sha256 = hashlib.sha256
_ORDER = ("identity", "value", "input", "notes")
_PLACEHOLDERS = (b"[REDACTED", b'"$stash":"dropped"')


@dataclass(slots=True)
class Differences:
    """What was found, before it gets a name."""

    broken: list[Broken] = field(default_factory=list)
    uncovered: list[Uncovered] = field(default_factory=list)
    header: list[tuple[str, str, Verdict]] = field(default_factory=list)
    """Kind, name and verdict of each part outside the events that differs."""
    events_checked: int = 0
    events_broken: int = 0


class Comparison:
    """One pass over a recording beside its seal."""

    def __init__(self, recording: Recording, seal: Seal) -> None:
        self._recording = recording
        self._seal = seal
        self._values = WholeValues(recording.blobs)
        self._named: set[str] = set()
        self.found = Differences()

    def run(self, progress: Progress | None = None) -> Differences:
        """Compare everything; events that are too many or too few are left to the caller."""
        total = len(self._recording.events)
        sealed = self._seal.counts.events
        for index, numbers in enumerate(blob_numbers(self._recording)):
            if progress is not None and index % STEP == 0:
                progress(index, total)
            event = event_text(self._recording.events, index)
            self._named.add(event.ref)
            if event.input_ref is not None:
                self._named.add(event.input_ref)
            if index >= sealed:
                continue
            if not self._is_sealed(event, index, *numbers):
                self._compare(event, index)
            self.found.events_checked += 1
            if len(self.found.broken) >= MAX_BROKEN:
                self._compare_id()
                return self.found
        self._compare_header()
        return self.found

    def _is_sealed(self, event: EventText, index: int, number: int, input_number: int) -> bool:
        """Tell whether an event is as sealed, the quick way; no is not final.

        A text that has the hash of a stored form is that form, so no value needs to be parsed.
        """
        if self._seal.secret is None or event.problem is not None:
            return False
        value = self._values.plain_text(event.ref, number)
        given = b"" if event.input_ref is None else self._values.plain_text(event.input_ref, input_number)
        if value is None or given is None:
            return False
        salts = event_salts(self._seal.secret, index)
        found = (
            _sha256(salts[:32] + event.identity).digest()
            + _sha256(salts[32:64] + event.notes).digest()
            + _sha256(salts[64:96] + value).digest()
            + _sha256(salts[96:] + given).digest()
        )
        at = index * EVENT_SIZE
        return found == self._seal.events[at : at + EVENT_SIZE]

    def _compare(self, event: EventText, index: int) -> None:
        salts = self._seal.event_salts(index)
        at = index * EVENT_SIZE
        broken: dict[str, Broken] = {}
        for place, (part, salt) in enumerate(zip(PARTS, salts, strict=True)):
            if salt is None:
                self.found.uncovered.append(Uncovered(event.seq, part, self._is_masked(event, part)))
                continue
            wanted = self._seal.events[at + place * SIZE : at + (place + 1) * SIZE]
            found = self._differs(event, part, salt, wanted)
            if found is not None:
                broken[part] = found
        if event.problem is not None:
            broken.setdefault("identity", Broken(event.seq, "identity", _fault(event.problem), event.problem))
        self.found.broken += [broken[part] for part in _ORDER if part in broken]
        self.found.events_broken += bool(broken)

    def _differs(self, event: EventText, part: str, salt: bytes, wanted: bytes) -> Broken | None:
        if part in ("identity", "notes"):
            text = event.identity if part == "identity" else event.notes
            return None if commitment(salt, text) == wanted else Broken(event.seq, part, _EDITED[part], event.problem)
        ref = event.ref if part == "value" else event.input_ref
        try:
            if value_commitment(self._values, ref, salt) == wanted:
                return None
        except StashError as error:
            return Broken(event.seq, part, self._verdict_of(error, ref or "", part, salt, wanted), error.message)
        if ref is not None and self._recording.blobs.payload(ref).state == "missing":
            return Broken(event.seq, part, Verdict.BLOB_MISSING)
        return Broken(event.seq, part, _EDITED[part])

    def _verdict_of(self, error: StashError, ref: str, part: str, salt: bytes, wanted: bytes) -> Verdict:
        """Return the word for a value that cannot be used: edited, or as it was with something wrong around it."""
        if error.details.get("ref") is None:
            raise error  # the file itself cannot be read
        if error.code is ErrorCode.NOT_FOUND:
            return Verdict.BLOB_MISSING
        bad = error.details["ref"]
        try:
            parsed = parse_tolerant(self._recording.blobs.payload(bad).raw)
        except StashError:
            return _EDITED[part]
        if not parsed.exact:
            return Verdict.AMBIGUOUS
        if bad != ref:
            return _EDITED[part]
        return Verdict.DAMAGED if commitment(salt, stored_form(parsed.tree)) == wanted else _EDITED[part]

    def _is_masked(self, event: EventText, part: str) -> bool:
        if part in ("identity", "notes"):
            return _holds_placeholder(event.identity if part == "identity" else event.notes)
        ref = event.ref if part == "value" else event.input_ref
        try:
            return ref is not None and _holds_placeholder(self._values.text(ref))
        except StashError:
            return False

    def _compare_header(self) -> None:
        try:
            parts = header_parts(self._recording, self._values, self._named)
        except StashError as error:
            self.found.header.append(("meta", error.message, Verdict.AMBIGUOUS))
            return
        counts = self._seal.counts
        sealed = ["version", "id"] + ["meta"] * counts.meta + ["extra"] * counts.extra + ["blob"] * counts.blobs
        kinds = [part.kind for part in parts]
        for kind, verdicts in _COUNTED.items():
            fewer, more = verdicts
            difference = kinds.count(kind) - sealed.count(kind)
            if difference:
                self.found.header.append((kind, f"{abs(difference)}", more if difference > 0 else fewer))
        if self.found.header:
            return
        for place, (part, salt) in enumerate(zip(parts, self._seal.header_salts(), strict=True)):
            self._compare_part(part, salt, self._seal.header[place * SIZE : (place + 1) * SIZE])

    def _compare_id(self) -> None:
        salt = self._seal.header_salts()[1]
        text = stored_form(self._recording.id)
        if salt is not None and commitment(salt, text) != self._seal.header[SIZE : 2 * SIZE]:
            self.found.header.append(("id", "", Verdict.ID_EDITED))

    def _compare_part(self, part: HeaderPart, salt: bytes | None, wanted: bytes) -> None:
        try:
            if salt is None:
                text = part.text if part.kind != "blob" else self._values.text(part.name)
                self.found.uncovered.append(Uncovered(None, _part_name(part), _holds_placeholder(text)))
                return
            same = part_commitment(part, salt, self._values) == wanted
        except StashError as error:
            if error.details.get("ref") is None:
                raise
            self.found.header.append((part.kind, part.name, Verdict.DAMAGED))
            return
        if not same:
            self.found.header.append((part.kind, part.name, _PART_EDITED[part.kind]))

    def place_sealed(self, index: int) -> int | None:
        """Return where the event that now stands at an index was sealed, if it is another place."""
        events = self._recording.events
        moved = event_text(events, index)
        for place in range(min(len(events), self._seal.counts.events)):
            salt = self._seal.event_salts(place)[0]
            if place == index or salt is None:
                continue
            seq = event_text(events, place).seq
            text = identity_text(seq, moved.channel, moved.key, moved.ordinal, moved.outcome)
            if commitment(salt, text) == self._seal.events[place * EVENT_SIZE : place * EVENT_SIZE + SIZE]:
                return place
        return None


_COUNTED = {
    "meta": (Verdict.META_EDITED, Verdict.META_EDITED),
    "extra": (Verdict.META_EDITED, Verdict.META_EDITED),
    "blob": (Verdict.BLOB_MISSING, Verdict.BLOB_ADDED),
}
"""For what there may be fewer of, or more: the words for both."""
_PART_EDITED = {
    "version": Verdict.META_EDITED,
    "id": Verdict.ID_EDITED,
    "meta": Verdict.META_EDITED,
    "extra": Verdict.META_EDITED,
    "blob": Verdict.BLOB_EDITED,
}


def _holds_placeholder(text: bytes) -> bool:
    return any(mark in text for mark in _PLACEHOLDERS)


def _fault(problem: str) -> Verdict:
    return Verdict.AMBIGUOUS if "twice" in problem or "UTF-8" in problem else Verdict.DAMAGED


def _part_name(part: HeaderPart) -> str:
    return f"{part.kind} {shorten(part.name, 80)}".rstrip()
