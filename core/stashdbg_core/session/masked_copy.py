"""A masked copy of a recording as a file: what was masked where, what is left, and the seal of the copy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.redact.recording import redact_recording
from stashdbg_core.redact.rule_file import RuleSet
from stashdbg_core.redact.scan import ScanFinding, scan_recording
from stashdbg_core.seal import Seal, read_seal, redacted_seal, seal_path, write_seal
from stashdbg_core.store.writer import write_recording


class WrittenCopy(NamedTuple):
    """What was written."""

    path: Path
    seal: Path | None
    """The seal of the copy; None if the original has none, or if ``unsealed`` says why there is none."""
    unsealed: str | None


@dataclass(frozen=True, slots=True)
class MaskedCopy:
    """A masked copy, not yet written."""

    original: Recording
    recording: Recording
    masked: list[ScanFinding]
    """Every place of the original that is masked in the copy."""
    counts: Mapping[str, int]
    """How many places were masked, by kind."""
    left: list[ScanFinding]
    """What still looks like a secret in the copy."""

    def write(self, path: Path, *, seal: Path | None = None, overwrite: bool = False) -> WrittenCopy:
        """Write the copy, and its seal if there is one of the original.

        Args:
            path: Where to; another name is chosen if there is a file and it is not overwritten.
            seal: Where the original's seal lies if it has one.
            overwrite: Whether a file that is there is replaced, its seal included.

        Raises:
            StashError: The copy cannot be written; nothing was changed.
        """
        own, unsealed = self._seal(seal) if seal is not None and seal.exists() else (None, None)
        written = write_recording(self.recording, path, overwrite=overwrite)
        if own is None:
            return WrittenCopy(written, None, unsealed)
        try:
            return WrittenCopy(written, write_seal(own, seal_path(written), overwrite=overwrite), None)
        except StashError as failure:
            return WrittenCopy(written, None, f"the copy has no seal: {failure.message}")

    def _seal(self, path: Path) -> tuple[Seal | None, str | None]:
        try:
            return redacted_seal(read_seal(path), self.original, self.recording), None
        except StashError as failure:
            return None, f"the copy has no seal: {failure.message}"


def masked_copy(recording: Recording, rules: RuleSet) -> MaskedCopy:
    """Mask a recording, and scan it before and after."""
    found = list(scan_recording(recording, rules.redactor()))
    redactor = rules.redactor()
    masked = redact_recording(recording, redactor)
    counts = dict(sorted(redactor.counts.items()))
    return MaskedCopy(recording, masked, found, counts, list(scan_recording(masked, rules.redactor())))
