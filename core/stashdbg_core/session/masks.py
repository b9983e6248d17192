"""Where placeholders stand in a text: what was masked, not what was recorded."""

from __future__ import annotations

from typing import Final

_WORD: Final = "REDACTED"


def mask_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of every placeholder; the rules of redaction are loaded with the first one."""
    if _WORD not in text:
        return []
    from stashdbg_core.redact.placeholders import ANY_PLACEHOLDER

    return [match.span() for match in ANY_PLACEHOLDER.finditer(text)]
