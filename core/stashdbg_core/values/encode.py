"""Python values to JSON trees: the driver that walks a value without recursion.

Each exact type has one way to be written; a subclass is another type. Whatever a value's class does, nothing but a
tree comes out: what cannot be stored becomes a stand-in with a ``Loss``, and so do cycles and what is too deep or too
large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import msgspec

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.parse import parse_json
from stashdbg_core.values import classes, containers, exceptions, scalars, streams
from stashdbg_core.values.containers import Encoding, Step
from stashdbg_core.values.losses import Loss, Losses, pointer_of, stand_in
from stashdbg_core.values.names import class_name
from stashdbg_core.values.plain import budget_left, is_plain_value
from stashdbg_core.values.registry import TypeRegistry

MAX_DEPTH = 1_900
"""Deepest nesting of a tree, in JSON levels; readers refuse more than 2,000 in a file unless told otherwise."""
fast_stored = msgspec.json.Encoder().encode
NOT_FAST = (UnicodeEncodeError, ValueError, RecursionError, TypeError)
"""A lone surrogate; a limit on digits below Python's own; depth; a spelled number, or a change by another thread."""
_SMALL_DEPTH, _SMALL_PARTS = 40, 400
_TAG_LEVELS = 3
MAX_PARTS = 3_000_000
"""A value that takes this way and has more parts is not stored whole: it would hold the program up for many seconds."""

_Take: TypeAlias = Callable[[Any, Losses], Encoding]
_takes: WeakKeyDictionary[type, _Take | None] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Encoded:
    """A value as a JSON tree."""

    tree: Json
    losses: tuple[Loss, ...] = ()


def encode_value(value: Any, *, types: TypeRegistry | None = None) -> Encoded:
    """Return the JSON tree of any value in fresh containers; never raises for the value's sake.

    Args:
        value: What to store.
        types: Registered subclasses of builtin types are stored whole; enums, dataclasses and models are in any case.
    """
    stored, losses = stored_value(value, types)
    return Encoded(parse_json(stored), losses)


def stored_value(value: Any, types: TypeRegistry | None = None) -> tuple[bytes, tuple[Loss, ...]]:
    """Return the stored form of any value and its losses; never raises for the value's sake."""
    if is_plain_value(value):
        try:
            return fast_stored(value), ()
        except NOT_FAST:
            pass
    return stored_carefully(value, types)


def stored_carefully(value: Any, types: TypeRegistry | None = None) -> tuple[bytes, tuple[Loss, ...]]:
    """Return the same as ``stored_value`` for a value that is not plain."""
    walk = _Walk(types, borrow=True)
    tree = walk.whole(value)
    try:
        return fast_stored(tree), walk.losses.listed()
    except NOT_FAST:
        walk = _Walk(types, borrow=False)
        return walk.spelled(value), walk.losses.listed()


class _Walk:
    """One walk over one value.

    Args:
        types: As for ``encode_value``.
        borrow: Let small plain parts of the live value stand in the tree, which is then spelled at once.
    """

    __slots__ = ("active", "borrow", "budget", "depths", "frames", "holding", "losses", "path", "types")

    def __init__(self, types: TypeRegistry | None, *, borrow: bool) -> None:
        self.types = types
        self.borrow = borrow
        self.losses = Losses()
        self.frames: list[Encoding] = []
        self.holding: list[Any] = []  # keeps each open value alive, so that its id stays its own
        self.depths: list[int] = [0]
        self.path: list[Step] = []
        self.active: set[int] = set()
        self.budget = MAX_PARTS

    def whole(self, value: Any) -> Json:
        """Return the tree of a value."""
        try:
            return self.run(value)
        except Exception as error:  # noqa: BLE001 - whatever a value does, recording it must not hurt the program
            return self.lost(value, f"reading it raised {class_name(type(error))}", "")

    def spelled(self, value: Any) -> bytes:
        """Return the stored form of a value."""
        tree = self.whole(value)
        try:
            return stored_form(tree)
        except ValueError:
            return stored_form(self.lost(value, "it holds an integer of more digits than Python is set to write", ""))

    def run(self, value: Any) -> Json:
        result: Json = None
        if type(value) in scalars.ENCODERS or not self.open(value):
            return self.leaf(value)
        while self.frames:
            try:
                step, part = self.frames[-1].send(result)
            except StopIteration as stop:
                result = stop.value
                self.close()
                continue
            except scalars.NotStorable as refusal:
                result = self.close_lost(refusal.reason, refusal.shown)
                continue
            except Exception as error:  # noqa: BLE001 - the program's own code, such as a property, may raise anything
                result = self.close_lost(f"reading it raised {class_name(type(error))}")
                continue
            self.budget -= 1
            self.path.append(step)
            if type(part) in scalars.ENCODERS:
                result = self.leaf(part)
            elif self.borrow and self.is_small(part):
                result = part
            elif self.open(part):
                result = None
                continue
            else:
                result = self.leaf(part)
            self.path.pop()
        return result

    def is_small(self, value: Any) -> bool:
        """Tell whether a value is a small plain list or dict; bounded, for every level asks it of the next."""
        if type(value) is not dict and type(value) is not list:
            return False
        left = budget_left(value, _SMALL_DEPTH, _SMALL_PARTS)
        if left < 0 or self.depths[-1] + _SMALL_DEPTH > MAX_DEPTH:
            return False
        self.budget -= _SMALL_PARTS - left
        return self.budget >= 0

    def open(self, value: Any) -> bool:
        """Begin a value that has parts; tell whether it has."""
        kind = type(value)
        levels = 1
        take: _Take | None
        if kind is list:
            take = containers.encode_list
        elif kind is dict:
            plain_keys = containers.has_text_keys(value)
            take = containers.encode_text_dict if plain_keys else containers.encode_dict
            levels = 1 if plain_keys else _TAG_LEVELS
        else:
            take, levels = _take_for(kind), _TAG_LEVELS
            if take is classes.encode_shown and self.types and self.types.class_for(class_name(kind)) is kind:
                take = classes.encode_subclass
        if take is None or id(value) in self.active or self.depths[-1] + levels > MAX_DEPTH or self.budget < 0:
            return False
        self.active.add(id(value))
        self.holding.append(value)
        self.depths.append(self.depths[-1] + levels)
        self.frames.append(take(value, self.losses))
        return True

    def close(self) -> Any:
        """End the innermost open value and return it."""
        self.frames.pop()
        self.depths.pop()
        if self.path:
            self.path.pop()
        value = self.holding.pop()
        self.active.discard(id(value))
        return value

    def close_lost(self, reason: str, shown: Json = None) -> Json:
        """End the innermost open value with a stand-in."""
        where = pointer_of(self.path)
        return self.lost(self.close(), reason, where, shown)

    def leaf(self, value: Any) -> Json:
        """Write a value without parts, or the reason why it is not written."""
        kind = type(value)
        encode = scalars.ENCODERS.get(kind) or scalars.encoder_for(kind, class_name(kind))
        if encode is not None:
            try:
                return encode(value)
            except scalars.NotStorable as refusal:
                return self.lost(value, refusal.reason, pointer_of(self.path))
            except Exception as error:  # noqa: BLE001 - such as a closed memoryview
                return self.lost(value, f"reading it raised {class_name(type(error))}", pointer_of(self.path))
        reason = "no stored form is known for this type"
        if id(value) in self.active:
            reason = "it contains itself"
        elif self.budget < 0:
            reason = f"the value has more than {MAX_PARTS:,} parts"
        elif kind is list or kind is dict or _take_for(kind):
            reason = f"it is nested deeper than {MAX_DEPTH:,} levels"
        return self.lost(value, reason, pointer_of(self.path))

    def lost(self, value: Any, reason: str, where: str, shown: Json = None) -> Json:
        """Take down a loss and return the stand-in."""
        name = class_name(type(value))
        self.losses.add(Loss(where, name, reason))
        return stand_in(name, reason, shown)


def _take_for(cls: type) -> _Take | None:
    """Return what takes instances of exactly this class apart, or None if it has no parts that are known."""
    try:
        return _takes[cls]
    except KeyError:
        take = containers.ENCODERS.get(cls)
        if take is None and cls not in scalars.ENCODERS:
            take = streams.encoder_for(cls) or exceptions.encoder_for(cls) or classes.encoder_for(cls)
        _takes[cls] = take
        return take
