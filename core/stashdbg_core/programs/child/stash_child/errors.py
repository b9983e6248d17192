"""Exceptions as trees, and back: ``except`` catches what it caught, and ``str()`` says what it said.

Builtin exceptions, those of standard library modules that are loaded, and those of the modules a hook names are made
anew by the builtin they extend, not by their own constructor. Any other comes back as a ``RecordedError`` that is an
instance of the same builtin exception.
"""

from __future__ import annotations

import builtins
import os
import sys

from .trees import TAG, _plain, class_name, unstorable, untree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_MEMBERS: tuple[tuple[type[BaseException], tuple[str, ...]], ...] = (
    (OSError, ("errno", "strerror", "filename", "filename2")),
    (ImportError, ("msg", "name", "path")),
    (SyntaxError, ("msg", "filename", "lineno", "offset", "text", "end_lineno", "end_offset")),
    (StopIteration, ("value",)),
    (SystemExit, ("code",)),
    (NameError, ("name",)),
    (AttributeError, ("name",)),
)
_DEEPEST = 100
_CANCELLED = ("asyncio.exceptions:CancelledError", "concurrent.futures._base:CancelledError", "trio:Cancelled")


class RecordedError(Exception):
    """A recorded exception whose class is not rebuilt; ``str()`` is the original text."""

    type_name = "Exception"
    recorded_text = ""

    def __str__(self) -> str:
        return self.recorded_text


def error_tree(error: BaseException, depth: int = 0) -> dict[str, Any]:
    """Return the tree of an exception, its causes and members included; never raises for its sake."""
    try:
        return _tree(error, depth, ())
    except Exception as failure:  # noqa: BLE001 - recording an exception must not put another in its place
        return unstorable(error, "reading it raised %s" % type(failure).__name__)


def rebuild_error(tree: Any, *modules: ModuleType | str) -> BaseException:
    """Return an exception that can be raised, whatever the tree.

    Args:
        tree: Of ``error_tree``.
        modules: Packages whose exceptions may be made too: modules, or their names; only what is loaded is looked at.
    """
    if not isinstance(tree, dict) or tree.get(TAG) != "exception":
        return _recorded("", ("?", "Exception"), [], {}, str(untree(tree)))
    name = str(tree.get("class", ""))
    args = [untree(part) for part in tree.get("args") or []]
    if "exceptions" in tree:
        args = [*args[:1], [rebuild_error(member, *modules) for member in tree["exceptions"]]]
    attributes = {key: untree(part) for key, part in (tree.get("attributes") or {}).items()}
    text = tree.get("text")
    text = untree(text) if text is not None else None
    cls = _class_of(name, str(tree.get("kind", "")), [m if isinstance(m, str) else m.__name__ for m in modules])
    error = None if cls is None else _build(cls, args, attributes, text)
    if error is None:
        module, _, qualname = name.partition(":")
        error = _recorded(str(tree.get("base", "")), (module, qualname), args, attributes, text)
    for key in ("cause", "context"):
        if key in tree:
            setattr(error, "__%s__" % key, rebuild_error(tree[key], *modules))
    error.__suppress_context__ = tree.get("suppressed") is True
    if tree.get("notes"):
        error.__notes__ = [untree(note) for note in tree["notes"]]
    return error


def _tree(error: BaseException, depth: int, seen: tuple[int, ...]) -> dict[str, Any]:
    cls = type(error)
    seen = (*seen, id(error))
    tree: dict[str, Any] = {TAG: "exception", "class": class_name(cls)}
    base = _builtin_base(cls)
    kind = _kind(error)
    if kind is not None:
        tree["kind"] = kind
    if base is not cls and base is not Exception:
        tree["base"] = base.__name__
    text = _said_by(error)
    if text is not None:
        tree["text"] = _plain(text, 0)
    members = getattr(error, "exceptions", None) if _is_group(error) else None
    tree["args"] = [_plain(part, depth + 1) for part in (error.args if members is None else error.args[:1])]
    if members is not None:
        tree["exceptions"] = [_tree(member, depth + 1, seen) for member in members if id(member) not in seen]
    _add_attributes(error, tree, depth)
    notes = getattr(error, "__notes__", None)
    if isinstance(notes, list) and notes:
        tree["notes"] = [_plain(note, 0) for note in notes if type(note) is str]
    links = (("cause", error.__cause__), ("context", None if error.__suppress_context__ else error.__context__))
    for key, link in links:
        if link is not None and id(link) not in seen and depth < _DEEPEST:
            tree[key] = _tree(link, depth + 1, seen)
    if error.__suppress_context__:
        tree["suppressed"] = True
    return tree


def _add_attributes(error: BaseException, tree: dict[str, Any], depth: int) -> None:
    found: dict[str, Any] = {}
    for base, names in _MEMBERS:
        if isinstance(error, base):
            found.update((name, getattr(error, name, None)) for name in names)
    found = {name: value for name, value in found.items() if value is not None}
    found.update(getattr(error, "__dict__", {}))
    kept, omitted = {}, []
    for name, value in found.items():
        if not _is_attribute(name):
            continue
        part = _plain(value, depth + 1)
        if _is_lost(part):
            omitted.append(name)
        else:
            kept[name] = part
    if kept:
        tree["attributes"] = kept
    if omitted:
        tree["omitted"] = omitted


def _is_lost(tree: Any) -> bool:
    if isinstance(tree, list):
        return any(map(_is_lost, tree))
    return isinstance(tree, dict) and (tree.get(TAG) == "unstorable" or any(map(_is_lost, tree.values())))


def _is_attribute(name: Any) -> bool:
    return type(name) is str and not name.startswith("__") and name not in (TAG, "args")


def _is_group(error: BaseException) -> bool:
    group = getattr(builtins, "BaseExceptionGroup", None)
    return group is not None and isinstance(error, group)


def _said_by(error: BaseException) -> str | None:
    try:
        return "".join([str(error)])
    except Exception:  # noqa: BLE001 - an exception that cannot say what it is still gets recorded
        return None


def _kind(error: BaseException) -> str | None:
    if isinstance(error, KeyboardInterrupt):
        return "interrupt"
    if isinstance(error, SystemExit):
        return "exit"
    return "cancelled" if any(class_name(base) in _CANCELLED for base in type(error).__mro__) else None


def _builtin_base(cls: type) -> type:
    return next(base for base in cls.__mro__ if base.__module__ == "builtins" and issubclass(base, BaseException))


def _class_of(name: str, kind: str, modules: list[str]) -> type | None:
    module_name, _, qualname = name.partition(":")
    cls: Any = None
    if module_name == "builtins" or _is_allowed(module_name, modules):
        cls = sys.modules.get(module_name)
        for part in qualname.split("."):
            cls = getattr(cls, "__dict__", {}).get(part)
        if cls is None:  # a class that says another module than it is in
            found = (vars(sys.modules[top]).get(qualname) for top in modules if top in sys.modules)
            cls = next((one for one in found if isinstance(one, type) and class_name(one) == name), None)
    if isinstance(cls, type) and issubclass(cls, BaseException):
        return cls
    if kind == "cancelled":
        import asyncio

        return asyncio.CancelledError
    return {"interrupt": KeyboardInterrupt, "exit": SystemExit}.get(kind)


def _is_allowed(module_name: str, modules: list[str]) -> bool:
    top = module_name.partition(".")[0]
    if top in {module.partition(".")[0] for module in modules}:
        return True
    standard = getattr(sys, "stdlib_module_names", None)
    if standard is not None:
        return top in standard
    file_name = getattr(sys.modules.get(top), "__file__", None)
    folder = os.path.dirname(os.__file__) + os.sep
    inside = isinstance(file_name, str) and file_name.startswith(folder) and "-packages" not in file_name
    return top in sys.builtin_module_names or inside


def _build(cls: type, args: list[Any], attributes: dict[str, Any], text: Any) -> BaseException | None:
    try:
        error = _make(cls, args, attributes)
        if text is not None and _said_by(error) != text:  # its text came from what is not stored
            names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__str__": lambda _: text}
            error = _make(type(cls.__name__, (cls,), names), args, attributes)
    except Exception:  # noqa: BLE001 - a class that cannot be made from outside leaves the stand-in
        return None
    return error


def _make(cls: type, args: list[Any], attributes: dict[str, Any]) -> BaseException:
    base: Any = _builtin_base(cls)
    try:
        error = base.__new__(cls, *args)
        if type(error) is not cls:  # OSError(2, …) makes a FileNotFoundError of itself
            error = base.__new__(cls)
        base.__init__(error, *args)
    except Exception:  # noqa: BLE001 - args that this builtin cannot have been made with
        error = base.__new__(cls)
    error.args = tuple(args)
    _set_attributes(error, attributes)
    return error  # type: ignore[no-any-return]


def _set_attributes(error: BaseException, attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        if _is_attribute(name):
            try:
                object.__setattr__(error, name, value)
            except (AttributeError, TypeError):  # read-only in this class
                continue


def _recorded(
    base: str, name: tuple[str, str], args: list[Any], attributes: dict[str, Any], text: Any
) -> BaseException:
    builtin = vars(builtins).get(base)
    cls: Any = RecordedError
    if isinstance(builtin, type) and issubclass(builtin, Exception) and not issubclass(RecordedError, builtin):
        try:
            cls = type("RecordedError", (RecordedError, builtin), {"__init__": _take_any})
        except TypeError:  # layouts that do not go together
            cls = RecordedError
    try:
        error = cls(*args)
    except Exception:  # noqa: BLE001 - args that the builtin cannot have been made with
        error = RecordedError(*args)
    error.type_name = name[1]
    error.recorded_text = text if isinstance(text, str) else ""
    _set_attributes(error, {key: value for key, value in attributes.items() if key not in ("type_name",)})
    return error  # type: ignore[no-any-return]


def _take_any(self: BaseException, *args: object) -> None:
    self.args = args
