"""Recording: the program runs, and each call it makes through the tape is kept."""

from __future__ import annotations

from stashdbg_core.record.call import Call
from stashdbg_core.record.losses import RecordingLossWarning
from stashdbg_core.record.masking import DEFAULT, Redaction
from stashdbg_core.record.recorder import Recorder

__all__ = ["DEFAULT", "Call", "Recorder", "RecordingLossWarning", "Redaction"]
