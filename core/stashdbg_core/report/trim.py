"""How to make a bundle smaller: sentences that name units and the size that is left without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stashdbg_core.report.units import Unit
from stashdbg_core.session.words import size_words

_TRIED = 20
LAST_RESORT = "Still over: record a shorter reproduction, or hand the bundle over another way than the issue."


def trim_hints(chosen: Sequence[Unit], total: int, ceiling: int, size_of: Callable[[Sequence[Unit]], int]) -> list[str]:
    """Return what to leave out, the largest conversation first and never the last one, until the rest fits.

    Args:
        chosen: The units of the bundle.
        total: Its bytes.
        ceiling: Bytes that are wanted.
        size_of: Tells the bytes of another choice, without its manifest.
    """
    hints: list[str] = []
    rest = list(chosen)
    overhead = total - size_of(chosen)
    conversations = sorted((unit for unit in chosen if unit.kind == "conversation"), key=lambda unit: -unit.bytes)
    files = sorted((unit for unit in chosen if unit.kind == "file"), key=lambda unit: -unit.bytes)
    for unit in [*conversations[: min(len(conversations) - 1, _TRIED)], *files]:
        if total <= ceiling:
            return hints
        rest.remove(unit)
        total = size_of(rest) + overhead
        hints.append(f"Drop {unit.id} → about {size_words(total)}.")
    return hints if total <= ceiling else [*hints, LAST_RESORT]


def trim_warning(total: int, ceiling: int, hints: Sequence[str]) -> str:
    """Return the warning about a bundle that is too large."""
    return f"This bundle is {size_words(total)}, over the {size_words(ceiling)} ceiling. {' '.join(hints)}"
