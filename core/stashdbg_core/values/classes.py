"""Instances of the program's own classes: enums, dataclasses, pydantic models, named tuples.

They are taken apart without running code of theirs. Pydantic is known by its marks and never imported.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

from stashdbg_core.tags import DATACLASS, ENUM, MODEL, NAMED_TUPLE, SUBCLASS, TAG
from stashdbg_core.values.containers import Encoding
from stashdbg_core.values.losses import Losses
from stashdbg_core.values.names import class_name
from stashdbg_core.values.recorded import RecordedObject
from stashdbg_core.values.scalars import NotStorable, Tag

_get = object.__getattribute__
_set = object.__setattr__


def encoder_for(cls: type) -> Callable[[Any, Losses], Encoding] | None:
    """Return what takes instances of this class apart, or None."""
    if cls is RecordedObject:
        return _encode_recorded
    if issubclass(cls, enum.Enum):
        return _encode_enum
    builtin = next((base for base in SHOWN if issubclass(cls, base)), None)
    if builtin is tuple and _is_named_tuple(cls):
        return _encode_named_tuple
    if builtin is not None:
        return None if cls in (str, bytes, int, float, bool) else encode_shown
    if "__dataclass_fields__" in _namespace(cls):
        return _encode_dataclass
    if "__pydantic_fields_set__" in _namespace(cls):
        return _encode_model
    return None


def _namespace(cls: type) -> set[str]:
    return {name for base in type.__dict__["__mro__"].__get__(cls) for name in base.__dict__}


def _is_named_tuple(cls: type) -> bool:
    names = getattr(cls, "_fields", None)
    return type(names) is tuple and all(type(name) is str for name in names)


def _encode_recorded(value: RecordedObject, _: Losses) -> Encoding:
    return value.tree
    yield


def _encode_enum(value: enum.Enum, losses: Losses) -> Encoding:
    tag: Tag = {TAG: ENUM, "class": class_name(type(value)), "name": _get(value, "_name_")}
    if type(tag["name"]) is not str and tag["name"] is not None:
        raise NotStorable("its name is not text")
    before = losses.count
    tree = yield "value", _get(value, "_value_")
    if not losses.back_to(before):  # else the name alone says which member it is
        tag["value"] = tree
    return tag


def _encode_dataclass(value: Any, _: Losses) -> Encoding:
    fields = {}
    for field in dataclasses.fields(value):
        try:
            fields[field.name] = _get(value, field.name)
        except AttributeError:  # never set
            continue
    tag: Tag = {TAG: DATACLASS, "class": class_name(type(value)), "fields": (yield "fields", fields)}
    extra = {name: item for name, item in _attributes(value).items() if name not in fields}
    if extra:
        tag["extra"] = yield "extra", extra
    return tag


def _encode_model(value: Any, _: Losses) -> Encoding:
    tag: Tag = {TAG: MODEL, "class": class_name(type(value)), "fields": (yield "fields", _attributes(value))}
    tag["set"] = sorted(str(name) for name in _get(value, "__pydantic_fields_set__"))
    for key in ("extra", "private"):
        more = _get(value, f"__pydantic_{key}__")
        if more:
            tag[key] = yield key, dict(more)
    return tag


def _encode_named_tuple(value: Any, _: Losses) -> Encoding:
    if _attributes(value):
        raise NotStorable("it has attributes besides its fields")
    names = type(value)._fields
    if len(names) != tuple.__len__(value):
        raise NotStorable("it has not as many items as fields")
    fields = dict(zip(names, tuple.__iter__(value), strict=True))
    return {TAG: NAMED_TUPLE, "class": class_name(type(value)), "fields": (yield "fields", fields)}


_ALL = slice(None)
SHOWN: dict[type, Callable[[Any], Any]] = {
    dict: dict.copy,
    list: list.copy,
    tuple: lambda value: tuple.__getitem__(value, _ALL),
    str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, _ALL),
    int: int.__int__,
    float: float.__float__,
    set: lambda value: set().union(value),
    frozenset: lambda value: frozenset(set().union(value)),
}
"""The plain content of a subclass of a builtin type, found without code of the subclass's."""


def encode_shown(value: Any, _: Losses) -> Encoding:
    """Write what a subclass of a builtin type holds into its stand-in, for people."""
    base, content = next((base, content) for base, content in SHOWN.items() if isinstance(value, base))
    shown = yield "shown", content(value)
    raise NotStorable(f"it is a subclass of {base.__name__}, and only {base.__name__} itself has a stored form", shown)


def encode_subclass(value: Any, _: Losses) -> Encoding:
    """Write an instance of a registered subclass of a builtin type."""
    content = next(content for base, content in SHOWN.items() if isinstance(value, base))
    tag: Tag = {TAG: SUBCLASS, "class": class_name(type(value)), "value": (yield "value", content(value))}
    attributes = _attributes(value)
    if attributes:
        tag["attributes"] = yield "attributes", attributes
    return tag


def _attributes(value: Any) -> dict[str, Any]:
    try:
        return dict(_get(value, "__dict__"))
    except AttributeError:
        return {}
