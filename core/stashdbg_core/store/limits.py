"""How much a file may ask of its reader; checked before the work is done, each limit named when it is broken."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from stashdbg_core.errors import invalid_input

_AMOUNT = re.compile(r"(\d{1,18})(|k|m|g|t)(b?)", re.IGNORECASE)
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a recording may hold at most."""

    size: int = 16 * 10**9
    """Bytes of the file."""
    depth: int = 2000
    """Nesting of a value."""
    events: int = 50_000_000
    blobs: int = 100_000_000
    digits: int = 4300
    """Characters of one number."""
    line: int = 2 * 10**9
    """Bytes of one event or value."""

    @classmethod
    def parse(cls, settings: Iterable[str]) -> Limits:
        """Return the defaults changed by settings such as ``depth=5000`` and ``size=2GB``.

        Raises:
            StashError: ``ERR_INVALID_INPUT``: no such limit, or not an amount.
        """
        names = [field.name for field in fields(cls)]
        changes: dict[str, int] = {}
        for setting in settings:
            name, _, amount = setting.partition("=")
            found = _AMOUNT.fullmatch(amount.strip())
            if name not in names or found is None:
                raise invalid_input(
                    f"{setting[:80]!r} is not a limit",
                    hint=f"write NAME=AMOUNT, such as size=2GB; names: {', '.join(names)}",
                )
            changes[name] = int(found.group(1)) * _UNITS[found.group(2).lower()]
        return replace(cls(), **changes)
