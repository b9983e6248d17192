"""An event read in other ways than as JSON: as a chat, as a change, as a place in the program.

Lines of tokens, recorded text unsanitised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session.lines import Line


def read_part(
    recording: Recording, event: RecordedEvent, position: int, part: Literal["change", "chat", "source"]
) -> tuple[Sequence[Line], str]:
    """Return the lines of a reading and a word about it; a sentence where there is nothing to read."""
    return [Line(0, [("nothing to read here", "note")])], ""
