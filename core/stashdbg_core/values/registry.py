"""Which of the program's classes may be rebuilt when a recording is replayed.

Nothing is imported because a file says so: a stored value of class ``agent:Reply`` becomes a ``Reply`` again only if
the program registered that class, or a class whose fields are declared to hold it.
"""

from __future__ import annotations

import dataclasses
import threading
import typing
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from stashdbg_core.errors import invalid_input
from stashdbg_core.values.names import class_name

_C = TypeVar("_C", bound=type)


class TypeRegistry:
    """Classes by stored name.

    A class recorded in a script run as ``__main__`` is found when it is registered from a module, and the other way
    round, as long as one registered class alone has that qualified name.

    Args:
        types: Classes, or type hints such as ``list[Reply]`` whose classes are meant.
    """

    def __init__(self, *types: Any) -> None:
        self._classes: dict[str, type] = {}
        self._pending: list[type] = []
        self._lock = threading.RLock()
        self._add(types)

    def register(self, cls: _C) -> _C:
        """Register a class; usable as a decorator.

        Raises:
            StashError: ``ERR_INVALID_INPUT`` if it is not a class.
        """
        if not isinstance(cls, type):
            raise invalid_input("only a class can be registered", hint="pass the class itself, not an instance")
        self._add([cls])
        return cls

    def class_for(self, name: str) -> type | None:
        """Return the registered class of a stored name ``module:Qualname``, or None."""
        found = self._classes.get(name)
        if found is not None:
            return found
        with self._lock:
            found = self._find(name)
            while found is None and self._pending:
                self._add(_declared(self._pending.pop()))
                found = self._find(name)
            return found

    def copy(self) -> TypeRegistry:
        """Return a registry of the same classes that can grow on its own."""
        return self.with_types()

    def with_types(self, *types: Any) -> TypeRegistry:
        """Return a copy that knows these classes and type hints too."""
        with self._lock:
            return TypeRegistry(*self._classes.values(), *types)

    def _find(self, name: str) -> type | None:
        found = self._classes.get(name)
        if found is None:
            module, _, qualname = name.partition(":")
            same = [cls for known, cls in self._classes.items() if known.partition(":")[2] == qualname]
            if len(same) == 1 and "__main__" in (module, same[0].__module__):
                found = same[0]
        return found

    def _add(self, types: Iterable[Any]) -> None:
        with self._lock:
            for cls in _classes_in(types):
                name = class_name(cls)
                if self._classes.get(name) is not cls:
                    self._classes[name] = cls
                    self._pending.append(cls)


def check_types(types: object) -> None:
    """Refuse what is given as ``types`` and is no registry, such as a list of classes.

    Raises:
        StashError: ``ERR_INVALID_INPUT``.
    """
    if types is not None and not isinstance(types, TypeRegistry):
        raise invalid_input(
            f"types is a {type(types).__name__}", hint="give a registry: types=TypeRegistry(Reply, Order)"
        )


def _classes_in(types: Iterable[Any]) -> list[type]:
    """Return the program's classes named in type hints."""
    found: list[type] = []
    pending = list(types)
    seen: set[int] = set()
    while pending:
        hint = pending.pop()
        if id(hint) in seen:
            continue
        seen.add(id(hint))
        pending.extend(typing.get_args(hint))
        if isinstance(hint, type) and not typing.get_args(hint) and hint.__module__ != "builtins":
            found.append(hint)
    return found


def _declared(cls: type) -> list[Any]:
    """Return the type hints of a class's fields; none where they cannot be resolved."""
    model = hasattr(cls, "__pydantic_fields_set__")
    if not (dataclasses.is_dataclass(cls) or model or hasattr(cls, "_fields")):
        return []
    try:
        if model:  # pydantic has resolved them
            fields: Mapping[str, Any] = cls.model_fields  # type: ignore[attr-defined]
            return [field.annotation for field in fields.values()]
        hints: Mapping[str, Any] = typing.get_type_hints(cls)
    except Exception:  # noqa: BLE001 - hints are code of the program's, and may name what does not exist
        return []
    return list(hints.values())
