"""Bug reports: chosen parts of recordings, masked, with what tells of them, in one archive that opens again.

Names are loaded when they are first used: whoever only opens a file does not pay for making a report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stashdbg_core.lazy_names import lazy_names

if TYPE_CHECKING:
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

_HOMES = {
    "bundle": ("Bundle", "Offer", "describe", "export"),
    "bundle_reader": ("OpenedBundle", "is_bundle", "open_bundle"),
    "issue": ("issue_body", "issue_url"),
    "manifest": ("Fields",),
    "personal": ("Person",),
    "units": ("Unit",),
}
__getattr__ = lazy_names(__name__, _HOMES)
