"""Bug reports: chosen parts of recordings, masked, with what tells of them, in one archive that opens again.

Names are loaded when they are first used: whoever only opens a file does not pay for making a report.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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
_HOME_OF = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found
