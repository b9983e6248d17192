"""A recorded stream: one event, whatever the number of chunks.

The chunks are those that the consumer took, each stored at the moment it passed, and the ending says why there were
no more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_recording
from stashdbg_core.tags import STREAM, TAG
from stashdbg_core.values.containers import Encoding
from stashdbg_core.values.losses import Losses

StreamKind: TypeAlias = Literal["sync", "async"]
StreamEnding: TypeAlias = Literal["exhausted", "closed", "failed", "abandoned"]


@dataclass(slots=True)
class StreamRecord:
    """What passed through a generator or asynchronous generator; all values as JSON trees."""

    kind: StreamKind
    chunks: list[Json] = field(default_factory=list)
    """Tree of each chunk, in order."""
    times_ms: list[float] = field(default_factory=list)
    """When each chunk came, in milliseconds since the stream was started."""
    ending: StreamEnding = "exhausted"
    """Why no more chunks came.

    ``exhausted``: it ran out; ``closed``: the consumer closed it early; ``failed``: it raised ``error``; ``abandoned``:
    nobody closed it, or it never started.
    """
    error: Json = None
    """Tree of the exception raised, if it failed."""
    returned: Json = None
    """Tree of a generator's return value."""

    def to_tree(self) -> Json:
        """Return the stream's tag."""
        tag = {
            TAG: STREAM,
            "kind": self.kind,
            "chunks": list(self.chunks),
            "times": [round(ms, 3) for ms in self.times_ms],
            "ending": self.ending,
        }
        if self.error is not None:
            tag["error"] = self.error
        if self.returned is not None:
            tag["returned"] = self.returned
        return tag

    @classmethod
    def from_tree(cls, tree: Json) -> StreamRecord:
        """Read a stream's tag.

        Raises:
            StashError: ``ERR_INVALID_RECORDING`` if the tree is not a stream.
        """
        if not is_stream(tree):
            raise invalid_recording("a recorded stream is malformed", hint="`stashdbg show --json` prints it as it is.")
        times = [float(ms) if type(ms) in (int, float) else 0.0 for ms in tree.get("times", ())]
        return cls(
            cast("StreamKind", tree["kind"]),
            list(tree["chunks"]),
            times,
            cast("StreamEnding", tree["ending"]),
            tree.get("error"),
            tree.get("returned"),
        )


def is_stream(tree: Json) -> bool:
    """Tell whether a tree is a well-formed stream tag."""
    return (
        type(tree) is dict
        and tree.get(TAG) == STREAM
        and tree.get("kind") in get_args(StreamKind)
        and tree.get("ending") in get_args(StreamEnding)
        and type(tree.get("chunks")) is list
        and type(tree.get("times", [])) is list
    )


def encoder_for(cls: type) -> Callable[[Any, Losses], Encoding] | None:
    """Return what takes instances of this class apart, or None."""
    return _encode if cls is StreamRecord else None


def _encode(value: StreamRecord, _: Losses) -> Encoding:
    return value.to_tree()
    yield
