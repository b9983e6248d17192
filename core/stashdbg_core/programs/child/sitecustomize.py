"""Loaded by Python at the start of a recorded program, in place of the program's own ``sitecustomize``.

``PYTHONPATH`` begins with this folder. What is done here must leave no trace: the folder and the variables vanish from
what the program sees, the recording starts, and the ``sitecustomize`` that would have been loaded is.
"""

from __future__ import annotations

import os
import sys


def _start(folder: str) -> None:
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != folder]
    if not os.environ.get("STASHDBG_SOCKET"):
        return
    sys.path.insert(0, folder)
    try:
        start = __import__("stash_child.start", fromlist=["start"])
    finally:
        sys.path.remove(folder)
        sys.path_importer_cache.pop(folder, None)
    start.start(folder)


def _load_the_other() -> None:
    own = sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if own is not None:  # the import that is going on needs an entry; it vanishes when the next one begins
            sys.modules.setdefault("sitecustomize", own)


def _fail(error: Exception, replays: bool) -> None:
    what = "this program could not be replayed, and does not run" if replays else "this program runs unrecorded"
    text = "stashdbg: %s: %s: %s\n" % (what, type(error).__name__, error)
    os.write(2, text.encode("utf-8", "backslashreplace"))
    if replays:
        os._exit(1)


if __name__ == "sitecustomize":
    try:
        _start(os.path.dirname(os.path.abspath(__file__)))
    except Exception as _error:  # noqa: BLE001 - whatever it is, the program is told and not broken
        _calls = sys.modules.get("stash_child.calls")
        _fail(_error, "replay" in (os.environ.get("STASHDBG_MODE"), None if _calls is None else _calls.mode()))
    _load_the_other()
