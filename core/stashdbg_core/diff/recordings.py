"""The difference of two recordings: which calls were added, removed, changed or moved."""

from __future__ import annotations

from typing import get_args

from stashdbg_core.diff.align import AlignMode
from stashdbg_core.diff.align import align as aligned
from stashdbg_core.diff.contents import Contents
from stashdbg_core.diff.result import DiffResult
from stashdbg_core.errors import invalid_input
from stashdbg_core.model import Recording


def diff_recordings(a: Recording, b: Recording, *, align: AlignMode = "content") -> DiffResult:
    """Compare two recordings by what their calls hold.

    Canonical content decides: channel, key, outcome, value and input. Times, durations, ``seq``, ordinals, references,
    ids, labels, lanes, call sites and ``meta`` never count.

    Args:
        a: The first recording.
        b: The second recording.
        align: ``content``: one inserted call is one addition. ``identity``: events of the same channel, key and
            ordinal are partners, whatever they hold.

    Raises:
        StashError: ``ERR_INVALID_INPUT`` for another rule; ``ERR_NOT_FOUND`` if a file changed meanwhile.
    """
    if align not in get_args(AlignMode):
        raise invalid_input(f"{align!r:.80} is no way to align", hint="align by content or identity")
    one = Contents(a)
    alignment = aligned(one, Contents(b, one), align)
    return DiffResult(a, b, alignment, align)
