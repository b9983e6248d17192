"""Instances of the program's own classes, read: the real thing if the class is registered.

No constructor, validator or property runs: what was recorded is what comes back.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.tags import ENUM, MODEL, NAMED_TUPLE, TAG, UNSTORABLE
from stashdbg_core.values.classes import SHOWN
from stashdbg_core.values.containers import Decoding
from stashdbg_core.values.recorded import RecordedObject
from stashdbg_core.values.registry import TypeRegistry
from stashdbg_core.values.scalars import Tag

_get = object.__getattribute__
_set = object.__setattr__


def decode_subclass(tag: Tag, types: TypeRegistry) -> Decoding:
    """Read an instance of a subclass of a builtin type."""
    name = tag["class"]
    if type(name) is not str:
        raise TypeError("class")
    content = yield tag["value"]
    attributes = (yield tag["attributes"]) if "attributes" in tag else {}
    cls: Any = types.class_for(name)
    base: Any = type(content)
    if cls is None:
        return RecordedObject(name, {"value": content, **attributes}, tag)
    if base not in SHOWN or not issubclass(cls, base):
        raise _changed(name, f"is no subclass of {base.__name__} any more")
    try:
        value = base.__new__(cls) if base in _FILL else base.__new__(cls, content)
        if base in _FILL:
            _FILL[base](value, content)
        for key, item in attributes.items():
            _set(value, key, item)
    except Exception as error:
        raise _changed(name, f"does not take what was recorded ({type(error).__name__})") from error
    return value


def decode_instance(tag: Tag, types: TypeRegistry) -> Decoding:
    """Read an enum member, dataclass, model or named tuple: the real one if its class is registered."""
    name = tag["class"]
    if type(name) is not str:
        raise TypeError("class")
    cls = types.class_for(name)
    if tag[TAG] == ENUM:
        values = [(yield tag["value"])] if "value" in tag else []
        if cls is None:
            return RecordedObject(name, {"name": tag["name"], **dict(zip(("value",), values, strict=False))}, tag)
        return _member(cls, tag["name"], values, name)
    fields = yield tag["fields"]
    if type(fields) is not dict or not all(type(key) is str for key in fields):
        raise TypeError("fields")
    extra = (yield _storable_part(tag["extra"])) if "extra" in tag else {}
    if cls is None:
        return RecordedObject(name, {**fields, **extra}, tag)
    private = yield tag.get("private")
    try:
        if tag[TAG] == MODEL:
            return _model(cls, fields, extra if "extra" in tag else None, private, tag["set"])
        if tag[TAG] == NAMED_TUPLE:
            return tuple.__new__(cls, [fields[field] for field in cls._fields])  # type: ignore[attr-defined]
        return _dataclass(cls, {**fields, **extra})
    except Exception as error:
        raise _changed(name, f"does not take what was recorded ({type(error).__name__})") from error


def _storable_part(tree: Json) -> Json:
    """Leave out attributes that were not stored: nobody declared them, and they must not spoil the rest."""
    if type(tree) is not dict or TAG in tree:
        return tree
    return {name: item for name, item in tree.items() if not (type(item) is dict and item.get(TAG) == UNSTORABLE)}


def _member(cls: type, name: Any, values: list[Any], stored_name: str) -> Any:
    if not issubclass(cls, enum.Enum):
        raise _changed(stored_name, "is no enum any more")
    member = cls.__members__.get(name) if type(name) is str else None
    if member is not None and (not values or type(values[0]) is RecordedObject or _same(member._value_, values[0])):
        return member
    try:
        return cls(*values)
    except (ValueError, TypeError):
        raise _changed(stored_name, f"has no member that is the recorded {shorten(str(name), 60)}") from None


def _same(left: Any, right: Any) -> bool:
    if left is right:
        return True
    return type(left) is type(right) and bool(left == right or (left != left and right != right))  # a NaN is no other


def _dataclass(cls: Any, attributes: dict[str, Any]) -> Any:
    value = cls.__new__(cls)
    for name, item in attributes.items():
        _set(value, name, item)
    return value


def _model(cls: Any, fields: dict[str, Any], extra: Any, private: Any, names: Any) -> Any:
    value = cls.__new__(cls)
    if extra is None and getattr(cls, "model_config", {}).get("extra") == "allow":
        extra = {}
    _set(value, "__dict__", fields)
    _set(value, "__pydantic_fields_set__", set(names))
    _set(value, "__pydantic_extra__", extra)
    if private is None and getattr(cls, "__private_attributes__", None):
        private = {}
    _set(value, "__pydantic_private__", private)
    return value


def _changed(name: str, how: str) -> Exception:
    return invalid_recording(
        f"the class {shorten(name, 80)} {how}",
        hint="register the class as it was when the run was recorded, or record again",
    )


_FILL: dict[Any, Callable[[Any, Any], None]] = {dict: dict.update, list: list.extend, set: set.update}
