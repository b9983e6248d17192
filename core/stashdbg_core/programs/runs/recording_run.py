"""A program being recorded: every call runs for real and goes on the tape."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from stashdbg_core.calls import ABSENT
from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import RETURN, THROW
from stashdbg_core.programs.tapes.answering import UNCAUGHT, Answering, Asked, Say
from stashdbg_core.programs.tapes.tape import ProgramTape
from stashdbg_core.programs.wire.frames import Hello, Origin
from stashdbg_core.record.call import Call
from stashdbg_core.tags import EXCEPTION, TAG

if TYPE_CHECKING:
    from stashdbg_core.programs.wire.frames import Answer, Mode
    from stashdbg_core.replay.divergence import DivergenceReport

_MOST_HOSTS = 100


class RecordingRun(Answering):
    """Puts the calls of a program on a tape.

    Args:
        tape: Where they go.
        seed: As for ``Answering``.
        say: As for ``Answering``.
    """

    mode: ClassVar[Mode] = "record"

    def __init__(self, tape: ProgramTape, seed: str, say: Say) -> None:
        super().__init__(seed, say)
        self.tape: ProgramTape = tape
        self._hosts: dict[str, dict[str, None]] = {}

    def welcome(self, hello: Hello) -> None:
        """Take note of a program's first message."""
        super().welcome(hello)
        if len(self.hellos) == 1:
            self.tape.tell(python=hello.python)

    def catch_up(self, text: bytes, origin: Origin, at: float) -> None:
        """Take the place on the tape that a call was given before there was a tape."""
        try:
            super().catch_up(text, origin, at)
        except StashError as error:
            self.tape.begin("call", "not-recorded")
            self.note("not-recorded", f"a message was refused: {error.message}")
        self.tape.last_began(at)

    def call(self, asked: Asked, origin: Origin) -> Answer:
        """Let a call run."""
        return self.run_live(asked)

    def value(self, asked: Asked, live: Json, origin: Origin, *, soft: bool) -> Answer:
        """Record a value that the program has made."""
        if live is ABSENT:
            return {"run": True}
        raised = type(live) is dict and live.get(TAG) == EXCEPTION
        self.tape.put(self.begin(asked), THROW if raised else RETURN, live)
        return {}

    def ended(self, seq: int, outcome: str, tree: Json, ms: float) -> None:
        """Put a call's outcome on the tape."""
        self.tape.end(seq, outcome, tree, ms)

    def note(self, kind: str, message: str, origin: Origin | None = None) -> None:
        """Keep a note in the recording, and say it once."""
        if kind == UNCAUGHT and origin is not None and origin.pid == self.hellos[0].pid:
            name, _, text = message.partition(": ")
            self.tape.tell(exception={"class": name, "text": text})
            return
        self.tape.note(kind, message)
        super().note(kind, message, origin)

    def report(self) -> DivergenceReport | None:
        """Return None: nothing is compared."""
        return None

    def close(self, **facts: Json) -> None:
        """End the tape; the file is whole from then on."""
        with self._lock:
            hosts: Json = {channel: list(names) for channel, names in self._hosts.items()}
        self.tape.tell(**facts, **({"hosts": hosts} if hosts else {}))
        self.tape.close()

    def begin(self, asked: Asked) -> Call:
        """Take a place on the tape."""
        return self.tape.begin(
            asked.channel,
            asked.key,
            asked.given,
            label=asked.label,
            thread=asked.thread,
            parent=asked.parent,
            site=asked.site,
        )

    def run_live(self, asked: Asked) -> Answer:
        """Take a place on the tape, and tell the program to run the call."""
        if asked.host:
            with self._lock:
                known = self._hosts.setdefault(asked.channel, {})
                if len(known) < _MOST_HOSTS:
                    known[asked.host] = None
        call = self.begin(asked)
        if call.seq is None:
            raise invalid_input("the recording has ended", hint="run on without it")
        return {"seq": call.seq, "run": True}
