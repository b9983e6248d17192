"""Finding the next event of a kind, forwards or backwards, in slices."""

from __future__ import annotations

from collections.abc import Callable

from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session.column_masks import ColumnMasks
from stashdbg_core.session.predicate import slices_back, slices_forward
from stashdbg_core.session.query_nodes import And, Each, Names, Node
from stashdbg_core.session.tasks import Steps


def find_steps(node: Node, count: int, position: int, *, forward: bool) -> Steps[int | None]:
    """Return the nearest event after (or before) an index that a node accepts, None if there is none.

    Raises:
        StashError: A pattern takes too long, or the file cannot be read any more.
    """
    if forward:
        for start, mask in slices_forward(node, position + 1, count):
            at = mask.find(1)
            if at >= 0:
                return start + at
            yield
        return None
    for start, mask in slices_back(node, position):
        at = mask.rfind(1)
        if at >= 0:
            return start + at
        yield
    return None


def same_call(recording: Recording, event: RecordedEvent) -> Node:
    """Return a node for the calls of an event's channel and key."""
    masks = ColumnMasks(recording.events)
    return And(
        [
            Names(masks, "channel", lambda name: name == event.channel),
            Names(masks, "key", lambda name: name == event.key),
        ]
    )


def same_site(recording: Recording, event: RecordedEvent) -> Node:
    """Return a node for the calls from an event's place in the program, or of its name if it does not know that."""
    if event.site is None:
        return same_call(recording, event)
    events = recording.events
    return Each(lambda index: events[index].site == event.site)


def step_over(recording: Recording, event: RecordedEvent, *, forward: bool) -> Node:
    """Return a node for where stepping over ends: in the same lane, not among the calls made during a call.

    Forwards that leaves out the calls made during this event; backwards the calls made during earlier ones, unless
    this one was made during them as well.
    """
    lane = Names(ColumnMasks(recording.events), "thread", lambda name: name == event.thread)
    test = _outside(recording, {event.seq}) if forward else _before(recording, event)
    return And([lane, Each(test)])


def step_out(recording: Recording, event: RecordedEvent, *, forward: bool) -> Node | str:
    """Return a node for where the call that encloses an event has returned; backwards for that call itself.

    Forwards that is the first event of its lane that was not made during it. A sentence where no call encloses the
    event.
    """
    parent = event.parent
    if parent is None:
        return "no call encloses this one"
    events = recording.events
    if not forward:
        return Each(lambda index: events[index].seq == parent)
    around = {parent}
    position = events.position_of(parent)
    for index in range(position + 1 if position is not None else 0, events.position_of(event.seq) or 0):
        if events[index].parent in around:
            around.add(events[index].seq)
    after = Each(_outside(recording, {*around, event.seq}))
    if position is None:
        return after
    lane = events[position].thread
    return And([Names(ColumnMasks(events), "thread", lambda name: name == lane), after])


def _outside(recording: Recording, within: set[int]) -> Callable[[int], bool]:
    events = recording.events

    def accept(index: int) -> bool:
        other = events[index]
        if other.parent in within:
            within.add(other.seq)
            return False
        return True

    return accept


def _before(recording: Recording, event: RecordedEvent) -> Callable[[int], bool]:
    events = recording.events
    around: set[int | None] = {None}
    parent, hops = event.parent, 0
    while parent is not None and parent not in around and hops < 1000:
        around.add(parent)
        position = events.position_of(parent)
        parent, hops = (events[position].parent if position is not None else None), hops + 1

    def accept(index: int) -> bool:
        return events[index].parent in around

    return accept
