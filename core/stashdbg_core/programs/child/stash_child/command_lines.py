"""A command as it is recorded: its words, its name, and the environment in which Python commands are recorded too."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def argv_of(args: Any, shell: bool) -> list[str]:
    """Return the words of what really runs."""
    listed = [args] if isinstance(args, (str, bytes, os.PathLike)) else list(args)
    words = [os.fsdecode(word) for word in listed]
    return ["/bin/sh", "-c", *words] if shell else words


def name_of(argv: list[str]) -> str:
    """Return the key of the call."""
    return os.path.basename(argv[0]) if argv and argv[0] else "?"


def environment_for(env: Any | None, seq: int | None, lane: str | None) -> dict[Any, Any]:
    """Return an environment in which Python processes are recorded, as part of the call ``seq`` if there is one."""
    from .start import inherited

    made = dict(os.environ if env is None else env)
    text = {key: value for key, value in inherited.items() if key != "folder"}
    text.update(STASHDBG_PARENT="" if seq is None else str(seq), STASHDBG_PROCESS=lane or "")
    if any(isinstance(key, bytes) for key in made):
        made = {os.fsdecode(key): os.fsdecode(value) for key, value in made.items()}
    path = made.get("PYTHONPATH")
    made["PYTHONPATH"] = inherited["folder"] + (os.pathsep + path if path else "")
    hidden = {key: value for key, value in text.items() if key not in made}
    made.update(hidden)
    extra = [key for key in inherited if key != "folder" and not key.startswith("STASHDBG_")]
    if extra:
        made["STASHDBG_HIDE"] = ",".join(extra)
    return made
