"""A choice of units in the making: what is ticked, and the bundle that it would give."""

from __future__ import annotations

from datetime import datetime

from stashdbg_core.report.bundle import Bundle, Offer
from stashdbg_core.report.manifest import Fields
from stashdbg_core.report.units import Unit
from stashdbg_core.session.words import counted, size_words


class Choice:
    """Ticked units of an offer; everything is ticked at first.

    Args:
        offer: What there is.
        now: The moment of the report, with a time zone.
    """

    def __init__(self, offer: Offer, now: datetime) -> None:
        self.offer = offer
        self.now = now
        self._ids = {unit.id for unit in offer.units}
        self._bundles: dict[frozenset[str], Bundle] = {}

    @property
    def ids(self) -> frozenset[str]:
        """Ids of the ticked units."""
        return frozenset(self._ids)

    def toggle(self, unit: Unit) -> str | None:
        """Tick a unit or stop to; return why not, if that cannot be."""
        if unit.id not in self._ids:
            self._ids.add(unit.id)
            return None
        left = self._ids - {unit.id}
        if not any(other.kind == "conversation" and other.id in left for other in self.offer.units):
            return "a report holds at least one conversation"
        self._ids = left
        return None

    def bundle(self, ids: frozenset[str] | None = None) -> Bundle:
        """Return what would be in the archive, the reporter's words apart.

        Args:
            ids: A choice; the present one if None.

        Raises:
            StashError: ``ERR_INVALID_INPUT``: a secret that is masked elsewhere still stands in it.
        """
        ids = self.ids if ids is None else ids
        if ids not in self._bundles:
            self._bundles = {ids: self.offer.preview(ids, self.now)}
        return self._bundles[ids]

    def export(self, fields: Fields) -> Bundle:
        """Return the bundle to write.

        Raises:
            StashError: As ``Offer.export``.
        """
        return self.offer.export(self.ids, fields, self.now)


def bundle_words(bundle: Bundle) -> str:
    """Return how much is in a bundle: ``5 files, 1.2 MB``."""
    return f"{counted(len(bundle.files), 'file')}, {size_words(bundle.total_bytes)}"


def scan_words(bundle: Bundle) -> str:
    """Return what a scan of a bundle found: what is masked, and what still looks like a secret."""
    masked = f"{counted(bundle.masked, 'place')} masked" if bundle.masked else "nothing had to be masked"
    if bundle.suspicious:
        verb = "looks" if bundle.suspicious == 1 else "look"
        return f"{masked}; {counted(bundle.suspicious, 'place')} still {verb} like a secret"
    return f"{masked}; nothing else looks like a secret"
