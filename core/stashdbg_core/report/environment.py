"""Which programs made the recordings: from what the recordings say, and nothing of the machine that reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stashdbg_core.canonical import Json
from stashdbg_core.report.units import Run

_FACTS: Final = ("producer", "createdAt", "complete", "droppedEvents")


def environment(runs: Sequence[Run]) -> dict[str, Json]:
    """Return the contents of ``environment.json``: versions, for each run and for stashdbg itself."""
    return {
        "exportedBy": {"name": "stashdbg", "version": _version()},
        "recordings": [_facts(run) for run in runs],
    }


def _facts(run: Run) -> dict[str, Json]:
    meta = run.recording.meta
    facts: dict[str, Json] = {"file": run.file, "formatVersion": run.recording.version}
    facts.update((key, meta[key]) for key in _FACTS if key in meta)
    command = meta.get("command")
    if type(command) is dict and type(command.get("python")) is str:
        facts["python"] = command["python"]
    return facts


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("stashdbg")
    except PackageNotFoundError:  # run from a checkout
        return "0+checkout"
