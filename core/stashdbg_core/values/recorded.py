"""The stand-in for an instance whose class the program has not registered."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from stashdbg_core.canonical import Json, content_digest

_set = object.__setattr__


class RecordedObject:
    """Stands for a recorded instance whose class is not registered; read-only, its fields are attributes.

    Two of them are equal when the same was recorded. Register the class, or pass ``returns=Class``, to get the real
    one.
    """

    __slots__ = ("fields", "tree", "type_name")

    def __init__(self, type_name: str, fields: Mapping[str, Any], tree: Json) -> None:
        _set(self, "type_name", type_name)
        _set(self, "fields", MappingProxyType(dict(fields)))
        _set(self, "tree", tree)

    type_name: str
    """``module:Qualname`` as recorded."""
    fields: Mapping[str, Any]
    tree: Json
    """The tag as stored."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(f"no field {name!r} was recorded") from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a recorded object is read-only")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a recorded object is read-only")

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordedObject, (self.type_name, dict(self.fields), self.tree)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordedObject) and content_digest(self.tree) == content_digest(other.tree)

    def __hash__(self) -> int:
        return hash(content_digest(self.tree))

    def __repr__(self) -> str:
        parts = "".join(f" {name}={value!r}" for name, value in self.fields.items())
        return f"<recorded {self.type_name}{parts}>"
