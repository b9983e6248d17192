"""One JSON tree masked: every text by what is in it, and by the names on the way to it.

A sensitive name masks what hangs on it: a text, a number where numbers are secrets, the items of a list, the leaves of
an object. A JSON schema that describes an ``api_key`` stays readable. Pairs of name and value (headers, form fields,
``{"name": …, "value": …}``, arguments of a command line) count as names with values. What an error was raised with, its
texts often say again, without the name: what was masked anywhere in an error is masked in all its texts.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from stashdbg_core import tags
from stashdbg_core.canonical import Json
from stashdbg_core.redact.edits import Edits, Place
from stashdbg_core.redact.in_order import Before
from stashdbg_core.redact.names import NUMERIC
from stashdbg_core.redact.repeats import Repeats

KindOf: TypeAlias = Callable[[str], str | None]
MaskText: TypeAlias = Callable[[str, str | None], str]
"""Gets a text and the kind its name announces, if any; returns the text masked."""

_TAG: Final = tags.TAG
_BINARY: Final = frozenset({tags.BYTES, tags.BYTEARRAY, tags.MEMORYVIEW})
_OPAQUE: Final = frozenset(
    {tags.FLOAT, tags.INT, tags.DATETIME, tags.DATE, tags.TIME, tags.TIMEDELTA, tags.TIMEZONE, tags.ZONE, tags.COMPLEX}
    | {tags.DECIMAL, tags.FRACTION, tags.UUID, tags.RANGE, tags.ELLIPSIS, tags.REF}
)
"""Tags whose texts are spellings of a value, not texts of the program."""
_MAPPINGS: Final = frozenset({tags.DICT, tags.ORDERED_DICT, tags.DEFAULT_DICT, tags.COUNTER})
MAPPING: Final = "mapping"
"""Stands for the pair of an ``items`` list: each of its items is a key and a value."""
_STRUCTURE: Final = frozenset({_TAG, "class", "factory", "kind", "ending", "module", "type_name"})
"""Keys of tagged objects that say what they are; never masked."""
_SCHEMA_KEYS: Final = frozenset({"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "description", "properties"})
_SCHEMA_VALUES: Final = frozenset({"default", "example", "examples", "const"})
_PAIR_VALUE: Final = ("name", "key", "header", "Name", "Key")
_SHORT_KEY: Final = 8
"""No shorter key can hold a name and its secret, or a secret with a shape."""
_MAX_NAME_BYTES: Final = 200


@dataclass(slots=True)
class Pass:
    """One way of going through trees: what is masked, and how it is counted."""

    make: Callable[..., Walk]
    """Gets the class of the walk and what else it takes."""
    counts: Callable[[], Mapping[str, int]] = dict
    """Tells how many places were masked so far, by kind."""
    again: Callable[[Mapping[str, int]], None] = lambda _: None
    """Counts places once more: a piece stands in one value more."""
    kinds: list[str] | None = None
    """For a scan: kinds found since it was emptied last."""


@dataclass(slots=True)
class Step:
    """A container whose children are still to be looked at."""

    place: Place
    kind: str | None
    """What the name above announces."""
    pair: str | None = None
    """What the first item announces about the second."""


@dataclass(slots=True)
class Walk:
    """The masking of one tree, without recursion."""

    mask_text: MaskText
    kind_of: KindOf
    mask_chunks: Callable[[list[Json]], list[Json]]
    """Gets the chunks of a stream, returns them with secrets cut across them masked; the same list if none."""
    found: Callable[[Place, str | int], None] | None = None
    """Told of every leaf that was masked, for a scan."""
    repeats: Repeats | None = None
    """What was masked, for errors; None: what they repeat stays."""
    every_text: bool = False
    """Whether texts are masked for what is in them alone: those that spell tagged values and all keys too."""
    edits: Edits = field(default_factory=Edits)
    pending: list[Step] = field(default_factory=list)
    said: list[tuple[Place, str | int, str, str | None]] | None = None
    """Within an error: its texts, as they are masked, and what is announced of them."""

    def mask(self, tree: Json) -> Json:
        """Return ``tree`` masked; the same object if there was nothing to mask."""
        self.begin(tree)
        while self.pending:
            self.take(self.pending.pop())
        return self.result(tree)

    def begin(self, tree: Json, kind: str | None = None, pair: str | None = None) -> None:
        """Set out at the root of a tree, with what is announced there."""
        self._look(Place([tree]), 0, tree, kind, pair)

    def take(self, step: Step) -> None:
        """Look at the children of a container; containers among them come next, in order."""
        first = len(self.pending)
        if type(step.place.container) is not dict:
            self._list(step)
        elif self.every_text:
            self._texts(step)
        else:
            self._object(step)
        self.pending[first:] = self.pending[first:][::-1]

    def result(self, tree: Json) -> Json:
        """Return the tree that was walked with all edits made; the same object if there are none."""
        return self.edits.apply([tree])[0]

    def _view(self, value: Json) -> Json:
        """Return what a value is, for a look at it from outside."""
        return value

    def _look(self, place: Place, key: str | int, value: Json, kind: str | None, pair: str | None = None) -> None:
        """Mask a leaf, or put a container off."""
        leaf = type(value)
        if leaf is dict or leaf is list:
            if value:
                self.pending.append(Step(Place(value, place, key), kind, pair))
        elif leaf is str:
            if value:
                new = self.mask_text(value, kind)
                self._edit(place, key, value, new)
                if self.said is not None:
                    self.said.append((place, key, new, kind))
        elif kind in NUMERIC and leaf is not bool and value is not None:
            self._edit(place, key, value, self.mask_text(str(value), kind))

    def _edit(self, place: Place, key: str | int, old: Json, new: Json) -> None:
        if new is not old and new != old:
            self.edits.values.append((place, key, new))
            if self.found is not None:
                self.found(place, key)

    def _texts(self, step: Step) -> None:
        place = step.place
        for key, value in place.container.items():
            if (name := self.mask_text(key, None)) != key:
                self.edits.renames.append((place, key, name))
            self._look(place, key, value, None)

    def _object(self, step: Step) -> None:
        place = step.place
        container = place.container
        tag = container.get(_TAG)
        if type(tag) is str:
            self._tagged(step, tag)
            return
        schema = step.kind is not None and not _SCHEMA_KEYS.isdisjoint(container)
        paired = self._named_value(container)
        for key, value in container.items():
            kind = self.kind_of(self._renamed(place, key))
            if kind == "token" and "logprob" in container:
                kind = None
            if kind is None and (not schema or key in _SCHEMA_VALUES):
                kind = step.kind
            if paired is not None and key in ("value", "Value"):
                kind = paired
            if kind == "authorization" and type(seen := self._view(value)) is dict and _TAG not in seen:
                kind = None
            self._look(place, key, value, kind)

    def _tagged(self, step: Step, tag: str) -> None:
        container = step.place.container
        if tag in _BINARY:
            self._binary(step)
        elif tag == tags.EXCEPTION and self.repeats is not None and self.said is None:
            self._error(step, self.repeats)
        elif tag not in _OPAQUE:
            if tag == tags.STREAM and type(chunks := container.get("chunks")) is list:
                joined = self.mask_chunks(chunks)
                if joined is not chunks:
                    container = {**container, "chunks": joined}
                    self._edit(step.place, "chunks", chunks, joined)
            pair = MAPPING if tag in _MAPPINGS else step.pair
            for key, value in container.items():
                if key not in _STRUCTURE:
                    self._look(step.place, key, value, step.kind, pair if key == "items" else None)

    def _error(self, step: Step, repeats: Repeats) -> None:
        """Mask an error with all that hangs on it, then what its texts repeat."""
        others, self.pending, self.said = self.pending, [], []
        repeats.begin()
        self._tagged(step, tags.EXCEPTION)
        while self.pending:
            self.take(self.pending.pop())
        said, self.pending, self.said = self.said, others, None
        if not repeats.look_through(text for _, _, text, _ in said):
            return
        for place, key, text, kind in said:
            masked = repeats.mask(text)
            if masked is not text:
                self._edit(place, key, text, self.mask_text(masked, kind))

    def _list(self, step: Step) -> None:
        place, items = step.place, step.place.container
        if step.pair is not None and step.pair is not MAPPING and len(items) == 2:
            self._look(place, 0, items[0], None)
            self._look(place, 1, items[1], step.pair)
            return
        pairs = step.pair is MAPPING or (step.kind is None and all(self.pair_of(item) is not None for item in items))
        before = Before()
        for position, item in enumerate(items):
            kind, pair = step.kind, None
            if pairs:
                name = self._name_text((self.pair_of(item) or [""])[0])
                pair = (self.kind_of(name) if name else None) or step.kind
            elif kind is None:
                kind = before.announces(item, self.kind_of)
            self._look(place, position, item, kind, pair)

    def _named_value(self, container: dict[str, Json]) -> str | None:
        if "value" not in container and "Value" not in container:
            return None
        for key in _PAIR_VALUE:
            name = container.get(key)
            if name is not None:
                text = self._name_text(name)
                return self.kind_of(text) if text else None
        return None

    def _renamed(self, place: Place, key: str) -> str:
        """Mask a key and return what it is now."""
        if len(key) <= _SHORT_KEY:
            return key
        name = self.mask_text(key, None)
        if name != key:
            self.edits.renames.append((place, key, name))
            if self.found is not None:
                self.found(place, key)
        return name

    def _binary(self, step: Step) -> None:
        encoded = self._view(step.place.container.get("base64"))
        data = _decoded(encoded) if type(encoded) is str else None
        if not data:
            return
        try:
            text, codec = data.decode("utf-8"), "utf-8"
        except UnicodeDecodeError:
            text, codec = data.decode("latin-1"), "latin-1"
        masked = self.mask_text(text, step.kind)
        if masked != text:
            new = base64.b64encode(masked.encode(codec, "surrogatepass")).decode("ascii")
            self._edit(step.place, "base64", encoded, new)

    def pair_of(self, item: Json) -> list[Json] | None:
        """Return the two items of a list or tuple of two that begins with a text or bytes, else None."""
        item = self._view(item)
        if type(item) is dict and item.get(_TAG) == tags.TUPLE:
            item = self._view(item.get("items"))
        return item if type(item) is list and len(item) == 2 and self._name_text(item[0]) is not None else None

    def _name_text(self, value: Json) -> str | None:
        value = self._view(value)
        if type(value) is str:
            return value
        if type(value) is dict and value.get(_TAG) in _BINARY:
            encoded = self._view(value.get("base64"))
            data = _decoded(encoded) if type(encoded) is str and len(encoded) < _MAX_NAME_BYTES else None
            return None if data is None else data.decode("latin-1")
        return None


def _decoded(encoded: str) -> bytes | None:
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None
