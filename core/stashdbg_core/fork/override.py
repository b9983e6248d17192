"""The outcome that takes the place of the recorded one, as it will be stored.

What a person types passes the same redaction as what a recorder takes, unless the recording says that it has none.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.exchange.shape import is_response
from stashdbg_core.model import RETURN, THROW, RecordedEvent, Recording
from stashdbg_core.redact.redactor import Redactor
from stashdbg_core.sanitize import shorten
from stashdbg_core.tags import EXCEPTION, STREAM, TAG
from stashdbg_core.values import StreamRecord, TypeRegistry, encode_exception, encode_value
from stashdbg_core.values.streams import is_stream

_MASKABLE = frozenset({"text", "base64"})
"""Keys of tagged objects that hold texts of the program."""
_QUALIFIED = re.compile(r"([A-Z]\w*(?:\.[A-Z]\w*)*):")
"""What follows a module that a type is qualified by: ``Rejected:``."""


@dataclass(frozen=True, slots=True)
class Override:
    """An outcome put in by hand."""

    outcome: str
    tree: Json
    masked: int = 0
    """How many places redaction masked."""


def override_of_value(value: Any, types: TypeRegistry | None = None) -> Override:
    """Return the override by a Python value.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it cannot be stored whole.
    """
    encoded = encode_value(value, types=types)
    if encoded.losses:
        loss = encoded.losses[0]
        raise invalid_input(
            f"the override cannot be stored: {loss.reason}", hint="give a value of JSON types, or register its class"
        )
    return Override(RETURN, encoded.tree)


def override_of_error(error: BaseException) -> Override:
    """Return the override by an exception, which the replaying program will get raised."""
    return Override(THROW, encode_exception(error))


def override_of_tree(tree: Json, recorded: Json = None) -> Override:
    """Return the override by a JSON tree, tags in it read as such.

    Args:
        tree: The value. Where the recorded one is a stream, a list is its chunks, a whole stream tag is taken as it is,
            and anything else is a stream of one chunk. Where the recorded one is an HTTP response, a whole response is
            taken as it is (a status from 400 on is a throw), and anything else is its new body.
        recorded: The tree of the value it takes the place of.
    """
    if is_stream(recorded) and not is_stream(tree):
        kind = StreamRecord.from_tree(recorded).kind
        chunks = tree if type(tree) is list else [tree]
        return Override(RETURN, StreamRecord(kind, chunks, [0.0] * len(chunks)).to_tree())
    if is_response(recorded) and (is_response(tree) or type(tree) is not dict or TAG not in tree):
        answer = tree if is_response(tree) else {**recorded, "body": tree}
        return Override(THROW if answer["status"] >= 400 else RETURN, answer)
    if type(tree) is dict and tree.get(TAG) == STREAM and not is_stream(tree):
        raise invalid_input("the stream given is malformed", hint="give the list of its chunks instead")
    if type(tree) is dict and tree.get(TAG) == EXCEPTION:
        return Override(THROW, tree)
    return Override(RETURN, tree)


def override_of_text(spelled: str) -> Override:
    """Return the override by an error spelled ``TYPE:MESSAGE``, such as ``TimeoutError:no answer``.

    A builtin exception replays as itself; any other, such as ``billing.errors.Rejected:too much``, as a
    ``RecordedError`` that carries its name.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: no type is named.
    """
    name, _, message = spelled.partition(":")
    name, message = name.strip(), message.strip()
    if not name.replace(".", "").isidentifier():
        raise invalid_input("no error type was given", hint="write TYPE:MESSAGE, such as TimeoutError:no answer")
    found = getattr(builtins, name, None)
    if isinstance(found, type) and issubclass(found, BaseException):
        try:
            return override_of_error(found(message))
        except TypeError:
            raise invalid_input(f"{name} cannot be made of a message alone", hint="name another type") from None
    module, _, short = name.rpartition(".")
    if not short[:1].isupper() and (qualified := _QUALIFIED.match(message)):
        asked = shorten(f"{name}.{qualified[1]}", 80)
        raise invalid_input(f"{shorten(name, 80)!r} is a module, not a type", hint=f"write {asked}:MESSAGE")
    tree = encode_exception(Exception(message))
    tree["class"] = f"{module}:{short}" if module else short
    return Override(THROW, tree)


def redacted(override: Override, recording: Recording) -> Override:
    """Return the override with secrets masked by the default rules, unless the recording is not redacted at all.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: a secret stands where none can be masked, as the name of a type.
    """
    description = recording.meta.get("redaction")
    rules = description.get("rules") if isinstance(description, dict) else description
    if rules == "off":
        return override
    redactor = Redactor()
    if not redactor.suspects(stored_form(override.tree)):
        return override
    for ref in recording.blobs.refs():
        raw = recording.blobs.payload(ref).raw
        if b"REDACTED" in raw:  # a placeholder's number stands for one secret
            redactor.reserve(raw.decode("utf-8", "replace"))
    masked = redactor.redact_tree(override.tree)
    count = sum(redactor.counts.values())
    if any(redactor.redact_text(text) != text for text in _tag_texts(masked)):
        raise invalid_input(
            "what was given holds a secret where none can be masked", hint="leave it out of type names and $stash tags"
        )
    return override if masked is override.tree else Override(override.outcome, masked, count)


def _tag_texts(tree: Json) -> Iterator[str]:
    """Yield the texts that stand directly in tagged objects: redaction keeps those that say what the object is."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if type(node) is dict:
            if TAG in node:
                yield from (text for key, text in node.items() if type(text) is str and key not in _MASKABLE)
            pending += node.values()
        elif type(node) is list:
            pending += node


def recorded_tree(recording: Recording, event: RecordedEvent) -> Json:
    """Return the tree of an event's recorded outcome, or None where it cannot be read."""
    try:
        return recording.blobs.tree(event.ref)
    except StashError:
        return None
