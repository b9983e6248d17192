"""Two recordings, two values, two texts: where they differ, and why."""

from __future__ import annotations

from stashdbg_core.diff.recordings import diff_recordings
from stashdbg_core.diff.result import DiffResult, FieldChange, Row
from stashdbg_core.diff.structure import NOTHING, Difference, differences

__all__ = ["NOTHING", "DiffResult", "Difference", "FieldChange", "Row", "diff_recordings", "differences"]
