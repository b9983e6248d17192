"""Containers of the standard library: how each is taken apart into a tag and put together again.

Every function here is a generator that yields a part and is sent back what became of it, so that the drivers in
``encode`` and ``decode`` need no recursion whatever the depth. Sets are written in the order of their items'
canonical forms: the same set has the same stored form in every process, whatever the hash seed.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeAlias

from stashdbg_core.canonical import Json, canonical_form
from stashdbg_core.tags import (
    COUNTER,
    DEFAULT_DICT,
    DEQUE,
    DICT,
    FROZENSET,
    ORDERED_DICT,
    SET,
    SLICE,
    TAG,
    TUPLE,
)
from stashdbg_core.values.losses import Losses
from stashdbg_core.values.scalars import NotStorable, Tag, is_json_key

Step: TypeAlias = "str | int | tuple[str | int, ...]"
Encoding: TypeAlias = Generator[tuple[Step, Any], Json, Json]
"""Yields where a part goes and the part; is sent its tree; returns the whole tree."""
Decoding: TypeAlias = Generator[Json, Any, Any]
"""Yields the tree of a part; is sent its value; returns the whole value."""

_AS_IS = frozenset({bool, type(None)})
_FACTORIES: dict[str, type] = {t.__name__: t for t in (list, dict, set, int, float, str, tuple, bool, bytes, frozenset)}


def encode_list(value: list[Any], _: Losses) -> Encoding:
    """Write a list as a JSON array."""
    out = []
    for position, item in enumerate(list(value)):
        out.append((yield position, item) if type(item) not in _AS_IS else item)
    return out


def encode_text_dict(value: dict[str, Any], _: Losses) -> Encoding:
    """Write a dict that JSON can hold: text keys, none of them ``$stash``."""
    out = {}
    for key, item in list(value.items()):
        out[key] = (yield key, item) if type(item) not in _AS_IS else item
    return out


def has_text_keys(value: dict[Any, Any]) -> bool:
    """Tell whether a dict may be written as a JSON object."""
    return all(map(is_json_key, list(value))) and TAG not in value


def encode_tuple(value: tuple[Any, ...], _: Losses) -> Encoding:
    """Write a tuple."""
    return {TAG: TUPLE, "items": (yield from _items(value))}


def encode_set(value: set[Any] | frozenset[Any], _: Losses) -> Encoding:
    """Write a set or frozenset in canonical order."""
    items = yield from _items(list(value))
    return {TAG: SET if type(value) is set else FROZENSET, "items": sorted(items, key=canonical_form)}


def encode_dict(value: dict[Any, Any], _: Losses) -> Encoding:
    """Write a dict that a JSON object cannot hold."""
    return {TAG: DICT, "items": (yield from _pairs(value))}


def _encode_ordered_dict(value: dict[Any, Any], _: Losses) -> Encoding:
    return {TAG: ORDERED_DICT, "items": (yield from _pairs(value))}


def _encode_counter(value: dict[Any, Any], _: Losses) -> Encoding:
    return {TAG: COUNTER, "items": (yield from _pairs(value))}


def _encode_default_dict(value: collections.defaultdict[Any, Any], _: Losses) -> Encoding:
    factory: Any = value.default_factory
    name = None if factory is None else next((name for name, known in _FACTORIES.items() if known is factory), "")
    if name == "":
        raise NotStorable("its default factory is code; only builtin types and None are stored")
    return {TAG: DEFAULT_DICT, "factory": name, "items": (yield from _pairs(value))}


def _encode_deque(value: collections.deque[Any], _: Losses) -> Encoding:
    return {TAG: DEQUE, "maxlen": value.maxlen, "items": (yield from _items(list(value)))}


def _encode_slice(value: slice, _: Losses) -> Encoding:
    tag: Tag = {TAG: SLICE}
    for name in ("start", "stop", "step"):
        tag[name] = yield name, getattr(value, name)
    return tag


def _items(values: Iterable[Any]) -> Generator[tuple[Step, Any], Json, list[Json]]:
    out = []
    for position, item in enumerate(values):
        out.append((yield ("items", position), item))
    return out


def _pairs(value: dict[Any, Any]) -> Generator[tuple[Step, Any], Json, list[Json]]:
    out = []
    for position, (key, item) in enumerate(list(value.items())):
        key_tree = yield ("items", position, 0), key
        out.append([key_tree, (yield ("items", position, 1), item)])
    return out


ENCODERS: dict[type, Callable[[Any, Losses], Encoding]] = {
    tuple: encode_tuple,
    set: encode_set,
    frozenset: encode_set,
    collections.OrderedDict: _encode_ordered_dict,
    collections.Counter: _encode_counter,
    collections.defaultdict: _encode_default_dict,
    collections.deque: _encode_deque,
    slice: _encode_slice,
}
"""By exact type; lists and dicts apart, which the driver tells by what they hold."""


def decode_list(tree: list[Json]) -> Decoding:
    """Read a JSON array."""
    out = list(tree)
    for position, item in enumerate(tree):
        if type(item) is dict or type(item) is list:
            out[position] = yield item
    return out


def decode_object(tree: dict[str, Json]) -> Decoding:
    """Read a JSON object that is no tag."""
    out = {}
    for key, item in tree.items():
        out[key] = (yield item) if type(item) is dict or type(item) is list else item
    return out


def _decode_items(build: Callable[[list[Any]], Any]) -> Callable[[Tag], Decoding]:
    def decode(tag: Tag) -> Decoding:
        return build((yield from decode_list(_list(tag))))

    return decode


def _decode_set(build: Callable[[list[Any]], Any]) -> Callable[[Tag], Decoding]:
    def decode(tag: Tag) -> Decoding:
        items = yield from decode_list(_list(tag))
        value = build(items)
        if len(value) != len(items):
            raise ValueError("an item twice")
        return value

    return decode


def _decode_pairs(build: Callable[[Tag, list[tuple[Any, Any]]], Any]) -> Callable[[Tag], Decoding]:
    def decode(tag: Tag) -> Decoding:
        pairs = []
        for pair in _list(tag):
            if type(pair) is not list:
                raise TypeError("items")
            key_tree, item_tree = pair
            key = yield key_tree
            pairs.append((key, (yield item_tree)))
        return build(tag, pairs)

    return decode


def _decode_slice(tag: Tag) -> Decoding:
    start, stop, step = tag["start"], tag["stop"], tag["step"]
    return slice((yield start), (yield stop), (yield step))


def _decode_deque(tag: Tag) -> Decoding:
    limit = tag["maxlen"]
    if limit is not None and type(limit) is not int:
        raise TypeError("maxlen")
    return collections.deque((yield from decode_list(_list(tag))), limit)


def _default_dict(tag: Tag, pairs: list[tuple[Any, Any]]) -> Any:
    return collections.defaultdict(None if tag["factory"] is None else _FACTORIES[tag["factory"]], pairs)


def _counter(_: Tag, pairs: list[tuple[Any, Any]]) -> Any:
    return collections.Counter(dict(pairs))


def _list(tag: Tag) -> list[Json]:
    items = tag["items"]
    if type(items) is not list:
        raise TypeError("items")
    return items


DECODERS: dict[str, Callable[[Tag], Decoding]] = {
    TUPLE: _decode_items(tuple),
    SET: _decode_set(set),
    FROZENSET: _decode_set(frozenset),
    DICT: _decode_pairs(lambda _, pairs: dict(pairs)),
    ORDERED_DICT: _decode_pairs(lambda _, pairs: collections.OrderedDict(pairs)),
    COUNTER: _decode_pairs(_counter),
    DEFAULT_DICT: _decode_pairs(_default_dict),
    DEQUE: _decode_deque,
    SLICE: _decode_slice,
}
