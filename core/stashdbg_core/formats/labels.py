"""Labels of events: one short line of any text."""

from __future__ import annotations

import re

LABEL_LENGTH = 80
_READ = 2000
"""Characters looked at: enough for a label, whatever is stripped."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.?)", re.DOTALL)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def label_of(text: str) -> str:
    """Return the head of a text as one line of at most ``LABEL_LENGTH`` characters, without terminal escapes."""
    head = _ESCAPES.sub("", text[:_READ])
    line = " ".join(_CONTROLS.sub(" ", head).split())
    return line if len(line) <= LABEL_LENGTH else line[: LABEL_LENGTH - 1].rstrip() + "…"
