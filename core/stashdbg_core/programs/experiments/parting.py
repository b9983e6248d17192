"""Two long texts cut to where they part, for a line each."""

from __future__ import annotations

_LEAD = 16
"""Characters kept of what both have in common before they part."""


def parted(before: str, after: str) -> tuple[str, str]:
    """Return two texts without the long stretch that both begin with."""
    start = common_start(before, after)
    if start <= 2 * _LEAD:
        return before, after
    return f"…{before[start - _LEAD :]}", f"…{after[start - _LEAD :]}"


def common_start(before: str, after: str) -> int:
    """Return how many characters two texts have in common from their beginning on."""
    limit = min(len(before), len(after))
    if before[:limit] == after[:limit]:
        return limit
    return next(at for at in range(limit) if before[at] != after[at])
