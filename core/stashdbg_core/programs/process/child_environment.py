"""The environment that makes a program record itself.

Loads nothing: a program is started before anything else is loaded.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

CHILD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "child")
"""The folder that a program's Python loads."""
LARGEST_HASH_SEED = 2**32 - 1
_OURS = "STASHDBG_"
_KEPT = frozenset({"STASHDBG_TRACEBACK"})


def hash_seed_of(base: Mapping[str, str]) -> int:
    """Return the ``PYTHONHASHSEED`` of a program to be recorded: the one its environment chooses, or 0."""
    given = base.get("PYTHONHASHSEED", "")
    chosen = int(given) if given.isascii() and given.isdecimal() and len(given) < 11 else 0
    return chosen if chosen <= LARGEST_HASH_SEED else 0


def environment(hash_seed: int, mode: str, socket: str, token: str, base: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a program.

    Args:
        hash_seed: Its ``PYTHONHASHSEED``.
        mode: ``record``, ``replay`` or ``continue``: what a program does that cannot reach us depends on it.
        socket: Where its questions are answered.
        token: What it has to know.
        base: The environment it would have without us.
    """
    kept = {name: value for name, value in base.items() if not name.startswith(_OURS) or name in _KEPT}
    path = [part for part in base.get("PYTHONPATH", "").split(os.pathsep) if part and part != CHILD]
    hidden = "" if "PYTHONHASHSEED" in base else "PYTHONHASHSEED"
    return kept | {
        "STASHDBG_HIDE": hidden,
        "PYTHONPATH": os.pathsep.join([CHILD, *path]),
        "PYTHONHASHSEED": str(hash_seed),
        "STASHDBG_MODE": mode,
        "STASHDBG_SOCKET": socket,
        "STASHDBG_TOKEN": token,
    }
