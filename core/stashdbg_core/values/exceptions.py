"""Exceptions as trees, and back: ``except`` catches what it caught, and ``str()`` says what it said.

Stored are the class's name, text, args, attributes that can be stored, cause, context, notes and a group's members;
never a traceback or a local variable. Builtin exceptions come back as themselves, and so do those of standard library
modules that the program has loaded, and registered classes; they are made without their own ``__init__``, whose
parameters nobody knows. Any other comes back as a ``RecordedError``, which is an instance of the same builtin
exception too, so that ``except OSError`` still catches it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from stashdbg_core.canonical import Json
from stashdbg_core.tags import EXCEPTION, TAG
from stashdbg_core.values.containers import Encoding
from stashdbg_core.values.losses import Losses
from stashdbg_core.values.names import class_name, loaded_class
from stashdbg_core.values.scalars import Tag

ExceptionKind: TypeAlias = Literal["error", "cancelled", "interrupt", "exit"]

_MEMBERS: dict[type[BaseException], tuple[str, ...]] = {
    OSError: ("errno", "strerror", "filename", "filename2"),
    ImportError: ("msg", "name", "path"),
    SyntaxError: ("msg", "filename", "lineno", "offset", "text", "end_lineno", "end_offset"),
    StopIteration: ("value",),
    SystemExit: ("code",),
    NameError: ("name",),
    AttributeError: ("name",),
}
"""What builtin exceptions keep outside their ``__dict__`` and their args."""
OMITTED = "__stashdbg_omitted__"
"""On a rebuilt exception: the attributes that it was recorded without, so that recording it again stores the same."""


class RecordedError(Exception):
    """A recorded exception whose class the program has not registered; ``str()`` is the original text."""

    type_name = "Exception"
    """The class's qualified name."""
    module = "builtins"
    attributes: Mapping[str, Any] = MappingProxyType({})
    """The attributes that could be stored."""
    recorded_text: str = ""
    tree: Json = None
    """The exception as stored; recording the error again stores the same."""

    def __str__(self) -> str:
        return self.recorded_text

    def __repr__(self) -> str:
        return f"<recorded {self.module}:{self.type_name}: {self.recorded_text}>"


def encoder_for(cls: type) -> Callable[[Any, Losses], Encoding] | None:
    """Return what takes instances of this class apart, or None."""
    return _encode if issubclass(cls, BaseException) else None


def exception_kind(tree: Json) -> ExceptionKind:
    """Tell from a recorded exception whether the call failed, was cancelled, interrupted, or left the program."""
    kind = tree.get("kind") if type(tree) is dict and tree.get(TAG) == EXCEPTION else None
    return kind if kind in ("cancelled", "interrupt", "exit") else "error"


def _encode(error: BaseException, losses: Losses) -> Encoding:
    if isinstance(error, RecordedError) and error.tree is not None:
        return error.tree
    cls = type(error)
    tag: Tag = {TAG: EXCEPTION, "class": class_name(cls)}
    base = builtin_base(cls)
    if (kind := _kind(error)) != "error":
        tag["kind"] = kind
    if base is not cls and base is not Exception:
        tag["base"] = base.__name__
    text = text_of(error)
    if text is not None:
        tag["text"] = yield "text", text
    members = list(error.exceptions) if isinstance(error, BaseExceptionGroup) else None
    tag["args"] = yield "args", list(error.args if members is None else error.args[:1])
    if members is not None:
        tag["exceptions"] = yield "exceptions", members
    yield from _encode_attributes(error, tag, losses)
    notes = _own(error, "__notes__")
    if type(notes) is list and notes:
        tag["notes"] = yield "notes", [note for note in notes if type(note) is str]
    links = {"cause": error.__cause__, "context": None if error.__suppress_context__ else error.__context__}
    for key, link in links.items():
        if link is not None:
            before = losses.count
            tree = yield key, link
            if type(tree) is dict and tree.get(TAG) == EXCEPTION:  # else a chain that bites its tail
                tag[key] = tree
            else:
                losses.back_to(before)
    if error.__suppress_context__:
        tag["suppressed"] = True
    return tag


def _encode_attributes(error: BaseException, tag: Tag, losses: Losses) -> Encoding:
    kept, omitted = {}, list(vars(error).get(OMITTED, ()))
    for name, value in _attributes(error).items():
        before = losses.count
        tree = yield ("attributes", name), value
        if losses.back_to(before):
            omitted.append(name)
        else:
            kept[name] = tree
    if kept:
        tag["attributes"] = kept
    if omitted:
        tag["omitted"] = omitted
    return None


def _attributes(error: BaseException) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for base, names in _MEMBERS.items():
        if isinstance(error, base):
            found.update({name: _own(error, name) for name in names})
    found = {name: value for name, value in found.items() if value is not None}
    for cls in type(error).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            if isinstance(name, str) and (value := _own(error, name)) is not None:
                found[name] = value
    found.update(vars(error))
    return {name: value for name, value in found.items() if type(name) is str and is_attribute(name)}


def _own(error: BaseException, name: str) -> Any:
    """Return an attribute or None, past a ``__getattr__``: one that delegates breaks on a rebuilt exception."""
    try:
        return object.__getattribute__(error, name)
    except AttributeError:
        return None


def is_attribute(name: str) -> bool:
    """Tell whether an attribute of this name is kept with an exception."""
    return not name.startswith("__") and name not in (TAG, "args")


def text_of(error: BaseException) -> str | None:
    """Return what an exception says of itself, or None if it raises."""
    try:
        return "".join([str(error)])  # joining makes a subclass of str plain
    except Exception:  # noqa: BLE001 - an exception that cannot say what it is still gets recorded
        return None


def _kind(error: BaseException) -> ExceptionKind:
    if isinstance(error, KeyboardInterrupt):
        return "interrupt"
    if isinstance(error, SystemExit):
        return "exit"
    for name in ("asyncio.exceptions:CancelledError", "concurrent.futures._base:CancelledError"):
        cls = loaded_class(name)
        if cls is not None and isinstance(error, cls):
            return "cancelled"
    return "error"


def builtin_base(cls: type) -> type[BaseException]:
    """Return the nearest builtin exception that a class is or extends."""
    return next(base for base in cls.__mro__ if base.__module__ == "builtins" and issubclass(base, BaseException))
