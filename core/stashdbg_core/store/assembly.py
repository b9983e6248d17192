"""Whole values out of shared pieces, however hostile the pieces.

Sizes are added up over distinct pieces before anything is put together, so a small file whose pieces double at every
level costs its own size and not the size it claims. Nothing here recurses, and no two places of a tree share a
container.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_recording, not_found
from stashdbg_core.parse import parse_json
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.sharing_tags import Slot, is_list_tag, is_ref_tag, may_share, tagged_slots

Fetch = Callable[[str], bytes]

MAX_SIZE = 1 << 30
"""Bytes of stored form that one value may have when whole."""
MAX_PIECES = 2_000_000
"""Pieces that one value may be made of, repeated ones counted each time."""
MAX_HOPS = 2_000
"""Pieces within pieces."""
MAX_DEPTH = 4_000
"""Nesting of the place where a piece stands, counted through the pieces around it."""


def assemble(raw: bytes, fetch: Fetch, *, max_size: int = MAX_SIZE) -> Json:
    """Return the whole tree of a value, shared pieces put in.

    Args:
        raw: The value's JSON text as it stands in the file.
        fetch: Returns the JSON text of a ref; raises KeyError for one that is missing.
        max_size: Bytes that the whole may have in stored form.

    Raises:
        StashError: ``ERR_NOT_FOUND`` if a piece is missing; ``ERR_INVALID_RECORDING`` if a piece is not JSON, contains
            itself, is no list where a list is needed, or the whole would break a limit.
    """
    if not may_share(raw):
        return parse_json(raw)
    pieces = _survey(raw, fetch, max_size)
    return _Builder(pieces).whole(_ROOT)


def pieces_of(raw: bytes) -> tuple[str, ...]:
    """Return the refs that a value's own text uses, in order, repeated ones once.

    Raises:
        StashError: ``ERR_INVALID_RECORDING`` if the text is not JSON.
    """
    return tuple(dict.fromkeys(ref for ref, _ in _refs_used(parse_json(raw)))) if may_share(raw) else ()


_ROOT = ""
"""The key of the value itself among its pieces; a piece whose ref is empty counts as containing itself."""


@dataclass(slots=True)
class _Piece:
    raw: bytes
    tree: Json
    """Parsed for the survey and handed out once; None after that."""
    shares: bool
    uses: list[tuple[str, int]]
    """Each use of another piece, and how deep in this one it stands."""
    size: int = 0
    count: int = 0
    """Pieces in the whole, itself included."""
    depth: int = 0


def _survey(raw: bytes, fetch: Fetch, max_size: int) -> dict[str, _Piece]:
    """Read every piece once, depth first, and check the whole's size before it is built."""
    pieces = {_ROOT: _read(raw)}
    open_refs: dict[str, Iterator[str]] = {_ROOT: _distinct(pieces[_ROOT])}
    while open_refs:
        ref, uses = next(reversed(open_refs.items()))
        for use in uses:
            if use in open_refs:
                raise invalid_recording(f"the shared piece {_shown(use)} contains itself", ref=use)
            if use in pieces:
                continue
            pieces[use] = piece = _read(_fetch(fetch, use))
            open_refs[use] = _distinct(piece)
            if len(open_refs) > MAX_HOPS:
                raise invalid_recording(f"a value's shared pieces are nested more than {MAX_HOPS} deep", ref=use)
            break
        else:
            del open_refs[ref]
            _add_up(pieces, pieces[ref], max_size)
    return pieces


def _add_up(pieces: dict[str, _Piece], piece: _Piece, max_size: int) -> None:
    piece.size, piece.count = len(piece.raw), 1
    for use, depth in piece.uses:
        other = pieces[use]
        piece.size += other.size
        piece.count += other.count
        piece.depth = max(piece.depth, depth + other.depth)
    if piece.depth > MAX_DEPTH:
        raise invalid_recording(f"a value's shared pieces make it more than {MAX_DEPTH} levels deep")
    if piece.size > max_size:
        raise invalid_recording(
            f"a value made of shared pieces would be more than {max_size} bytes long", hint="the file may be hostile"
        )
    if piece.count > MAX_PIECES:
        raise invalid_recording(
            f"a value is made of more than {MAX_PIECES} shared pieces", hint="the file may be hostile"
        )


def _distinct(piece: _Piece) -> Iterator[str]:
    return iter(dict.fromkeys(use for use, _ in piece.uses))


def _read(raw: bytes) -> _Piece:
    tree = parse_json(raw)
    uses = list(_refs_used(tree)) if may_share(raw) else []
    return _Piece(raw, tree, bool(uses) or is_list_tag(tree), uses)


def _refs_used(tree: Json) -> Iterator[tuple[str, int]]:
    pending: list[tuple[Json, int]] = [(tree, 0)]
    while pending:
        node, depth = pending.pop()
        if is_ref_tag(node):
            yield node["ref"], depth
        elif is_list_tag(node):
            yield from ((part, depth) for part in node["parts"])
            pending.append((node["items"], depth))
        else:
            found = [(parent[place], depth + deeper) for (parent, place), deeper in tagged_slots(node)]
            pending += reversed(found)


def _fetch(fetch: Fetch, ref: str) -> bytes:
    try:
        return fetch(ref)
    except KeyError as error:
        raise not_found(f"the shared piece {_shown(ref)} is missing", ref=ref) from error


class _Builder:
    def __init__(self, pieces: dict[str, _Piece]) -> None:
        self._pieces = pieces

    def whole(self, ref: str) -> Json:
        root: list[Any] = [self._own(ref)]
        pending: list[Slot] = [(root, 0)] if self._pieces[ref].shares else []
        while pending:
            parent, place = pending.pop()
            node = parent[place]
            if is_ref_tag(node):
                used = node["ref"]
                parent[place] = self._own(used)
                if self._pieces[used].shares:
                    pending.append((parent, place))
            elif is_list_tag(node):
                parent[place] = items = self._list(node)
                pending += [slot for slot, _ in tagged_slots(items)]
            else:
                pending += [slot for slot, _ in tagged_slots(node)]
        return root[0]

    def _own(self, ref: str) -> Json:
        """Return a tree of this piece that nobody else holds."""
        piece = self._pieces[ref]
        if piece.tree is None:
            return parse_json(piece.raw)
        tree, piece.tree = piece.tree, None
        return tree

    def _list(self, node: dict[str, Any]) -> list[Json]:
        """Return the items of a ``list`` tag in order; its items' own tags are still there."""
        items: list[Json] = []
        pending: list[Any] = [node["items"], *reversed(node["parts"])]
        while pending:
            part = pending.pop()
            tree: Any = part if type(part) is list else self._own(part)
            if isinstance(tree, list):
                items += tree
            elif is_ref_tag(tree):
                pending.append(tree["ref"])
            elif is_list_tag(tree):
                pending += [tree["items"], *reversed(tree["parts"])]
            else:
                raise invalid_recording(f"the shared piece {_shown(str(part))} is not a list", ref=str(part))
        return items


def _shown(ref: str) -> str:
    return shorten(ref, 80)
