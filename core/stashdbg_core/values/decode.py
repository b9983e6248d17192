"""JSON trees to Python values: the driver that puts a value together without recursion.

The value is made of fresh containers: replaying one tree twice gives two values. Nothing in a tree can import a
module, run a class's constructor or reach a class that the program has not registered. A tag that is unknown or
malformed is a dict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.parse import parse_json
from stashdbg_core.sanitize import shorten
from stashdbg_core.tags import (
    DATACLASS,
    DROPPED,
    ENUM,
    EXCEPTION,
    MODEL,
    NAMED_TUPLE,
    PENDING,
    STREAM,
    SUBCLASS,
    TAG,
    UNSTORABLE,
)
from stashdbg_core.values import classes_read, containers, exceptions_read, scalars_read
from stashdbg_core.values.containers import Decoding
from stashdbg_core.values.recorded import RecordedObject
from stashdbg_core.values.registry import TypeRegistry
from stashdbg_core.values.streams import StreamRecord

OnUnstorable: TypeAlias = Literal["raise", "stand-in"]

_MAX_DEPTH = 10_000
"""Deeper trees are refused: hashing and comparing what they make would overflow the stack."""
_INSTANCES = frozenset({ENUM, DATACLASS, MODEL, NAMED_TUPLE})
_MISSING = {
    UNSTORABLE: "could not be stored when the run was recorded",
    DROPPED: "was dropped by a redactor when the run was recorded",
    PENDING: "never came: the call had not finished when the recording ended",
}
_fast_parse = msgspec.json.Decoder().decode


def decode_value(tree: Json, *, types: TypeRegistry | None = None, on_unstorable: OnUnstorable = "raise") -> Any:
    """Return the Python value of a JSON tree, equal to what was recorded and of the same type.

    Instances of classes that are not in ``types`` come as ``RecordedObject``; streams as ``StreamRecord``, chunks
    still trees.

    Args:
        tree: A whole tree, shared pieces put in. It is not changed.
        types: The program's classes that may be rebuilt.
        on_unstorable: Whether what could not be stored raises or is a ``RecordedObject``.

    Raises:
        StashError: ``ERR_INVALID_RECORDING`` if a part could not be stored, or a registered class does not fit any
        more;
            ``ERR_NOT_FOUND`` if a time zone is not known on this machine.
    """
    return _Walk(types or TypeRegistry(), lenient=on_unstorable == "stand-in").run(tree)


def decode_stored(stored: bytes, *, types: TypeRegistry | None = None) -> Any:
    """Return the Python value of a stored form without sharing; the same as decoding its tree, faster for plain JSON.

    Raises:
        StashError: As ``decode_value``; ``ERR_INVALID_RECORDING`` too if it is not JSON.
    """
    # One byte is found much faster than several.
    if (b"$" not in stored or b'"$stash"' not in stored) and (b"\\" not in stored or b"\\u00" not in stored):
        try:
            return _fast_parse(stored)
        except (msgspec.DecodeError, ValueError, RecursionError):
            pass
    return decode_value(parse_json(stored), types=types)


def decode_exception(tree: Json, types: TypeRegistry | None = None) -> BaseException:
    """Return the exception of a recorded throw; whatever the tree, one that can be raised."""
    value = None
    if type(tree) is dict and tree.get(TAG) == EXCEPTION:
        value = _Walk(types or TypeRegistry(), lenient=True).run(tree)
    return value if isinstance(value, BaseException) else exceptions_read.foreign_error(tree)


class _Walk:
    """One walk over one tree."""

    __slots__ = ("lenient", "types")

    def __init__(self, types: TypeRegistry, *, lenient: bool) -> None:
        self.types = types
        self.lenient = lenient

    def run(self, tree: Json) -> Any:
        frames: list[tuple[Decoding, Json, bool]] = []
        done, value = self.begin(tree, frames)
        while frames:
            frame, tree, lenient = frames[-1]
            try:
                part = frame.send(value if done else None)
            except StopIteration as stop:
                done, value = True, stop.value
                frames.pop()
                self.lenient = lenient
                continue
            except StashError:
                raise
            except scalars_read.MALFORMED:
                frames.pop()
                self.lenient = lenient
                done, value = False, None
                frames.append((containers.decode_object(tree), tree, lenient))
                continue
            except Exception as error:
                raise invalid_recording(
                    f"putting a recorded value together raised {type(error).__name__}",
                    hint="a registered class refuses to be hashed, compared or rebuilt",
                ) from error
            done, value = self.begin(part, frames)
        return value

    def begin(self, tree: Json, frames: list[tuple[Decoding, Json, bool]]) -> tuple[bool, Any]:
        """Decode a tree without parts, or push the frame that will; tell which."""
        kind = type(tree)
        if kind is not dict and kind is not list:
            return True, tree
        if len(frames) > _MAX_DEPTH:
            raise invalid_recording(f"a recorded value is nested deeper than {_MAX_DEPTH:,} levels")
        frame: Decoding
        lenient = self.lenient
        if kind is list:
            frame = containers.decode_list(tree)
        elif TAG in tree:
            name = tree[TAG]
            decode = scalars_read.DECODERS.get(name) if type(name) is str else None
            if decode is not None:
                try:
                    return True, decode(tree)
                except scalars_read.MALFORMED:
                    frame = containers.decode_object(tree)
            else:
                frame = self.tagged(tree, name)
        else:
            frame = containers.decode_object(tree)
        frames.append((frame, tree, lenient))
        return False, None

    def tagged(self, tag: dict[str, Json], name: Any) -> Decoding:
        """Return the frame of a tag that has parts."""
        if type(name) is not str:
            return containers.decode_object(tag)
        decode: Callable[[dict[str, Json]], Decoding] | None = containers.DECODERS.get(name)
        if decode is not None:
            return decode(tag)
        if name == SUBCLASS:
            return classes_read.decode_subclass(tag, self.types)
        if name in _INSTANCES:
            return classes_read.decode_instance(tag, self.types)
        if name == EXCEPTION:
            self.lenient = True  # an exception must be raisable, whatever its args were
            return exceptions_read.decode_error(tag, self.types)
        if name == STREAM:
            return _stream(tag)
        if name in _MISSING:
            return self.missing(tag, name)
        return containers.decode_object(tag)

    def missing(self, tag: dict[str, Json], name: str) -> Decoding:
        type_name = tag.get("class", "")
        if not isinstance(type_name, str):
            raise TypeError("class")
        if not self.lenient:
            what = f"a value of type {shorten(type_name, 80)}" if type_name else "a value"
            reason = tag.get("reason")
            why = f": {shorten(reason, 200)}" if isinstance(reason, str) else ""
            raise invalid_recording(
                f"{what} {_MISSING[name]}{why}",
                hint="return something that can be stored from the recorded call, or let this call run live",
                type=type_name,
            )
        return RecordedObject(type_name or f"stash:{name}", {}, tag)
        yield


def _stream(tag: dict[str, Json]) -> Decoding:
    try:
        return StreamRecord.from_tree(tag)
    except StashError:
        raise ValueError("stream") from None
    yield
