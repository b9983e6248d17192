"""Masking by stored piece: what many values share is walked once for each way in which a name announces it.

The result is that of a walk over the whole value, leaf by leaf and number by number. A piece is walked in its place in
that order when it is first met, and later stands for what came of it. What a stream says across its chunks, and what an
error repeats of its arguments, is only seen whole, so a piece that holds one is walked with everything below it put in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.redact.edits import Place
from stashdbg_core.redact.pieces import Pieces
from stashdbg_core.redact.skeleton import Link, with_tags
from stashdbg_core.redact.walk import Pass, Step, Walk
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.sharing import PIECE_SIZE, Sharer
from stashdbg_core.store.sharing_tags import list_tag

PART: Final = "part"
"""Stands for the pair of a list that is part of a longer one, whose items are all objects and lists."""
_LEAF: Final = "leaf"
Findings: TypeAlias = list[tuple[str, str]]
"""Pointers and kinds."""


class _Outcome(NamedTuple):
    """What came of a piece."""

    value: Any
    """The ref of the masked piece; of a leaf, what stands for it, None if it stays. A scan leaves all as it is."""
    counts: dict[str, int]
    findings: Findings


class PieceMasker:
    """Masks the values of a store, each into a new one in the same store.

    Args:
        store: Where the values are.
        pieces: What is known of them.
        each: How they are masked.
    """

    def __init__(self, store: BlobStore, pieces: Pieces, each: Pass) -> None:
        self.pieces = pieces
        self._store = store
        self._sharer = Sharer(store.put_stored)
        self._each = each
        self._outcomes: dict[tuple[str, str | None, str | None], _Outcome] = {}

    def mask(self, ref: str) -> str:
        """Return the ref of a sound value masked: its own if there was nothing to mask."""
        value: str = self._outcome(ref).value
        return ref if value == self.pieces.target(ref) else value

    def findings(self, ref: str) -> Findings:
        """Return pointer and kind of what would be masked in a sound value, in the order of a walk."""
        return self._outcome(ref).findings

    def leaf(self, ref: str, kind: str | None, look: Callable[[Json, str | None], Json]) -> _Outcome:
        """Return what comes of a leaf that is a piece of its own."""
        key = self.pieces.target(ref), kind, _LEAF
        known = self._outcomes.get(key)
        if known is not None:
            self._each.again(known.counts)
            return known
        before = dict(self._each.counts())
        new = look(self.pieces.view(Link(ref)), kind)
        value = None if new is None or self._each.kinds is not None else self.inlined(new)
        known = self._outcomes[key] = _Outcome(value, self._since(before), [("", found) for found in self.taken()])
        return known

    def inlined(self, value: Json) -> Json:
        """Return what stands for a leaf in its parent: itself, or a link if it is large."""
        stored = stored_form(value)
        return value if len(stored) < PIECE_SIZE else Link(self._store.put_stored(stored))

    def tell(self, outcome: _Outcome) -> None:
        """Say again which kinds were found in a leaf."""
        if self._each.kinds is not None:
            self._each.kinds += [kind for _, kind in outcome.findings]

    def taken(self) -> list[str]:
        """Return the kinds found since the last time."""
        kinds = list(dict.fromkeys(self._each.kinds or ()))
        if self._each.kinds is not None:
            self._each.kinds.clear()
        return kinds

    def _outcome(self, ref: str) -> _Outcome:
        known = self._known(ref, None, None)
        if known is not None:
            self._each.again(known.counts)
            return known
        frames = [self._frame(ref, None, None)]
        while frames:
            frame = frames[-1]
            wanted = self._go_on(frame)
            if wanted is not None:
                frames.append(self._frame(*wanted))
                continue
            frames.pop()
            known = self._finished(frame)
            if frames:
                self._deliver(frames[-1], known)
        assert known is not None
        return known

    def _known(self, ref: str, kind: str | None, pair: str | None) -> _Outcome | None:
        if kind is None and (pair is None or pair is PART) and self.pieces.is_clean(ref):
            return _Outcome(ref, {}, [])
        return self._outcomes.get((self.pieces.target(ref), kind, pair))

    def _frame(self, ref: str, kind: str | None, pair: str | None) -> _Frame:
        pieces = self.pieces
        target = pieces.target(ref)
        found = pieces.skeleton(target)
        frame = _Frame(target, kind, pair, dict(self._each.counts()))
        if found.parts is None:
            frame.tree = found.tree
        elif pieces.is_leafless(target) and (pair is PART or (pair is None and not self._may_be_pairs(target, kind))):
            frame.tree, frame.parts, frame.pair_within = found.tree, found.parts, PART
        else:
            frame.tree = pieces.flat(target)
        told = frame.found(self) if self._each.kinds is not None else None
        frame.walk = self._each.make(_PieceWalk, masker=self, found=told)
        frame.walk.begin(frame.tree, kind, frame.pair_within or pair)
        return frame

    def _may_be_pairs(self, ref: str, kind: str | None) -> bool:
        """Tell whether the first item of a list may be a pair, as all of its items then may."""
        if kind is not None:
            return False
        while True:
            found = self.pieces.skeleton(self.pieces.target(ref))
            first = next((part for part in found.parts or () if self.pieces.length(part)), None)
            if first is None:
                break
            ref = first
        items = found.tree
        return not items or self._each.make(_PieceWalk, masker=self, found=None).pair_of(items[0]) is not None

    def _go_on(self, frame: _Frame) -> tuple[str, str | None, str | None] | None:
        """Walk until a piece is met that was not walked before, and return it; None at the end."""
        while len(frame.new_parts) < len(frame.parts):
            part = frame.parts[len(frame.new_parts)]
            known = self._known(part, frame.kind, PART)
            if known is None:
                return part, frame.kind, PART
            self._each.again(known.counts)
            self._deliver(frame, known)
        walk = frame.walk
        while walk.pending:
            step = walk.pending.pop()
            link = step.place.container
            if type(link) is not Link:
                walk.take(step)
                continue
            frame.step = step
            known = self._known(link.ref, step.kind, step.pair)
            if known is None:
                return link.ref, step.kind, step.pair
            self._each.again(known.counts)
            self._deliver(frame, known)
        return None

    def _deliver(self, frame: _Frame, outcome: _Outcome) -> None:
        """Put what came of a piece in the place where its owner waits for it."""
        at = len(frame.new_parts)
        if at < len(frame.parts):
            part = frame.parts[at]
            is_same = outcome.value == self.pieces.target(part)
            frame.new_parts.append(part if is_same else outcome.value)
            frame.findings += [(_shifted(pointer, frame.offset), kind) for pointer, kind in outcome.findings]
            frame.offset += self.pieces.length(part)
            return
        step, frame.step = frame.step, None
        assert step is not None
        assert step.place.parent is not None
        place, key = step.place.parent, step.place.key
        if outcome.value not in (step.place.container.ref, self.pieces.target(step.place.container.ref)):
            frame.walk.edits.values.append((place, key, Link(outcome.value)))
        if outcome.findings:
            start = frame.pointer(place, key)
            frame.findings += [(start + pointer, kind) for pointer, kind in outcome.findings]

    def _finished(self, frame: _Frame) -> _Outcome:
        new = frame.walk.result(frame.tree) if self._each.kinds is None else frame.tree
        parts = tuple(frame.new_parts)
        if new is frame.tree and parts == frame.parts:
            ref = frame.ref
        elif parts:
            items = [self._sharer.inline(stored_form(item)) for item in with_tags(new)]
            ref = self._store.put_stored(list_tag(parts, items))
        else:
            ref = self._sharer.store_tagged(stored_form(with_tags(new)))
        outcome = _Outcome(ref, self._since(frame.before), frame.findings)
        self._outcomes[frame.ref, frame.kind, frame.pair] = outcome
        return outcome

    def _since(self, before: Mapping[str, int]) -> dict[str, int]:
        now = self._each.counts()
        return {kind: count - before.get(kind, 0) for kind, count in now.items() if count != before.get(kind, 0)}


@dataclass(slots=True)
class _Frame:
    """A piece being walked."""

    ref: str
    kind: str | None
    pair: str | None
    before: dict[str, int]
    tree: Any = None
    parts: tuple[str, ...] = ()
    pair_within: str | None = None
    walk: Walk = field(init=False)
    step: Step | None = None
    """The place that waits for a piece."""
    new_parts: list[str] = field(default_factory=list)
    offset: int = 0
    """How many items the parts so far have."""
    findings: Findings = field(default_factory=list)

    def pointer(self, place: Place, key: str | int) -> str:
        pointer = place.pointer(key)[len("/0") :]  # the walk starts from a list around the tree
        return _shifted(pointer, self.offset) if self.parts else pointer

    def found(self, masker: PieceMasker) -> Callable[[Place, str | int], None]:
        def found(place: Place, key: str | int) -> None:
            pointer = self.pointer(place, key)
            self.findings += [(pointer, kind) for kind in masker.taken()]

        return found


def _shifted(pointer: str, offset: int) -> str:
    """Return the pointer of what stands that many items later in a list."""
    if not offset:
        return pointer
    first, slash, rest = pointer[1:].partition("/")
    return f"/{int(first) + offset}{slash}{rest}"


@dataclass(slots=True)
class _PieceWalk(Walk):
    """A walk that stops at links."""

    masker: PieceMasker = field(kw_only=True)

    def _view(self, value: Json) -> Json:
        return self.masker.pieces.view(value)

    def _look(self, place: Place, key: str | int, value: Json, kind: str | None, pair: str | None = None) -> None:
        if type(value) is not Link:
            Walk._look(self, place, key, value, kind, pair)
        elif not self.masker.pieces.is_leaf(value.ref):
            self.pending.append(Step(Place(value, place, key), kind, pair))
        else:
            outcome = self.masker.leaf(value.ref, kind, self._masked_leaf)
            if outcome.value is not None:
                self.edits.values.append((place, key, outcome.value))
            if outcome.findings and self.found is not None:
                self.masker.tell(outcome)
                self.found(place, key)

    def _masked_leaf(self, value: Json, kind: str | None) -> Json:
        """Return a leaf masked; None if there was nothing to mask."""
        alone = Walk(self.mask_text, self.kind_of, self.mask_chunks, every_text=self.every_text)
        alone.begin(value, kind)
        return alone.result(value) if alone.edits.values else None

    def _list(self, step: Step) -> None:
        place, items = step.place, step.place.container
        if step.pair is PART:
            for position, item in enumerate(items):
                self._look(place, position, item, step.kind)
            return
        view, is_leaf = self._view, self.masker.pieces.is_leaf
        if any(type(item) is Link and is_leaf(item.ref) for item in items):  # a text may announce the next
            items = [view(item) if type(item) is Link and is_leaf(item.ref) else item for item in items]
            step = Step(Place(items, place.parent, place.key), step.kind, step.pair)
        Walk._list(self, step)
