"""Exceptions out of their tags: instances that can be raised, whatever the tag."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.values.containers import Decoding
from stashdbg_core.values.exceptions import (
    OMITTED,
    RecordedError,
    builtin_base,
    exception_kind,
    is_attribute,
    text_of,
)
from stashdbg_core.values.names import loaded_class
from stashdbg_core.values.registry import TypeRegistry
from stashdbg_core.values.scalars import Tag


def decode_error(tag: Tag, types: TypeRegistry) -> Decoding:
    """Read an exception's tag."""
    name = tag["class"]
    module, _, qualname = name.partition(":")
    args = yield tag["args"]
    attributes = {}
    for key, tree in tag.get("attributes", {}).items():
        attributes[key] = yield tree
    if "exceptions" in tag:  # a group's args are its message and its members
        args = [*args[:1], (yield tag["exceptions"])]
    text = yield tag.get("text")
    error = _build(_class_of(tag, types), args, attributes, text)
    if error is None:
        error = _recorded(tag, args, (module, qualname), attributes, text)
    elif "omitted" in tag:
        vars(error)[OMITTED] = [name for name in tag["omitted"] if type(name) is str]
    for key in ("cause", "context"):
        if key in tag:
            link = yield tag[key]
            if isinstance(link, BaseException):
                setattr(error, f"__{key}__", link)
    error.__suppress_context__ = tag.get("suppressed") is True
    for note in (yield tag.get("notes", [])):
        error.add_note(note)
    return error


def foreign_error(tree: Json) -> RecordedError:
    """Make the error for a recorded throw that is no exception of ours, such as another tool's ``{name, message}``."""
    named = tree if type(tree) is dict else {}
    text = next((named[key] for key in ("message", "text", "error") if type(named.get(key)) is str), None)
    name = next((named[key] for key in ("name", "type", "class") if type(named.get(key)) is str), "Exception")
    if text is None:
        text = tree if type(tree) is str else ""
    module, _, qualname = name.rpartition(":")
    return _recorded(tree, [text], (module or "?", qualname), named, text)


def _class_of(tag: Tag, types: TypeRegistry) -> type[BaseException] | None:
    name: str = tag["class"]
    cls = types.class_for(name)
    if cls is None and re.split("[.:]", name, maxsplit=1)[0] in sys.stdlib_module_names:
        cls = loaded_class(name)
    if cls is None or not issubclass(cls, BaseException):
        kind = exception_kind(tag)
        if kind == "cancelled":
            from asyncio import CancelledError

            return CancelledError
        cls = {"interrupt": KeyboardInterrupt, "exit": SystemExit}.get(kind)
    return cls


def _build(
    cls: type[BaseException] | None, args: list[Any], attributes: dict[str, Any], text: str | None
) -> BaseException | None:
    if cls is None or type(args) is not list:
        return None
    base: Any = builtin_base(cls)
    try:
        error = _make(cls, base, args, attributes)
        if text is not None and text_of(error) != text:  # its text came from what is lost
            names = {"__str__": lambda _: text, "__module__": cls.__module__, "__qualname__": cls.__qualname__}
            error = _make(type(cls.__name__, (cls,), {**names, "__slots__": ()}), base, args, attributes)
    except Exception:  # noqa: BLE001 - a class that cannot be made from outside leaves the stand-in
        return None
    return error


def _make(cls: type[BaseException], base: Any, args: list[Any], attributes: dict[str, Any]) -> BaseException:
    """Make an instance by the builtin it extends, without code of its own class."""
    error: BaseException
    try:
        error = base.__new__(cls, *args)
        if type(error) is not cls:  # OSError(2, …) makes a FileNotFoundError of itself
            error = base.__new__(cls)
        base.__init__(error, *args)
    except Exception:  # noqa: BLE001 - args that this builtin cannot have been made with
        error = base.__new__(cls)
    error.args = tuple(args)
    _set_attributes(error, attributes)
    return error


def _set_attributes(error: BaseException, attributes: Mapping[str, Any]) -> None:
    for name, value in attributes.items():
        if is_attribute(name):
            try:
                object.__setattr__(error, name, value)
            except (AttributeError, TypeError):  # read-only in this class
                continue


def _recorded(tree: Json, args: Any, name: tuple[str, str], attributes: Mapping[str, Any], text: Any) -> RecordedError:
    base = tree.get("base") if type(tree) is dict else None
    args = args if type(args) is list else []
    try:
        error = _recorded_class(base if type(base) is str else "")(*args)
    except Exception:  # noqa: BLE001 - args that the builtin cannot have been made with
        error = RecordedError(*args)
    error.module, error.type_name = name
    error.tree = tree
    error.recorded_text = text if type(text) is str else ""
    error.attributes = MappingProxyType(dict(attributes))
    return error


@lru_cache(maxsize=128)
def _recorded_class(base: str) -> type[RecordedError]:
    """Return ``RecordedError``, or a subclass of it that is the named builtin exception too."""
    builtin = vars(builtins).get(base)
    if not isinstance(builtin, type) or not issubclass(builtin, Exception) or issubclass(RecordedError, builtin):
        return RecordedError
    try:
        return type(
            "RecordedError", (RecordedError, builtin), {"__module__": RecordedError.__module__, "__init__": _take_any}
        )
    except TypeError:  # layouts that do not go together
        return RecordedError


def _take_any(self: BaseException, *args: object) -> None:
    self.args = args
