"""The start of the recording in a process: who asks, what is hidden, and which hooks are laid."""

from __future__ import annotations

import os

from . import calls, imports, lanes
from .link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VARIABLES = (
    "STASHDBG_SOCKET",
    "STASHDBG_TOKEN",
    "STASHDBG_PARENT",
    "STASHDBG_PROCESS",
    "STASHDBG_MODE",
    "STASHDBG_HIDE",
)
_HOOKS = ("stdin", "clock", "randomness", "process_ids", "guard", "endings", "hooks")
inherited: dict[str, str] = {}
"""What a process that this one starts needs to be recorded too."""


def start(folder: str) -> None:
    """Begin to record or replay this process.

    Args:
        folder: Where ``stash_child`` is; first in ``PYTHONPATH``.

    Raises:
        OSError: The recorder does not answer.
    """
    parent = os.environ.get("STASHDBG_PARENT", "")
    path, token = os.environ["STASHDBG_SOCKET"], os.environ.get("STASHDBG_TOKEN", "")
    link = Link(path, token, os.environ.get("STASHDBG_PROCESS") or None, int(parent) if parent.isdigit() else None)
    calls.connect(link)
    link.process = link.process or calls.settings.get("process")
    lanes.install(link.process)
    inherited.update(STASHDBG_SOCKET=path, STASHDBG_TOKEN=token, STASHDBG_MODE=calls.mode(), folder=folder)
    _hide(folder)
    os.putenv("STASHDBG_MODE", calls.mode())
    os.register_at_fork(before=lanes.before_fork, after_in_child=_after_fork)
    imports.install()
    for name in _HOOKS:
        _lay(name)


def _lay(name: str) -> None:
    try:
        getattr(__import__("", globals(), None, [name], 1), name).install()
    except Exception as error:  # one hook less is no reason not to run the program
        if name == "guard" and calls.mode() == "replay":
            raise
        calls.note("unpinned", "the hook %s could not be laid: %s: %s" % (name, type(error).__name__, error))


def _after_fork() -> None:
    is_own = lanes.after_fork_in_child()
    link = calls.link()
    if link is None:
        return
    link.process = lanes.process()
    if is_own and not link.gone:
        link.go_on_in_fork()
    else:
        link.forget_connections()


def _hide(folder: str) -> None:
    """Take what is ours out of ``os.environ`` alone: the environment that C code hands on keeps it."""
    names = [*VARIABLES, *filter(None, os.environ.get("STASHDBG_HIDE", "").split(","))]
    inherited.update((name, os.environ[name]) for name in names[len(VARIABLES) :] if name in os.environ)
    data: Any = getattr(os.environ, "_data", {})
    for name in names:
        data.pop(os.environ.encodekey(name), None)
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    kept = [entry for entry in entries if os.path.abspath(entry) != folder]
    key, path = os.environ.encodekey("PYTHONPATH"), os.pathsep.join(kept)
    if kept:
        data[key] = os.environ.encodevalue(path)
    else:
        data.pop(key, None)
