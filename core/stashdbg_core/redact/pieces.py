"""What is known of every stored piece of a table, each looked at once however many values share it.

Whether a value can hold a secret, and whether it can be put together at all, follows from its pieces. What is damaged,
missing, contains itself or breaks a limit is told apart, for it is not walked piece by piece.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from stashdbg_core.errors import StashError
from stashdbg_core.model import BlobTable
from stashdbg_core.redact.skeleton import Link, Skeleton, skeleton
from stashdbg_core.store.assembly import MAX_DEPTH, MAX_HOPS, MAX_PIECES, MAX_SIZE
from stashdbg_core.store.sharing_tags import may_share

_KEPT: Final = 8_000_000
"""Bytes of pieces whose trees are kept."""
_SPACE: Final = b" \t\r\n"
_LEAF, _OBJECT, _LIST = "leaf", "object", "list"


@dataclass(slots=True)
class _Piece:
    suspect: bool
    """Whether its own text may hold something to mask."""
    sound: bool
    """Whether it, with its pieces, can be put together."""
    uses: tuple[str, ...]
    shape: str
    target: str
    """Its own ref, or that of the piece it stands for if it is nothing but a link."""
    size: int
    clean: bool = True
    """Whether it, with its pieces, surely holds nothing to mask; not known of what is not sound."""
    count: int = 1
    depth: int = 0
    height: int = 0
    parts: tuple[str, ...] | None = None
    length: int = -1
    """Items of a list, those of its parts included; -1 if nobody asked yet."""
    leafless: bool = False
    """Whether all items of a list are objects and lists."""


class Pieces:
    """Remembers what the pieces of one table are.

    Args:
        blobs: The table; values may be added to it.
        suspects: Tells whether stored bytes may hold something to mask: never no where there is.
    """

    def __init__(self, blobs: BlobTable, suspects: Callable[[bytes], bool]) -> None:
        self._blobs = blobs
        self._suspects = suspects
        self._known: dict[str, _Piece] = {}
        self._trees: OrderedDict[str, tuple[Skeleton, int]] = OrderedDict()
        self._room = _KEPT
        self.reached: set[str] = set()
        """Refs seen from values asked about, as pieces of them."""

    def is_clean(self, ref: str) -> bool:
        """Tell whether the value under ``ref``, its pieces included, surely holds nothing to mask."""
        piece = self._survey(ref)
        if piece.sound:
            return piece.clean
        pending, seen = [ref], {ref}
        while pending:
            piece = self._known[pending.pop()]
            if piece.suspect:
                return False
            pending += [use for use in piece.uses if use not in seen]
            seen.update(piece.uses)
        return True

    def is_sound(self, ref: str) -> bool:
        """Tell whether a value can be put together from its pieces, within all limits."""
        return self._survey(ref).sound

    def pieces(self, ref: str) -> tuple[str, ...]:
        """Return the refs used directly inside a value."""
        return self._survey(ref).uses

    def target(self, ref: str) -> str:
        """Return the ref of the piece that a sound value consists of, which is no mere link."""
        return self._survey(ref).target

    def is_leaf(self, ref: str) -> bool:
        """Tell whether a sound value is neither an object nor a list."""
        return self._survey(ref).shape is _LEAF

    def is_leafless(self, ref: str) -> bool:
        """Tell whether all items of a sound list are objects and lists."""
        return self._measured(ref).leafless

    def length(self, ref: str) -> int:
        """Return how many items a sound list has."""
        return self._measured(ref).length

    def skeleton(self, ref: str) -> Skeleton:
        """Return the tree of a sound piece, which nobody may change; of an odd one that of its whole value."""
        kept = self._trees.get(ref)
        if kept is not None:
            self._trees.move_to_end(ref)
            return kept[0]
        found = skeleton(self._blobs.payload(ref).raw)
        if found.odd:
            found = Skeleton(self._blobs.tree(ref))
        self._keep(ref, found, self._survey(ref).size)
        return found

    def view(self, value: Any) -> Any:
        """Return what stands where a link does, its own links left in place; any other value as it is."""
        if type(value) is not Link:
            return value
        target = self.target(value.ref)
        found = self.skeleton(target)
        return found.tree if found.parts is None else self.flat(target)

    def flat(self, ref: str) -> list[Any]:
        """Return the items of a sound list that extends others, all in one list."""
        items: list[Any] = []
        pending: list[Any] = [ref]
        while pending:
            part = pending.pop()
            if type(part) is list:
                items += part
                continue
            found = self.skeleton(self.target(part))
            pending += [found.tree, *reversed(found.parts or ())]
        return items

    def _keep(self, ref: str, found: Skeleton, size: int) -> None:
        self._trees[ref] = found, size
        self._room -= size
        while self._room < 0 and len(self._trees) > 1:
            self._room += self._trees.popitem(last=False)[1][1]

    def _survey(self, ref: str) -> _Piece:
        """Return what is known of a piece; what it uses is looked at first, without recursion."""
        known = self._known.get(ref)
        if known is not None:
            return known
        opened: dict[str, tuple[_Piece, Skeleton | None, list[str]]] = {}
        self._open(ref, opened)
        while opened:
            name, (piece, found, left) = next(reversed(opened.items()))
            if left:
                use = left.pop()
                self.reached.add(use)
                if use in opened:
                    piece.sound = False  # it contains itself
                elif use not in self._known:
                    self._open(use, opened)
                continue
            del opened[name]
            self._known[name] = piece
            self._add_up(piece, found)
        return self._known[ref]

    def _open(self, ref: str, opened: dict[str, tuple[_Piece, Skeleton | None, list[str]]]) -> None:
        payload = self._blobs.payload(ref)
        raw = payload.raw
        sound, found = payload.state == "ok", None
        if raw and may_share(raw):
            try:
                found = skeleton(raw)
            except StashError:
                sound = False
        uses = tuple(dict.fromkeys(use for use, _ in found.uses)) if found is not None else ()
        first = raw.lstrip(_SPACE)[:1] if raw[:1] in _SPACE else raw[:1]
        shape = _OBJECT if first == b"{" else _LIST if first == b"[" else _LEAF
        suspect = self._is_suspect(raw) or (found is not None and found.odd)
        piece = _Piece(suspect, sound, uses, shape, ref, len(raw))
        if uses:
            opened[ref] = piece, found, list(reversed(uses))
        else:
            self._known[ref] = piece
            self._add_up(piece, found)

    def _is_suspect(self, raw: bytes) -> bool:
        # Foreign files may spell letters as escapes, which a search of their bytes would not see.
        if b"\\" in raw and (b"\\u00" in raw or b"\\/" in raw):
            return True
        # A name may end a piece, and the secret that it announces begin the next.
        return self._suspects(raw + b"," if raw[-1:] in (b'"', b"]") else raw)

    def _add_up(self, piece: _Piece, found: Skeleton | None) -> None:
        piece.clean = not piece.suspect
        if found is None:
            return
        for use in piece.uses:
            other = self._known.get(use)
            if other is None or not other.sound:
                piece.sound = False
                return
            piece.clean = piece.clean and other.clean
            piece.height = max(piece.height, other.height + 1)
        for use, depth in found.uses:
            other = self._known[use]
            piece.size += other.size
            piece.count += other.count
            piece.depth = max(piece.depth, depth + other.depth)
        if piece.size > MAX_SIZE or piece.count > MAX_PIECES or piece.depth > MAX_DEPTH or piece.height >= MAX_HOPS:
            piece.sound = False
        if found.parts is not None:
            piece.shape, piece.parts = _LIST, None if found.odd else found.parts
        elif type(found.tree) is Link:
            other = self._known[found.tree.ref]
            piece.shape, piece.target = other.shape, other.target
        if found.list_parts and any(self._known[part].shape is not _LIST for part in found.list_parts):
            piece.sound = False

    def _measured(self, ref: str) -> _Piece:
        """Return what is known of a list, its length and the shapes of its items included."""
        piece = self._survey(self.target(ref))
        pending = [piece]
        while pending:
            last = pending[-1]
            parts = [self._survey(self.target(part)) for part in last.parts or ()]
            unknown = [part for part in parts if part.length < 0]
            if unknown:
                pending += unknown
                continue
            pending.pop()
            items = self.skeleton(last.target).tree
            last.length = sum(part.length for part in parts) + len(items)
            last.leafless = all(part.leafless for part in parts) and all(map(self._is_container, items))
        return piece

    def _is_container(self, item: Any) -> bool:
        kind = type(item)
        return kind is dict or kind is list or (kind is Link and not self.is_leaf(item.ref))
