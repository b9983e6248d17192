"""The stored form of whole values, hashed as it is put together: pieces are spliced as text, never parsed twice.

The bytes are those of ``stored_form(blobs.tree(ref))``, however the value is shared and however its text is spelled.
A value that does not mean one thing, or does not match its reference, has none. Sizes are added up before anything is
hashed, and nothing recurses.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import msgspec

from stashdbg_core.canonical import REF_PREFIX, Json, stored_form
from stashdbg_core.errors import invalid_recording, not_found
from stashdbg_core.model import BlobTable
from stashdbg_core.parse import parse_json, parse_tolerant
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.assembly import MAX_HOPS, MAX_PIECES, MAX_SIZE
from stashdbg_core.store.blobs import FileBlobs
from stashdbg_core.store.sharing_tags import Slot, is_ref_tag, looks_shared, tagged_slots

_CACHE_BYTES = 64_000_000
_FEED_AT_ONCE = 1 << 16
_OTHER = object()

_sha256 = hashlib.sha256
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class Use(NamedTuple):
    """Another piece at this place: whole, or a list's items without its brackets."""

    ref: str
    inner: bool


Op: TypeAlias = bytes | Use


class _Facts(NamedTuple):
    size: int
    """Bytes of the whole."""
    pieces: int
    """Pieces in the whole, itself included."""
    is_list: bool
    target: str
    """The piece that has the content: another one if this is nothing but a reference."""


@dataclass(slots=True)
class _Cut:
    """A piece between parsing and splicing: text with marks where other pieces go."""

    text: bytes
    uses: list[tuple[str, ...]]
    """For each mark the ref of a whole piece, or the refs of lists whose items begin the list it stands in."""
    lists: frozenset[int]
    """Which marks are of lists."""
    is_list: bool


class WholeValues:
    """Stored forms of the whole values of one table."""

    def __init__(self, blobs: BlobTable) -> None:
        self._blobs = blobs
        self._file = blobs if isinstance(blobs, FileBlobs) else None
        self._facts: dict[str, _Facts] = {}
        self._ops: dict[str, tuple[Op, ...]] = {}
        self._room = _CACHE_BYTES
        self._mark = secrets.token_hex(16)  # recorded data cannot hold what it could not foresee
        self._marks = re.compile(b'"%b:([0-9]+)"' % self._mark.encode())

    def plain_text(self, ref: str, number: int = -1) -> bytes | None:
        """Return the text under a ref, white space left out, if it is the whole value and matches the ref.

        None is not final, and the text need not be stored form. ``number`` is the value's in a file's table, if known.
        """
        text = self._text(ref, number)
        if text is None or looks_shared(text):
            return None
        if _matches(ref, text):
            return text
        text = _compact(text)
        return text if text is not None and _matches(ref, text) and not looks_shared(text) else None

    def commitment(self, ref: str, salt: bytes, number: int = -1) -> bytes:
        """Return the commitment to a whole value.

        Raises:
            StashError: ``ERR_NOT_FOUND`` if it, or a piece of it, is missing; ``ERR_INVALID_RECORDING`` if damaged.
        """
        if ref not in self._facts:
            text = self.plain_text(ref, number)
            if text is not None and _tree_of(text) is not _OTHER:
                return _sha256(salt + text).digest()
            _, stored = self._load(ref)
            if not looks_shared(stored):
                return _sha256(salt + stored).digest()
        digest = _sha256(salt)
        for part in self.texts(ref):
            digest.update(part)
        return digest.digest()

    def texts(self, ref: str) -> Iterator[bytes]:
        """Yield a whole value's stored form in pieces; see ``commitment``."""
        facts = self._facts.get(ref) or self._survey(ref)
        pending = [iter(self._pieces(facts.target))]
        held: list[bytes] = []
        size = 0
        while pending:
            for op in pending[-1]:
                if type(op) is Use:
                    ops = self._pieces(op.ref)
                    pending.append(iter(_inner(ops) if op.inner else ops))
                    break
                held.append(op)  # type: ignore[arg-type]
                size += len(op)
                if size > _FEED_AT_ONCE:
                    yield b"".join(held)
                    held.clear()
                    size = 0
            else:
                pending.pop()
        yield b"".join(held)

    def uses(self, ref: str) -> Iterator[str]:
        """Yield the refs of the pieces directly inside a value; see ``commitment``."""
        return _distinct(self._cut(ref))

    def text(self, ref: str) -> bytes:
        """Return a whole value's stored form; see ``commitment``."""
        return b"".join(self.texts(ref))

    def reached(self, ref: str) -> bool:
        """Tell whether a shared value that was hashed before is made of this piece, or is it."""
        return ref in self._facts

    def _text(self, ref: str, number: int) -> bytes | None:
        """Return the text that stands under a ref, if there is one."""
        if self._file is not None:
            if number >= 0 and ref[:7] == REF_PREFIX and len(ref) == 71:
                return self._file.own_text_at(number)  # whoever takes it for the value checks its hash
            if number < 0 or self._file.ref_at(number) != ref:
                found = self._file.number_of(ref)
                if found is None:
                    return None
                number = found
            return self._file.raw_at(number)
        payload = self._blobs.payload(ref)
        return payload.raw if payload.state == "ok" else None

    def _load(self, ref: str) -> tuple[Json, bytes]:
        """Return a value as it stands, and its stored form; see ``commitment``."""
        text = self._text(ref, -1)
        while text is not None:
            tree = _tree_of(text) if _matches(ref, text) else _OTHER
            if tree is not _OTHER:
                return tree, text
            text = _compact(text)
        payload = self._blobs.payload(ref)
        if payload.state == "missing":
            raise not_found(f"{shorten(ref, 80)} is missing", ref=ref)
        if payload.state == "damaged":
            raise invalid_recording(payload.problem or "it is damaged", ref=ref)
        if self._file is not None:  # which calls no value ok that does not mean one thing
            tree = parse_json(payload.raw)
            return tree, stored_form(tree)
        parsed = parse_tolerant(payload.raw)
        if not parsed.exact:
            raise invalid_recording("; ".join(parsed.problems[:3]), ref=ref)
        return parsed.tree, stored_form(parsed.tree)

    def _cut(self, ref: str) -> _Cut:
        tree, stored = self._load(ref)
        if not looks_shared(stored):
            return _Cut(stored, [], frozenset(), type(tree) is list)
        uses: list[tuple[str, ...]] = []
        lists: set[int] = set()
        root: list[Any] = [tree]
        pending: list[Slot] = [slot for slot, _ in tagged_slots(root)]
        while pending:
            parent, place = pending.pop()
            node = parent[place]
            mark = f"{self._mark}:{len(uses)}"
            if is_ref_tag(node):
                uses.append((node["ref"],))
                parent[place] = mark
            else:
                lists.add(len(uses))
                uses.append(tuple(node["parts"]))
                parent[place] = items = [mark, *node["items"]]
                pending += [slot for slot, _ in tagged_slots(items)]
        return _Cut(stored_form(root[0]), uses, frozenset(lists), type(root[0]) is list)

    def _survey(self, ref: str) -> _Facts:
        """Learn the size of a value and of all in it, depth first; refuse what contains itself or is too large."""
        cuts = {ref: self._cut(ref)}
        open_ = {ref: _distinct(cuts[ref])}
        while open_:
            piece, uses = next(reversed(open_.items()))
            for use in uses:
                if use in open_:
                    raise invalid_recording(f"the shared piece {shorten(use, 80)} contains itself", ref=use)
                if use in self._facts:
                    continue
                cuts[use] = self._cut(use)
                open_[use] = _distinct(cuts[use])
                if len(open_) > MAX_HOPS:
                    raise invalid_recording(f"its shared pieces are nested more than {MAX_HOPS} deep", ref=use)
                break
            else:
                del open_[piece]
                self._facts[piece] = self._settle(piece, cuts.pop(piece))
        return self._facts[ref]

    def _settle(self, ref: str, cut: _Cut) -> _Facts:
        ops = self._spliced(cut)
        self._keep(ref, ops)
        inside = [self._facts[op.ref] for op in ops if type(op) is Use]
        size = sum(len(op) for op in ops if type(op) is bytes) + sum(
            self._facts[op.ref].size - 2 * op.inner for op in ops if type(op) is Use
        )
        count = 1 + sum(facts.pieces for facts in inside)
        if size > MAX_SIZE:
            raise invalid_recording(f"made of its shared pieces it would be more than {MAX_SIZE} bytes long", ref=ref)
        if count > MAX_PIECES:
            raise invalid_recording(f"it is made of more than {MAX_PIECES} shared pieces", ref=ref)
        if len(ops) == 1 and type(ops[0]) is Use:  # a reference and nothing else
            return inside[0]
        return _Facts(size, count, cut.is_list, ref)

    def _spliced(self, cut: _Cut) -> tuple[Op, ...]:
        """Return a piece's text with uses of other pieces, commas of joined lists in place."""
        ops: list[Op] = []
        at = 0
        for mark in self._marks.finditer(cut.text):
            number = int(mark.group(1))
            ops.append(cut.text[at : mark.start()])
            at = mark.end()
            if number not in cut.lists:
                ops.append(Use(self._facts[cut.uses[number][0]].target, False))
                continue
            parts = [self._facts[part] for part in cut.uses[number]]
            if not all(part.is_list for part in parts):
                raise invalid_recording("a shared piece that should be a list is none")
            filled = [part for part in parts if part.size > 2]
            for position, part in enumerate(filled):
                ops += [b",", Use(part.target, True)] if position else [Use(part.target, True)]
            if not filled and cut.text[at : at + 1] == b",":
                at += 1
        ops.append(cut.text[at:])
        return tuple(op for op in ops if op)

    def _pieces(self, ref: str) -> tuple[Op, ...]:
        ops = self._ops.get(ref)
        if ops is None:
            ops = self._spliced(self._cut(ref))
            self._keep(ref, ops)
        return ops

    def _keep(self, ref: str, ops: tuple[Op, ...]) -> None:
        size = 200 + sum(len(op) if type(op) is bytes else 100 for op in ops)
        if size > _CACHE_BYTES // 4:
            return
        self._room -= size
        if self._room < 0:
            self._ops.clear()
            self._room = _CACHE_BYTES - size
        self._ops[ref] = ops


def _matches(ref: str, text: bytes) -> bool:
    """Tell whether a ref is the hash of a text, or none of ours."""
    return ref[:7] != REF_PREFIX or len(ref) != 71 or _sha256(text).hexdigest() == ref[7:]


def _tree_of(text: bytes) -> Json:
    """Return the tree of a text in stored form; ``_OTHER`` for any other text."""
    try:
        tree = _decode(text)
        return tree if _encode(tree) == text else _OTHER
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _OTHER


def _compact(raw: bytes) -> bytes | None:
    """Return JSON text without white space between its tokens; None if it had none, or is no plain JSON."""
    try:
        text = msgspec.json.format(raw, indent=-1)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return None if text == raw else text


def _distinct(cut: _Cut) -> Iterator[str]:
    return iter(dict.fromkeys(use for part in cut.uses for use in part))


def _inner(ops: tuple[Op, ...]) -> tuple[Op, ...]:
    """Return a list's text without its brackets."""
    first, last = ops[0], ops[-1]
    assert type(first) is bytes
    assert type(last) is bytes
    if len(ops) == 1:
        return (first[1:-1],)
    return (first[1:], *ops[1:-1], last[:-1])
