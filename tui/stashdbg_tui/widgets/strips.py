"""Parts of a drawn row given another look."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip


def marked(strip: Strip, spans: Sequence[tuple[int, int]], style: Style) -> Strip:
    """Return a strip with some of its characters in a further style; an end of -1 is the strip's."""
    if not spans:
        return strip
    length = len(strip.text)
    ranges = [(max(start, 0), length if end == -1 else min(end, length)) for start, end in spans]
    out: list[Segment] = []
    offset = 0
    for segment in strip:
        text, plain = segment.text, segment.style or Style.null()
        cuts = sorted(
            {0, len(text), *(edge - offset for span in ranges for edge in span if 0 < edge - offset < len(text))}
        )
        for low, high in pairwise(cuts):
            inside = any(start <= low + offset and high + offset <= end for start, end in ranges)
            out.append(Segment(text[low:high], plain + style if inside else plain))
        offset += len(text)
    return Strip(out, strip.cell_length)
