"""What tests of foreign formats share."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from stashdbg_core.formats.opening import read_foreign
from stashdbg_core.model import Recording

SAMPLES = Path("/work/shared/samples")
FORMATS_DATA = Path(__file__).parent.parent / "data" / "formats"


@pytest.fixture(scope="session")
def shared_samples() -> Path | None:
    """Files of other tools that are not the project's own, where they are there."""
    return SAMPLES if SAMPLES.is_dir() else None


@pytest.fixture(scope="session")
def formats_data() -> Path:
    """The project's own files in foreign formats."""
    return FORMATS_DATA


def imported(path: Path, run: int = 0) -> Recording:
    """Return a run of a foreign file as a recording."""
    return read_foreign(path, run=run)


def counts(recording: Recording) -> dict[str, int]:
    """Return how many events each channel has, and under ``throws`` how many failed; calls without an end apart."""
    found = Counter(event.channel for event in recording.events)
    failed = [event for event in recording.events if event.outcome == "throw"]
    pending = sum(recording.blobs.tree(event.ref) == {"$stash": "pending"} for event in failed)
    return {**found, "throws": len(failed) - pending, "pending": pending}
