"""What the events of a recording hold, as numbers that are equal when the contents are.

References are never trusted: two files may give one reference to different texts. The first numbering hashes each
value's text with that of its shared pieces, and is one read a value; the second is by canonical form, and is only made
of what the first could not match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from stashdbg_core.calls import MEASURED_CHANNELS, read_site
from stashdbg_core.canonical import REF_PREFIX, Json, content_digest
from stashdbg_core.diff.envelope import without_envelope
from stashdbg_core.diff.structure import NOTHING
from stashdbg_core.errors import StashError
from stashdbg_core.exchange.shape import is_response
from stashdbg_core.model import BlobTable, Recording
from stashdbg_core.store.assembly import assemble, pieces_of
from stashdbg_core.store.blobs import FileBlobs
from stashdbg_core.store.events import FileEvents
from stashdbg_core.store.sharing_tags import may_share
from stashdbg_core.tags import STREAM, TAG

_ABSENT = b""
_LINE = re.compile(r":\d+(?=\s|$)")


class Contents:
    """The calls of a recording, one entry an event, and what they hold.

    Args:
        recording: Read once from end to end.
        beside: The recording it will be compared with; a text that was looked through there is not looked through here.
    """

    def __init__(self, recording: Recording, beside: Contents | None = None) -> None:
        self.recording = recording
        self._plain: set[bytes] = set() if beside is None else beside._plain
        """Digests of texts that use no shared pieces."""
        events = recording.events
        self.count = len(events)
        blobs = recording.blobs
        self._texts = _Texts(blobs)
        places = range(self.count)
        if isinstance(events, FileEvents) and isinstance(blobs, FileBlobs):
            self.names = list(zip(map(events.channel_at, places), map(events.key_at, places), strict=True))
            self.outcomes = list(map(events.outcome_at, places))
            self.ordinals = list(map(events.ordinal_at, places))
            by_number = _ByNumber(events, blobs, self._texts, self._plain)
            self.values = [by_number.digest(events.blob_at(place), place, "value") for place in places]
            self.inputs = [by_number.digest(events.input_blob_at(place), place, "input") for place in places]
            return
        self.names, self.outcomes, self.ordinals, self.values, self.inputs = [], [], [], [], []
        for event in events:
            self.names.append((event.channel, event.key))
            self.outcomes.append(event.outcome)
            self.ordinals.append(event.ordinal)
            self.values.append(self._texts.digest(event.ref))
            self.inputs.append(_ABSENT if event.input_ref is None else self._texts.digest(event.input_ref))

    def is_measured(self, place: int) -> bool:
        """Tell whether an event is a value of a clock or of chance."""
        return self.names[place][0] in MEASURED_CHANNELS

    @property
    def lanes(self) -> Sequence[str | None]:
        """The lane of every event."""
        events = self.recording.events
        if isinstance(events, FileEvents):
            return list(map(events.thread_at, range(self.count)))
        return [event.thread for event in events]

    def read_site(self, place: int) -> str | None:
        """Return the function that read a value, where the input says nothing else; None for what was given more."""
        event = self.recording.events[place]
        if not self.is_measured(place) or event.input_ref is None:
            return None
        site = self._texts.site(event.input_ref)
        return None if site is None else _without_line(site)

    def site(self, place: int) -> str | None:
        """Return the function that made a call, as far as it is known."""
        site = self.recording.events[place].site
        return self.read_site(place) if site is None else _without_line(site)

    def whole(self, place: int) -> tuple[bytes, bytes]:
        """Return digests of an event's value and input by canonical form; of the text where it cannot be read."""
        event = self.recording.events[place]
        value = self._texts.canonical(event.ref)
        return value, _ABSENT if event.input_ref is None else self._texts.canonical(event.input_ref)

    def said(self, place: int) -> tuple[bytes, bytes]:
        """Return the same digests without what says only when a call was made and which one it was."""
        event = self.recording.events[place]
        value = self._texts.said(event.channel, event.ref)
        return value, _ABSENT if event.input_ref is None else self._texts.said(event.channel, event.input_ref)


class _ByNumber:
    """Digests by place in a file's blob table, so that most references are not even read."""

    def __init__(self, events: FileEvents, blobs: FileBlobs, texts: _Texts, plain: set[bytes]) -> None:
        self._plain = plain
        self._events = events
        self._blobs = blobs
        self._texts = texts
        self._known: dict[int, bytes] = {}

    def digest(self, number: int, place: int, part: str) -> bytes:
        known = self._known.get(number)
        if known is not None:
            return known
        if number < 0:
            event = self._events[place]
            ref = event.ref if part == "value" else event.input_ref
            return _ABSENT if ref is None else self._texts.digest(ref)
        raw = self._blobs.raw_at(number)
        digest = sha256(raw).digest()
        if digest not in self._plain:
            if may_share(raw):
                digest = self._texts.digest(self._blobs.ref_at(number))
            else:
                self._plain.add(digest)
        self._known[number] = digest
        return digest


class _Texts:
    """Digests by reference."""

    def __init__(self, blobs: BlobTable) -> None:
        self._blobs = blobs
        self._known: dict[str, bytes] = {}
        self._canonical: dict[str, bytes] = {}
        self._said: dict[tuple[str, str], bytes] = {}
        self._sites: dict[str, str | None] = {}
        self._read = _reader(blobs)

    def canonical(self, ref: str) -> bytes:
        """Return a digest that equal values share, whatever their key order, spelling and sharing."""
        known = self._canonical.get(ref)
        if known is None:
            known = self._canonical[ref] = self._digest_of(ref, whole_value(self._blobs, ref)[0])
        return known

    def said(self, channel: str, ref: str) -> bytes:
        """Return a digest as ``canonical`` does, of a value without its envelope."""
        known = self._said.get((channel, ref))
        if known is None:
            tree, _ = whole_value(self._blobs, ref)
            bare = without_envelope(channel, tree)
            known = self._said[channel, ref] = self._digest_of(ref, bare)
            if bare is tree:
                self._canonical[ref] = known
        return known

    def _digest_of(self, ref: str, tree: Any) -> bytes:
        return self.digest(ref) if tree is NOTHING else bytes.fromhex(content_digest(comparable(tree)))

    def site(self, ref: str) -> str | None:
        """Return the site that an input is, if it is no more."""
        if ref not in self._sites:
            self._sites[ref] = read_site(whole_value(self._blobs, ref)[0])
        return self._sites[ref]

    def digest(self, ref: str) -> bytes:
        """Return a digest of a value's text and, where it has shared pieces, of theirs."""
        known = self._known
        pending = [ref]
        opened: dict[str, tuple[bytes, tuple[str, ...]]] = {}
        while pending:
            current = pending[-1]
            if current in known:
                pending.pop()
                continue
            if current not in opened:
                opened[current] = self._look(current)
                pieces = opened[current][1]
                waiting = [piece for piece in pieces if piece not in known and piece not in opened]
                if waiting:
                    pending += waiting
                    continue
            pending.pop()
            raw, pieces = opened.pop(current)
            # A piece that is still open holds this one: a cycle, which no reader can put together either.
            known[current] = sha256(b"".join([raw, *(known.get(piece, b"cycle") for piece in pieces)])).digest()
        return known[ref]

    def _look(self, ref: str) -> tuple[bytes, tuple[str, ...]]:
        raw = self._read(ref)
        if raw is None:
            # A reference of ours still says what the value was; of another tool's, nothing can be said.
            return b"missing " + (ref.encode("utf-8", "surrogatepass") if ref.startswith(REF_PREFIX) else b""), ()
        if not may_share(raw):
            return raw, ()
        try:
            return raw, pieces_of(raw)
        except StashError:
            return raw, ()


def _without_line(site: str) -> str:
    """Return file and function of ``agent.py:42 plan``: an edit further up moves a line, and no call."""
    return _LINE.sub("", site, count=1)


def whole_value(blobs: BlobTable, ref: str | None) -> tuple[Any, str | None]:
    """Return a value's tree and what is wrong with it, if anything.

    A damaged value is returned as it stands; ``NOTHING`` stands for one that is missing, no JSON, or not there at all.
    """
    if ref is None:
        return NOTHING, None
    try:
        return blobs.tree(ref), None
    except StashError as problem:
        return _as_found(blobs, ref), problem.message


def _as_found(blobs: BlobTable, ref: str) -> Any:
    def fetch(wanted: str) -> bytes:
        payload = blobs.payload(wanted)
        if payload.state == "missing":
            raise KeyError(wanted)
        return payload.raw

    try:
        return assemble(fetch(ref), fetch)
    except (KeyError, StashError):
        return NOTHING


def comparable(tree: Json) -> Json:
    """Return what is compared of a value: of a stream, a response's too, all but when its chunks came."""
    if is_response(tree):
        assert isinstance(tree, dict)
        body = _untimed(tree["body"])
        return tree if body is tree["body"] else {**tree, "body": body}
    return _untimed(tree)


def _untimed(tree: Json) -> Json:
    if type(tree) is dict and tree.get(TAG) == STREAM and "times" in tree:
        return {key: value for key, value in tree.items() if key != "times"}
    return tree


def _reader(blobs: BlobTable) -> Callable[[str], bytes | None]:
    """Return what gives a value's text as it stands, or None; nothing is checked."""
    if isinstance(blobs, FileBlobs):

        def from_file(ref: str) -> bytes | None:
            number = blobs.number_of(ref)
            return None if number is None else blobs.raw_at(number)

        return from_file

    def from_table(ref: str) -> bytes | None:
        payload = blobs.payload(ref)
        return None if payload.state == "missing" else payload.raw

    return from_table
