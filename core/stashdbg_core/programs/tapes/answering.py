"""What stands behind the socket: one interface for a run that is recorded, replayed or continued.

Messages come from several threads at once; each gets exactly one answer.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from stashdbg_core.calls import ABSENT
from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.model import RETURN, THROW
from stashdbg_core.programs.wire.frames import Hello, Origin
from stashdbg_core.programs.wire.protocol import (
    SOFT,
    UNSET,
    CallAsked,
    Ended,
    HttpAsked,
    Message,
    Noted,
    Responded,
    ValueAsked,
    body_bytes,
    message_of,
)

if TYPE_CHECKING:
    from stashdbg_core.programs.tapes.tape import ProgramTape
    from stashdbg_core.programs.wire.frames import Answer, Mode
    from stashdbg_core.replay.divergence import DivergenceReport

Say = Callable[[str, str], None]
"""Told at once, from any thread, what a person should know: a kind and a sentence, which may hold recorded text."""


UNCAUGHT = "uncaught"
"""Kind of a note on the exception that ended a process."""
_MOST_SAID = 100
_ODD_FRAMES = "what is damaged in event streams, or no event, is kept as the bytes it is"


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that a program is about to make, whichever message said so."""

    channel: str
    key: str
    given: Json
    """The tree of its input, or ``ABSENT``."""
    label: str | None
    thread: str | None
    parent: int | None
    site: str | None
    host: str | None = None
    request: bytes | None = None
    """Body of an HTTP request; None for any other call."""


class Answering(ABC):
    """Answers the messages of one run.

    Args:
        seed: 32 bytes in hex, of which the program makes its random numbers.
        say: Told what a person should know.
    """

    mode: ClassVar[Mode]
    tape: ProgramTape | None = None
    """What is recorded; None for a replay."""

    def __init__(self, seed: str, say: Say) -> None:
        self.seed = seed
        self.say = say
        self._lock = threading.RLock()
        self._noted: set[tuple[str, str]] = set()
        self.limited = False
        """Whether the program was ended for making too many calls."""
        self.stopped = threading.Event()
        """Set when the program was told to end, or has ended."""
        self.hellos: list[Hello] = []
        """One of each process, in the order they came; a process has a connection for each of its threads."""

    @abstractmethod
    def call(self, asked: Asked, origin: Origin) -> Answer:
        """Answer a call."""

    @abstractmethod
    def value(self, asked: Asked, live: Json, origin: Origin, *, soft: bool) -> Answer:
        """Answer a value; ``live`` is ``ABSENT`` if the program asks before it makes one."""

    @abstractmethod
    def ended(self, seq: int, outcome: str, tree: Json, ms: float) -> None:
        """Take the outcome of a call that ran."""

    @abstractmethod
    def close(self, **facts: Json) -> None:
        """End the run; ``facts`` is what is known of its end."""

    @abstractmethod
    def report(self) -> DivergenceReport | None:
        """Return how a replay went; None when recording."""

    def unreached(self) -> int | None:
        """Return the ``seq`` of the call from which a program was to run on, if it never came to it."""
        return None

    def progress(self) -> tuple[int, int]:
        """Return how many calls were served so far, and how many ran for real."""
        return 0, 0 if self.tape is None else self.tape.size

    def note(self, kind: str, message: str, origin: Origin | None = None) -> None:
        """Take a note of a process, or of ours, and pass it on once."""
        if kind == UNCAUGHT:  # Python has just printed it
            return
        with self._lock:
            if (kind, message) in self._noted or len(self._noted) >= _MOST_SAID:
                return
            self._noted.add((kind, message))
        self.say(kind, message)

    def welcome(self, hello: Hello) -> None:
        """Take note of a program's first message."""
        with self._lock:
            if all(known.pid != hello.pid for known in self.hellos):
                self.hellos.append(hello)

    def catch_up(self, text: bytes, origin: Origin, at: float) -> None:
        """Take a call that was told to run before this run could answer; ``at``: when, in milliseconds since 1970."""
        self.answer(message_of(text), origin)

    def respond(self, text: bytes, origin: Origin) -> bytes:
        """Answer the text of a frame with that of another.

        Raises:
            StashError: The message makes no sense, or not here.
        """
        return stored_form(self.answer(message_of(text), origin))

    def answer(self, message: Message, origin: Origin) -> Answer:
        """Answer any message but the first.

        Raises:
            StashError: The message makes no sense here.
        """
        if isinstance(message, CallAsked):
            return self.call(_asked_call(message, origin), origin)
        if isinstance(message, HttpAsked):
            return self.call(_asked_http(message, origin), origin)
        if isinstance(message, ValueAsked):
            live = ABSENT if message.value is UNSET else message.value
            return self.value(_asked_value(message, origin), live, origin, soft=message.soft)
        if isinstance(message, Ended):
            self.ended(message.seq, message.outcome, message.value, message.ms)
        elif isinstance(message, Responded):
            outcome, tree, is_odd = _response(message)
            if is_odd:
                self.note("odd-frames", _ODD_FRAMES, origin)
            self.ended(message.seq, outcome, tree, message.ms)
        elif isinstance(message, Noted):
            self.note(message.kind, message.message, origin)
        return {}


def _asked_call(message: CallAsked, origin: Origin) -> Asked:
    given = ABSENT if message.input is UNSET else message.input
    thread, parent = origin.lane(message.thread), _parent(message.parent, origin)
    return Asked(message.channel, message.key, given, message.label, thread, parent, message.site)


def _asked_http(message: HttpAsked, origin: Origin) -> Asked:
    from stashdbg_core.exchange.naming import name_exchange, safe_url

    request = body_bytes(message.body)
    named = name_exchange(message.method, message.url, message.headers, request)
    thread, parent = origin.lane(message.thread), _parent(message.parent, origin)
    host = urlsplit(safe_url(message.url)).netloc
    return Asked(
        named.channel, named.key, named.input, named.label, thread, parent, message.site, host=host, request=request
    )


def _asked_value(message: ValueAsked, origin: Origin) -> Asked:
    """Name a value by where it was asked for: which of several is told by their order there."""
    lane = origin.lane(message.thread)
    given: dict[str, Json] = {"lane": lane, "site": message.site, **({SOFT: True} if message.soft else {})}
    return Asked(message.channel, message.key, given, None, lane, _parent(message.parent, origin), message.site)


def _parent(parent: int | None, origin: Origin) -> int | None:
    return parent if parent is not None else origin.parent


def _response(message: Responded) -> tuple[str, Json, bool]:
    """Return the outcome of a request, its tree, and whether the tree holds frames that could not be read."""
    from stashdbg_core.exchange.bodies import has_odd_frames, response_tree

    chunks = [body_bytes(chunk.data) for chunk in message.chunks]
    times = [chunk.ms for chunk in message.chunks]
    tree = response_tree(
        message.status, message.headers, chunks, times_ms=times, ending=message.ending, error=message.error
    )
    failed = message.status >= 400 or message.ending == "failed"
    return THROW if failed else RETURN, tree, has_odd_frames(tree)
