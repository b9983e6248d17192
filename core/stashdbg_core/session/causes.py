"""Where something at the cursor came from: who changed a field, where a text stands first, which outputs reached it.

A search that finds nothing says why; only the verbs whose name begins with ``to_`` move the cursor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stashdbg_core.sanitize import shorten
from stashdbg_core.session.session import Move, Session
from stashdbg_core.session.tasks import Steps, Task

# A screen's first frame needs none of the verbs: what they take is imported by the verb that takes it.
if TYPE_CHECKING:
    from stashdbg_core.session.change import CallChange
    from stashdbg_core.session.conversation import Conversation
    from stashdbg_core.session.last_change import LastChange, PayloadPart
    from stashdbg_core.session.why import Slice


class Causes(Session):
    """A recording, a cursor, and the ways back from what stands there."""

    def last_change(self, part: PayloadPart, pointer: str) -> Task[LastChange | None]:
        """Find which event last changed a field of the event at the cursor; nothing moves."""
        from stashdbg_core.session.last_change import last_change_steps

        return Task(last_change_steps(self.recording, self.position, part, pointer))

    def to_last_change(self, part: PayloadPart, pointer: str) -> Task[Move]:
        """Jump to the event that last changed a field of the event at the cursor."""
        from stashdbg_core.session.last_change import last_change_steps
        from stashdbg_core.session.pointers import ABSENT

        def steps() -> Steps[Move]:
            if not self.count:
                return self._refuse(self._empty())
            found = yield from last_change_steps(self.recording, self.position, part, pointer)
            if found is None:
                return self._refuse(f"the {part} of this event cannot be read")
            if found.after is ABSENT:
                return self._refuse(f"this event's {part} has no field {shorten(pointer, 60)}")
            if found.position != self.position:
                return self.jump(found.position)
            return self._refuse(
                "this is the first call of its name" if found.previous is None else "this event changed it itself"
            )

        return Task(steps())

    def to_origin(self, text: str) -> Task[Move]:
        """Jump to the first event in which a text stands."""
        from stashdbg_core.session.search import origin_steps

        def steps() -> Steps[Move]:
            hit = yield from origin_steps(self.recording, text)
            if hit is None:
                return self._refuse(f"{shorten(text, 40)!r} stands nowhere in this run")
            if hit.position == self.position:
                return self._refuse(f"it stands first here, in the {hit.part}")
            return self.jump(hit.position)

        return Task(steps())

    def why(
        self, *, pointer: str | None = None, text: str | None = None, part: PayloadPart | None = None
    ) -> Task[Slice]:
        """Find the events whose outputs reached a field, a text, or the whole input of the event at the cursor."""
        from stashdbg_core.session.why import why_steps

        return Task(why_steps(self.recording, self.position, pointer=pointer, text=text, part=part))

    def change(self) -> Task[CallChange]:
        """Compare the call at the cursor with the previous one of its channel, key and site."""
        from stashdbg_core.session.change import change_steps

        return Task(change_steps(self.recording, self.position))

    def conversation(self) -> Conversation | None:
        """Return the call at the cursor as a chat; None where it is none."""
        from stashdbg_core.session.conversation import conversation_of

        return conversation_of(self.recording, self.event_at(self.position)) if self.count else None
