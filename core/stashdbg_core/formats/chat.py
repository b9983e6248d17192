"""A conversation that grows: what each model call was given, stored as the messages that came since the last one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stashdbg_core.canonical import Json, encode_plain
from stashdbg_core.store.growing_list import GrowingList
from stashdbg_core.store.sharing import Sharer
from stashdbg_core.store.sharing_tags import ref_tag

_KEPT = 16
"""Earlier states to which a conversation can go back at no cost."""
_NO_DIGEST = -1
"""Of a message whose digest is not known; ``hash`` never returns it."""


@dataclass(frozen=True, slots=True)
class Input:
    """The input of a model call, in stored form, what it shares by reference."""

    stored: bytes


@dataclass(slots=True)
class Place:
    """A state of a conversation."""

    messages: GrowingList
    size: int


class Chat:
    """All messages so far; ``RunSink.chat`` makes one.

    Args:
        stored: Makes a tree storable, secrets masked, and returns its stored form.
        sharer: Where values go.
        put: Stores one piece's stored form and returns its ref.
    """

    def __init__(self, stored: Callable[[Json], bytes], sharer: Sharer, put: Callable[[bytes], str]) -> None:
        self._stored = stored
        self._sharer = sharer
        self._put = put
        self._messages = GrowingList(put)
        self._size = 0
        self._digests: list[int] = []
        """Of each message as it was given."""
        self._earlier: deque[Place] = deque(maxlen=_KEPT)

    def __len__(self) -> int:
        return len(self._digests)

    def append(self, message: Json) -> None:
        """Add a message."""
        self._add(message, _digest(message))

    def extend_to(self, messages: Sequence[Json]) -> None:
        """Make the conversation these messages: what both begin with stays, by content."""
        digests = list(map(_digest, messages))
        common = _common(self._digests, digests)
        if common < len(self._digests):
            self._go_back(common)
        for position in range(len(self._digests), len(digests)):
            self._add(messages[position], digests[position])

    def fork(self) -> Chat:
        """Return a conversation that begins as this one does and goes on by itself."""
        fork = Chat(self._stored, self._sharer, self._put)
        fork._messages, fork._size, fork._digests = self._messages.copy(), self._size, self._digests.copy()
        fork._earlier = self._earlier.copy()
        return fork

    def place(self) -> Place:
        """Return what ``back_to`` needs to go on from here later; it costs little, however long the conversation is."""
        return Place(self._messages.copy(), self._size)

    def back_to(self, place: Place) -> Chat:
        """Return a conversation that begins as one was at a place, this one or another of the run."""
        chat = Chat(self._stored, self._sharer, self._put)
        chat._messages, chat._size = place.messages.copy(), place.size
        chat._digests = [_NO_DIGEST] * len(place.messages)
        return chat

    def input(self, **others: Json) -> Input:
        """Return ``{"messages": [all so far], **others}`` for ``RunSink.start``."""
        messages = ref_tag(self._messages.ref()) if len(self._digests) else b"[]"
        self._earlier.append(Place(self._messages.copy(), self._size))
        rest = self._stored(others)[1:] if others else b"}"
        return Input(b'{"messages":' + messages + (b"," if others else b"") + rest)

    def _add(self, message: Json, digest: int) -> None:
        text = self._sharer.inline(self._stored(message))
        self._size += len(text)
        self._digests.append(digest)
        self._messages.append(text)

    def _go_back(self, length: int) -> None:
        """Become the longest earlier state of at most so many messages."""
        while self._earlier and len(self._earlier[-1].messages) > length:
            self._earlier.pop()
        state = self._earlier[-1] if self._earlier else Place(GrowingList(self._put), 0)
        self._messages, self._size = state.messages.copy(), state.size
        del self._digests[len(self._messages) :]


def _digest(message: Json) -> int:
    try:
        return hash(encode_plain(message))
    except (TypeError, ValueError, RecursionError):
        return hash(repr(message))


def _common(one: list[int], other: list[int]) -> int:
    length = min(len(one), len(other))
    if one[:length] == other[:length]:
        return length
    return next(place for place in range(length) if one[place] != other[place])
