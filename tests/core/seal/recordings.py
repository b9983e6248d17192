"""Recordings to seal, built from plain calls, and the ways to change their files."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from stashdbg_core.canonical import content_ref, stored_form
from stashdbg_core.model import Recording
from stashdbg_core.store.open import read_recording

Tree = dict[str, Any]
SECRET = bytes(range(32))

CALLS: list[Tree] = [
    {"channel": "llm", "key": "plan", "value": {"text": "look it up", "n": 1.5}, "input": {"prompt": "weather?"}},
    {"value": ["sunny", "mild"], "input": {"q": "paris"}, "at": 1760000000000, "label": "first", "thread": "t1"},
    {"value": {"$stash": "exception", "class": "builtins:TimeoutError", "args": []}, "outcome": "throw", "ms": 30.5},
    {"channel": "clock", "key": "now", "value": 1760000001.5},
    {"value": None, "input": None, "vendor": {"b": 1, "a": [True, "<>&/\u2028\u2029\u007fé😀"]}},
]


def tree_of(calls: list[Tree] | None = None, **top: Any) -> Tree:
    """A version-1 file as a tree; ``spare`` is a value that no event reaches."""
    events, blobs, counts = [], {}, {}
    for seq, call in enumerate(CALLS if calls is None else calls):
        event = {"seq": seq, "channel": "tool", "key": "search", "ordinal": 0, "outcome": "return", **call}
        event.pop("value"), event.pop("input", None)
        identity = (event["channel"], event["key"])
        event["ordinal"] = counts.get(identity, 0)
        counts[identity] = event["ordinal"] + 1
        for name, key in (("value", "ref"), ("input", "inputRef")):
            if name in call:
                event[key] = put(blobs, call[name])
        events.append(event)
    put(blobs, {"spare": "value"})
    tree = {"version": 1, "id": "run-1", "events": events, "blobs": blobs, "meta": {"complete": True, "who": "me"}}
    return {**tree, "vendorTop": [1, 2], **top}


def put(blobs: Tree, value: Any) -> str:
    ref = content_ref(stored_form(value))
    blobs[ref] = value
    return ref


def opened(tree: Tree) -> Recording:
    return read_recording(stored_form(tree))


def edited(change: Callable[[Tree], object], tree: Tree | None = None) -> Recording:
    """The recording with its tree changed."""
    copy = json.loads(json.dumps(tree_of() if tree is None else tree))
    change(copy)
    return opened(copy)


def set_value(tree: Tree, index: int, value: Any, name: str = "ref") -> None:
    """Give an event another value the tidy way: under the right reference."""
    tree["events"][index][name] = put(tree["blobs"], value)
