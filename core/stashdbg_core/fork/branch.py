"""Making a fork: a recording of its own that shares the values of its parent, lazily.

A fork keeps every event before a point and drops the tail. With an override the event at the point stays, its outcome
replaced; without one it is dropped too, and is the first call that runs live. The parent is never changed.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from stashdbg_core.calls import ABSENT
from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_input
from stashdbg_core.fork.digest import recording_digest
from stashdbg_core.fork.override import Override, override_of_error, override_of_value, redacted
from stashdbg_core.fork.plan import ForkPlan, plan_fork
from stashdbg_core.fork.subset import KeptBlobs, KeptEvents
from stashdbg_core.model import THROW, Recording
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.values import TypeRegistry

_OF_THE_RUN = ("complete", "exception", "seal", "losses")
"""What the parent's ``meta`` says about its own end, and is not so of a fork."""
_SUFFIX = re.compile(r"-fork-[0-9a-f]{8}\Z")
_ID_LENGTH = 200


def fork(
    recording: Recording,
    at: int | str,
    *,
    override: Any = ABSENT,
    error: BaseException | None = None,
    id: str | None = None,
    types: TypeRegistry | None = None,
) -> Recording:
    """Return a fork of a recording; it is written by ``write_recording``, which replaces no file.

    Args:
        recording: The parent; it stays as it is, and must stay readable while the fork is used.
        at: The event forked at: its ``seq``, or ``channel:key:ordinal``.
        override: The value that takes the place of its outcome; secrets in it are masked as at record.
        error: The error that takes the place of its outcome, instead of ``override``.
        id: The fork's id; made up of the parent's and random digits if not given.
        types: For values of classes that JSON has not.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there is no such event, it is damaged, both ``override`` and ``error`` are
            given, the override cannot be stored, or ``id`` is the parent's.
    """
    if override is not ABSENT and error is not None:
        raise invalid_input("a fork overrides with a value or with an error", hint="give override or error, not both")
    chosen = None
    if error is not None:
        chosen = override_of_error(error)
    elif override is not ABSENT:
        chosen = override_of_value(override, types)
    return fork_with(recording, plan_fork(recording, at, overridden=chosen is not None), chosen, id=id)


def fork_with(recording: Recording, plan: ForkPlan, override: Override | None, *, id: str | None = None) -> Recording:
    """Return a planned fork; see ``fork``. The plan was made for an override exactly if one is given."""
    fork_id = _new_id(recording.id) if id is None else id
    if fork_id == recording.id:
        raise invalid_input("a fork needs an id of its own", hint="leave the id out, or give another")
    table = BlobStore(base=recording.blobs)
    about: dict[str, Json] = {
        "parent": recording.id,
        "parentDigest": recording_digest(recording),
        "at": plan.event.seq,
        "call": {"channel": plan.event.channel, "key": plan.event.key, "ordinal": plan.event.ordinal},
    }
    last = None
    if override is not None:
        override = redacted(override, recording)
        # What was measured of the recorded call is not so of one that never ran.
        last = plan.event.replaced(outcome=override.outcome, ref=table.put(override.tree), ms=None)
        about["override"] = "error" if override.outcome == THROW else "value"
    if plan.enclosing:
        about["enclosing"] = list(plan.enclosing)
    events = KeptEvents(recording.events, plan.kept, last)
    created = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    meta = recording.meta.replaced(fork=about, createdAt=created, **dict.fromkeys(_OF_THE_RUN))
    extra = recording.extra.replaced(seal=None)
    blobs = KeptBlobs(table, events)
    return replace(recording, id=fork_id, events=events, blobs=blobs, meta=meta, extra=extra, notes=(), path=None)


def _new_id(parent: str) -> str:
    return f"{_SUFFIX.sub('', parent)[:_ID_LENGTH] or 'run'}-fork-{os.urandom(4).hex()}"
