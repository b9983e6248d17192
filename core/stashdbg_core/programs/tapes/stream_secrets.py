"""Secrets that a streamed answer spells over several of its events: none of them holds enough to be recognised."""

from __future__ import annotations

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.record.masking import Masking, dropped
from stashdbg_core.tags import STREAM, TAG


def masked_stream(tree: Json, masking: Masking) -> Json:
    """Return a response whose streamed message, put together, holds no secret; any other tree as it is.

    The masked message is spelled in the same events. Where it has no place in them, the whole body is dropped.
    """
    body = tree.get("body") if type(tree) is dict else None
    if type(body) is not dict or body.get(TAG) != STREAM:
        return tree
    try:
        return _masked(tree, masking)
    except Exception:  # noqa: BLE001 - whatever fails, a secret must not be kept in clear, nor the call be lost
        return {**tree, "body": dropped()}


def _masked(tree: Json, masking: Masking) -> Json:
    from stashdbg_core.session.stream_message import spoken_message, stream_message

    spoken = spoken_message(tree)
    if spoken is None or not masking.suspects(stored_form(spoken)):
        return tree
    message = stream_message(tree)
    if message is None:
        return tree
    masked = whole = message.tree
    for rules in masking.rules:
        masked = rules.redact_tree(masked)
    return tree if masked is whole else message.edited(masked)
