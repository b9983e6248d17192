"""Patches that are applied right after a module's first import, without loading anything early.

A finder stands first on ``sys.meta_path``, lets the others find an awaited module, and wraps ``exec_module`` of its
loader for this one import. A patch that fails is noted; it never breaks an import.
"""

from __future__ import annotations

import _thread
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType
    from typing import Any

    Patch = Callable[[Any], None]

_awaited: dict[str, list[Patch]] = {}
_searching = _thread._local()
_leftover = [module for module in [sys.modules.get("sitecustomize")] if module is not None]
failed: Callable[[str], None] = lambda message: None  # noqa: E731 - set by calls.py, which knows where notes go


def when_imported(name: str, patch: Patch) -> None:
    """Call ``patch(module)`` when the module of this dotted name has been loaded; now if it is."""
    _awaited.setdefault(name, []).append(patch)
    module = sys.modules.get(name)
    if module is not None and type(module).__name__ == "_LazyModule":
        _wrap(object.__getattribute__(module, "__spec__"), name)
    elif module is not None:
        _apply(name, module, [patch])


def install() -> None:
    """Begin to watch imports."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds nothing by itself."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """Return what the other finders find, with a loader that applies patches."""
        if _leftover:
            _leave_no_trace()
        if name not in _awaited or getattr(_searching, "name", None) == name:
            return None
        before, _searching.name = getattr(_searching, "name", None), name
        try:
            spec = _found_by_others(name, path, target)
        finally:
            _searching.name = before
        if spec is not None and spec.loader is not None:
            _wrap(spec, name)
        return spec

    def invalidate_caches(self) -> None:
        """Forget nothing: there is nothing."""


def _leave_no_trace() -> None:
    """Drop our ``sitecustomize`` once its import is over, if the program has none of its own."""
    module = sys.modules.get("sitecustomize")
    if module is None or getattr(_leftover[0].__spec__, "_initializing", False):
        return
    if module is _leftover[0]:
        del sys.modules["sitecustomize"]
    _leftover.clear()


def _found_by_others(name: str, path: Sequence[str] | None, target: ModuleType | None) -> Any:
    for finder in list(sys.meta_path):
        if isinstance(finder, _Finder):
            continue
        find = getattr(finder, "find_spec", None)
        spec = None if find is None else find(name, path, target)
        if spec is not None:
            return spec
    return None


def _wrap(spec: Any, name: str) -> None:
    loader = spec.loader
    execute = getattr(loader, "exec_module", None)
    if execute is None:
        return

    def exec_module(module: ModuleType) -> None:
        _unwrap(loader, spec)
        execute(module)
        if type(loader).__name__ == "LazyLoader":  # the one inside runs it when its first attribute is read
            _wrap(module.__spec__, name)
        else:
            _apply(name, module, _awaited.get(name, []))

    if not isinstance(loader, type):  # one class loads all builtin modules
        try:
            loader.exec_module = exec_module
            return
        except (AttributeError, TypeError):
            pass
    spec.loader = _Loader(loader, exec_module)


def _unwrap(loader: Any, spec: Any) -> None:
    if isinstance(spec.loader, _Loader):
        spec.loader = loader
    elif "exec_module" in getattr(loader, "__dict__", {}) and not isinstance(loader, type):
        del loader.exec_module


class _Loader:
    """Stands for a loader that takes no attributes."""

    def __init__(self, loader: Any, exec_module: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self.exec_module = exec_module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _apply(name: str, module: ModuleType, patches: Sequence[Patch]) -> None:
    for patch in list(patches):
        try:
            patch(module)
        except Exception as error:  # noqa: BLE001 - what a hook gets wrong must not become the program's fault
            failed("the hook for %s does not fit this version of it: %s: %s" % (name, type(error).__name__, error))
