"""Finding a text in a run: where it stands, event by event, and where it stood first.

Hits come in the order of events, and within one in the order key, label, input, value: an input is there before what
came of it. A literal is taken as it stands; only ``/pattern/`` is a pattern. Hit texts are recorded and unsanitised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session.payload_match import PayloadMatch
from stashdbg_core.session.pointers import path_pointer, scalar_text, walk
from stashdbg_core.session.predicate import anywhere, set_positions, slices_forward
from stashdbg_core.session.tasks import Steps
from stashdbg_core.session.text_match import TextMatch

HitPart: TypeAlias = Literal["key", "label", "input", "value"]
PARTS: tuple[HitPart, ...] = ("key", "label", "input", "value")

MOST_HITS = 100_000
_AROUND = 40
"""Characters shown before and after what was found."""
_FOUND = 200
_MEASURED = 32
"""Events with hits between two chances to stop."""
_PATTERN = re.compile(r"/(.*)/([ims]*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where the text stands."""

    position: int
    """Index of the event."""
    seq: int
    part: HitPart
    pointer: str
    """Where in the input or value (RFC 6901); ``""`` for the key, the label, or a value that is one scalar."""
    text: str
    """What was found with a little around it, ``…`` where it was cut."""
    start: int
    """Where in ``text`` the found part begins, and how long it is."""
    length: int
    in_key: bool = False
    """Whether it stands in the name of a field rather than in its value."""

    def to_json(self) -> dict[str, Json]:
        """Return the hit under the names that ``stashdbg search --json`` prints."""
        return {"seq": self.seq, "part": self.part, "pointer": self.pointer, "text": self.text}


def search_match(text: str) -> TextMatch:
    """Return what a person looks for: the text as it stands, or ``/pattern/`` with flags.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: empty, too long, or no valid pattern.
    """
    pattern = _PATTERN.fullmatch(text)
    if pattern and pattern.group(1):
        return TextMatch(pattern.group(1).replace("\\/", "/"), "regex", pattern.group(2))
    return TextMatch(text)


class Search:
    """A search that goes on while its hits are looked at.

    Args:
        recording: Where to look.
        wanted: A text, ``/pattern/``, or what was made of one.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there is nothing to look for, or the pattern is none.
    """

    def __init__(self, recording: Recording, wanted: str | TextMatch) -> None:
        self.recording = recording
        self.match = search_match(wanted) if isinstance(wanted, str) else wanted
        self.hits: list[Hit] = []
        """What was found so far, in order."""
        self.scanned = 0
        """Events gone through so far."""
        self.truncated = False
        """Whether the search stopped because it had found ``MOST_HITS``."""
        self._payloads = PayloadMatch(recording, self.match)

    def steps(self, most: int = MOST_HITS) -> Steps[list[Hit]]:
        """Search in slices and return all hits; ``hits`` and ``scanned`` grow meanwhile.

        Raises:
            StashError: A pattern takes too long, or the file cannot be read any more.
        """
        count = len(self.recording.events)
        node = anywhere(self.recording, self.match, self._payloads, ("key",))
        try:
            for start, mask in slices_forward(node, 0, count):
                yield from self._take(set_positions(start, mask), most)
                self.scanned = start + len(mask)
                if self.truncated:
                    break
        except StashError:  # in the midst of a slice; its events before the bad one may have hits
            yield from self._take(iter(range(self.scanned, count)), most)
        return self.hits

    def _take(self, positions: Iterator[int], most: int) -> Iterator[None]:
        """Append the hits of some events, in steps."""
        for count, index in enumerate(positions, 1):
            for hit in self._hits_of(index):
                if len(self.hits) >= most:
                    self.truncated = True
                    return
                self.hits.append(hit)
            self.scanned = index + 1
            if count % _MEASURED == 0:
                yield
        yield

    def _hits_of(self, index: int) -> Iterator[Hit]:
        events = self.recording.events
        event: RecordedEvent | None = None
        for part in PARTS:
            if part in ("input", "value"):
                if self._payloads.at(index, part):
                    event = event or events[index]
                    yield from self._payload_hits(index, event, part)
                continue
            event = event or events[index]
            text = event.key if part == "key" else event.label
            if text:
                yield from _text_hits(index, event.seq, part, text, self.match)

    def _payload_hits(self, index: int, event: RecordedEvent, part: HitPart) -> Iterator[Hit]:
        match = self.match
        try:
            tree = self._payloads.tree(index, part)
        except StashError:
            ref = event.ref if part == "value" else event.input_ref
            raw = self.recording.blobs.payload(ref or "").raw
            yield from _text_hits(index, event.seq, part, raw.decode("utf-8", "replace"), match)
            return
        for path, key, node in walk(tree):
            if key is not None and (place := match.first(key)) is not None:
                yield _hit(index, event.seq, part, path_pointer(path), key, place, in_key=True)
            text = scalar_text(node)
            if text is not None and (place := match.first(text)) is not None:
                yield _hit(index, event.seq, part, path_pointer(path), text, place)


def origin_steps(recording: Recording, text: str) -> Steps[Hit | None]:
    """Find in slices where a text stood first, as it is spelled; None if it stands nowhere.

    Raises:
        StashError: It is empty, or the file cannot be read any more.
    """
    search = Search(recording, TextMatch(text))
    yield from search.steps(most=1)
    return search.hits[0] if search.hits else None


def _text_hits(index: int, seq: int, part: HitPart, text: str, match: TextMatch) -> Iterator[Hit]:
    """Yield the first place of a text; a second one in the same text is the same hit."""
    place = match.first(text)
    if place is not None:
        yield _hit(index, seq, part, "", text, place)


def _hit(
    index: int, seq: int, part: HitPart, pointer: str, text: str, place: tuple[int, int], *, in_key: bool = False
) -> Hit:
    shown, at = _excerpt(text, *place)
    return Hit(index, seq, part, pointer, shown, at, min(place[1] - place[0], _FOUND), in_key)


def _excerpt(text: str, start: int, end: int) -> tuple[str, int]:
    """Return what stands around a found part on one line, and where in it the part begins."""
    end = min(end, start + _FOUND)
    first, last = max(start - _AROUND, 0), end + _AROUND
    before = ("…" if first else "") + text[first:start]
    return before + text[start:last] + ("…" if last < len(text) else ""), len(before)
