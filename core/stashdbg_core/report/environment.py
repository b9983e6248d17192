"""Which programs made the recordings: from what the recordings say, and nothing of the machine that reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stashdbg_core import __version__
from stashdbg_core.canonical import Json
from stashdbg_core.report.units import Run
from stashdbg_core.sanitize import shorten

_LONGEST: Final = 200


def environment(runs: Sequence[Run]) -> dict[str, Json]:
    """Return the contents of ``environment.json``: versions, for each run and for stashdbg itself."""
    return {
        "exportedBy": {"name": "stashdbg", "version": __version__},
        "recordings": [_facts(run) for run in runs],
    }


def _facts(run: Run) -> dict[str, Json]:
    """Return facts of the types they should have; a foreign file may hold anything."""
    meta = run.recording.meta
    producer, command, dropped = meta.get("producer"), meta.get("command"), meta.get("droppedEvents")
    facts: dict[str, Json] = {"file": run.file, "formatVersion": run.recording.version}
    if type(producer) is dict:
        facts["producer"] = {key: text for key in ("name", "version") if (text := _text(producer.get(key)))}
    if created := _text(meta.get("createdAt")):
        facts["createdAt"] = created
    facts["complete"] = run.recording.complete
    if type(dropped) is int and 0 <= dropped < 1 << 62:
        facts["droppedEvents"] = dropped
    if type(command) is dict and (python := _text(command.get("python"))):
        facts["python"] = python
    return facts


def _text(value: Json) -> str | None:
    return shorten(value, _LONGEST) if type(value) is str else None
