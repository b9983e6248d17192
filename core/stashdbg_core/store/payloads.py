"""Whether a stored value can be used: JSON with one meaning that hashes to its reference, if that is one of ours."""

from __future__ import annotations

import msgspec

from stashdbg_core.canonical import REF_PREFIX, content_ref, stored_form
from stashdbg_core.errors import StashError, invalid_recording, not_found
from stashdbg_core.model import Payload
from stashdbg_core.parse import parse_tolerant
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.scan import ScanStop, check_depth

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def check_payload(ref: str, raw: bytes, limits: Limits, *, twice: bool = False) -> Payload:
    """Return a value with the verdict on its text: its JSON, its one meaning, and its hash if the reference is ours."""
    own = ref.startswith(REF_PREFIX) and len(ref) == 71
    matches = own and content_ref(raw) == ref
    try:
        check_depth(raw, 0, len(raw), limits)
        tree = _decode(raw)
        plain = _encode(tree) == raw  # compact and without duplicate keys
        problems: tuple[str, ...] = ()
    except StashError as error:
        return Payload(ref, "damaged", raw, error.message)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ScanStop):
        plain = False
    if not plain:
        try:
            parsed = parse_tolerant(raw, limits)
        except StashError as error:
            return Payload(ref, "damaged", raw, error.message)
        if not parsed.exact:
            return Payload(ref, "damaged", raw, "; ".join(parsed.problems[:3]))
        tree, problems = parsed.tree, parsed.problems
    if own and not matches and content_ref(stored_form(tree)) != ref:
        return Payload(ref, "damaged", raw, "its content does not hash to its reference")
    if twice and not own:
        return Payload(ref, "damaged", raw, "the file gives this reference twice")
    return Payload(ref, "ok", raw, "; ".join(problems[:3]) or None)


def usable(payload: Payload) -> Payload:
    """Return the payload if it is ok.

    Raises:
        StashError: ``ERR_NOT_FOUND`` if it is missing; ``ERR_INVALID_RECORDING`` if damaged.
    """
    if payload.state == "ok":
        return payload
    shown = f"value {shorten(payload.ref, 80)}"
    if payload.state == "missing":
        raise not_found(f"{shown} is missing", ref=payload.ref)
    raise invalid_recording(f"{shown} is damaged: {payload.problem}", ref=payload.ref)
