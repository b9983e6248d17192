"""Bug reports: chosen parts of recordings, masked, with what tells of them, in one archive that opens again."""

from __future__ import annotations

from stashdbg_core.report.bundle import Bundle, Offer, describe, export
from stashdbg_core.report.bundle_reader import OpenedBundle, is_bundle, open_bundle
from stashdbg_core.report.issue import issue_body, issue_url
from stashdbg_core.report.manifest import Fields
from stashdbg_core.report.personal import Person
from stashdbg_core.report.units import Unit

__all__ = [
    "Bundle",
    "Fields",
    "Offer",
    "OpenedBundle",
    "Person",
    "Unit",
    "describe",
    "export",
    "is_bundle",
    "issue_body",
    "issue_url",
    "open_bundle",
]
