"""The command of a recorded program: what ``meta.command`` says of it, and how it is started.

What a file says is shown, and run only by the rules of ``trust``; nothing of it is handed to a shell.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.programs.process.child_environment import LARGEST_HASH_SEED, hash_seed_of
from stashdbg_core.programs.process.python_command import isolating_flag
from stashdbg_core.sanitize import shorten

_SEED = re.compile(r"[0-9a-f]{64}")
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Command:
    """A program and what makes its runs alike."""

    argv: tuple[str, ...]
    cwd: Path
    hash_seed: int = 0
    """``PYTHONHASHSEED``: by it sets of texts have the same order in every run."""
    seed: str = ""
    """32 bytes in hex, of which the program makes its random numbers."""

    def to_json(self) -> dict[str, Json]:
        """Return ``meta.command``."""
        return {"argv": list(self.argv), "cwd": str(self.cwd), "hashSeed": self.hash_seed, "seed": self.seed}

    def typed(self, argv: Sequence[str]) -> Command:
        """Return this command with another one typed in its place, here, its seeds kept."""
        return replace(self, argv=checked(argv), cwd=Path.cwd()) if argv else self

    def words(self, limit: int = _SHOWN) -> str:
        """Return the command as one would type it, safe to print."""
        return shorten(shlex.join(self.argv), limit)


def new_command(argv: Sequence[str], seed: str | None = None) -> Command:
    """Return the command of a program to be recorded here, with a new seed unless it has one.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is empty, or its Python is told not to load what records it.
    """
    return Command(checked(argv), Path.cwd(), hash_seed_of(os.environ), seed or os.urandom(32).hex())


def recorded_command(recording: Recording) -> Command | None:
    """Return the command that a recording says it was made by; None if it does not say."""
    said: Any = recording.meta.get("command")
    argv = said.get("argv") if isinstance(said, dict) else None
    if not isinstance(argv, list) or not argv or not all(type(word) is str and "\0" not in word for word in argv):
        return None
    cwd, hash_seed, seed = said.get("cwd"), said.get("hashSeed"), said.get("seed")
    return Command(
        tuple(argv),
        Path(cwd) if type(cwd) is str and "\0" not in cwd and os.path.isabs(cwd) else Path.cwd(),
        hash_seed if type(hash_seed) is int and 0 <= hash_seed <= LARGEST_HASH_SEED else 0,
        seed if type(seed) is str and _SEED.fullmatch(seed) else "0" * 64,
    )


def placeholder_in(recording: Recording) -> str | None:
    """Return a placeholder that stands in a recorded command, or None."""
    from stashdbg_core.redact.placeholders import ANY_PLACEHOLDER

    found = ANY_PLACEHOLDER.search(stored_form(recording.meta.get("command")).decode("utf-8", "replace"))
    return found[0] if found is not None else None


def checked(argv: Sequence[str]) -> tuple[str, ...]:
    """Return a command's words if they can be started and recorded.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there are none, or Python's own flags keep the hooks out.
    """
    if not argv or not argv[0]:
        raise invalid_input("no command was given", hint="write it after --, such as: -- python agent.py")
    flag = isolating_flag(argv)
    if flag is not None:
        raise isolated(flag)
    return tuple(argv)


def isolated(flag: str) -> StashError:
    """Return the error for a Python that is told to load nothing from outside."""
    why = "does without the site module" if flag == "-S" else "ignores PYTHONPATH"
    return invalid_input(
        f"python {flag} {why}, by which stashdbg's hooks are loaded", hint=f"run the program without {flag}"
    )
