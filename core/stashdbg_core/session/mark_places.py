"""Where breakpoints stop and watched paths change, event by event, found out in slices.

What only stored values can tell is looked for in short runs alone: of a long one the moves along breakpoints and
watches read as far as they have to.
"""

from __future__ import annotations

from collections.abc import Sequence

from stashdbg_core.session.debugger import Debugger
from stashdbg_core.session.predicate import slices_forward
from stashdbg_core.session.query_nodes import RECORD, Node, Or
from stashdbg_core.session.tasks import Steps

MOST_READ = 20_000
"""Events up to which values are read for the sake of marks."""


def mark_steps(session: Debugger, masks: dict[str, bytearray]) -> Steps[None]:
    """Put into ``masks``, under ``breakpoint`` and ``watch``, a byte an event: 1 where one stops or a path changed.

    Raises:
        StashError: A pattern takes too long, or the file cannot be read any more.
    """
    nodes: dict[str, Sequence[Node]] = {
        "breakpoint": [predicate.node for predicate in session.breakpoints()],
        "watch": [watch.node() for watch in session.watches()],
    }
    for kind, found in nodes.items():
        asked = [node for node in found if node.cost < RECORD or session.count <= MOST_READ]
        masks.pop(kind, None)
        if not asked:
            continue
        mask = masks[kind] = bytearray(session.count)
        for start, part in slices_forward(Or(asked), 0, session.count):
            mask[start : start + len(part)] = part
            yield
