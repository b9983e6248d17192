"""Describe, choose, export: a bug report from recordings.

``describe`` masks the recordings once and offers units; ``Offer.preview`` shows exactly the files that
``Offer.export`` packs. The archive depends on the recordings, the choice, the words, the rules, the person to hide and
``now``, and on nothing else of the machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.redact.rule_file import RuleSet
from stashdbg_core.report.bundle_reader import MANIFEST
from stashdbg_core.report.check import refuse_residue, remarks
from stashdbg_core.report.manifest import Contents, Fields, ReportFile, file_name, manifest_of
from stashdbg_core.report.masking import ReportRedactor, Residue, mask_recordings
from stashdbg_core.report.parts import Parts
from stashdbg_core.report.personal import Person
from stashdbg_core.report.trim import trim_hints, trim_warning
from stashdbg_core.report.units import FILE_UNITS, Run, Unit, runs_of
from stashdbg_core.report.zip_writer import zip_bytes
from stashdbg_core.sanitize import listed, shorten
from stashdbg_core.store.atomic import write_atomic

CEILING: Final = 20_000_000
"""Bytes beyond which a bundle is called too large: what an issue tracker takes and a person reviews."""
_LISTED = 20


class WrittenBundle(NamedTuple):
    """An archive that was written."""

    path: Path
    bytes: int
    sha256: str
    """64 hex digits."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A finished report, not yet written."""

    manifest: dict[str, Json]
    files: tuple[ReportFile, ...]
    """``manifest.json`` first, then in the order of the archive."""
    now: datetime
    file_name: str
    """A name for the archive, from its date and title."""
    suspicious: int = 0
    """Places that still look like secrets, found by a scan of what is in it."""

    @property
    def total_bytes(self) -> int:
        """Bytes of all files."""
        return sum(len(file.data) for file in self.files)

    @property
    def masked(self) -> int:
        """How many placeholders stand in the files, the manifest apart."""
        return sum(file.masked for file in self.files[1:])

    def zip(self) -> bytes:
        """Return the archive."""
        return zip_bytes([(file.name, file.data) for file in self.files], self.now)

    def write(self, path: Path, *, overwrite: bool = False) -> WrittenBundle:
        """Write the archive; another name is chosen if there is a file and it is not overwritten.

        Raises:
            StashError: It cannot be written; nothing was changed.
        """
        archive = self.zip()
        written = write_atomic(path, lambda file: file.write(archive), overwrite=overwrite)
        return WrittenBundle(written, len(archive), hashlib.sha256(archive).hexdigest())


class Offer:
    """What can be reported: units to choose from.

    Attributes:
        units: Conversations first, then files made from them.
    """

    def __init__(self, runs: Sequence[Run], redactor: ReportRedactor, rules: RuleSet, ceiling: int) -> None:
        self._runs = runs
        self._redactor = redactor
        self._ceiling = ceiling
        self._residue = Residue(redactor.secrets())
        self._parts = Parts(runs, rules, self._residue.redact_text)
        self.units: tuple[Unit, ...] = self._units()

    def preview(self, include: Iterable[str] | None, now: datetime, fields: Fields | None = None) -> Bundle:
        """Return the bundle of a choice, for a look before it is written.

        Args:
            include: Ids of units; None: all.
            now: The moment of the report, with a time zone.
            fields: The reporter's words, if there are any yet.

        Raises:
            StashError: ``ERR_INVALID_INPUT``: a unit is unknown, or no conversation is chosen.
        """
        chosen = self._chosen(include)
        words = self._redactor.copy()  # so that no earlier preview has a say in the numbers

        def safe(text: str) -> str:
            return self._residue.redact_text(words.redact_text(text))

        if fields is not None:
            fields = Fields(**{name: safe(text) for name, text in fields.to_json().items()})
        ids = [unit.id for unit in chosen]
        files, evidence = self._parts.files(ids), self._parts.evidence(ids)
        warnings, notes = remarks(self.units, chosen, evidence, safe)
        contents = Contents(
            now=now,
            fields=fields,
            offered=self.units,
            selected=_as_written(chosen, files),
            runs=len(evidence),
            files=files,
            warnings=warnings,
            notes=notes,
            redacted_names=sorted({name for part in evidence for name in part.redacted_names}),
            ceiling=self._ceiling,
        )
        tree, text = manifest_of(contents)
        if tree["totalBytes"] > self._ceiling:
            hints = trim_hints(chosen, tree["totalBytes"], self._ceiling, self._size_of)
            warning = trim_warning(tree["totalBytes"], self._ceiling, hints)
            tree, text = manifest_of(replace(contents, warnings=[warning, *warnings], trim_hints=hints))
        whole = (ReportFile(MANIFEST, text), *files)
        refuse_residue(whole, self._residue)
        name = file_name(fields.title if fields is not None else "", now)
        return Bundle(tree, whole, now, name, sum(part.suspicious for part in evidence))

    def export(self, include: Iterable[str] | None, fields: Fields, now: datetime) -> Bundle:
        """Return the bundle to write; like ``preview``, but it must have a title.

        Raises:
            StashError: ``ERR_INVALID_INPUT``: no title, or a choice that cannot be made.
        """
        if not fields.title.strip():
            raise invalid_input("a bug report needs a title", hint="say in one line what went wrong: --title '…'")
        return self.preview(include, now, fields)

    def _chosen(self, include: Iterable[str] | None) -> list[Unit]:
        if include is None:
            return list(self.units)
        wanted = list(include)
        known = [unit.id for unit in self.units]
        for name in wanted:
            if name not in known:
                raise invalid_input(f"there is no unit {shorten(name, 40)!r}", hint=f"units: {listed(known, _LISTED)}")
        chosen = [unit for unit in self.units if unit.id in wanted]
        if not any(unit.kind == "conversation" for unit in chosen):
            raise invalid_input("no conversation is included", hint=f"include at least one, such as {known[0]}")
        return chosen

    def _size_of(self, chosen: Sequence[Unit]) -> int:
        """Return the bytes of all files of a choice but the manifest."""
        return sum(len(file.data) for file in self._parts.files([unit.id for unit in chosen]))

    def _units(self) -> tuple[Unit, ...]:
        units = [
            Unit(
                part.unit_id,
                "conversation",
                part.label,
                self._parts.size_alone(run, part),
                run.file,
                events=len(part.positions),
                failed=part.failed,
                in_flight=part.in_flight,
            )
            for run in self._runs
            for part in run.conversations
        ]
        ids = [unit.id for unit in units]
        for unit_id, (name, label) in FILE_UNITS.items():
            size = len(self._parts.derived(unit_id, ids))
            if size:
                units.append(Unit(unit_id, "file", label, size, name))
        return tuple(units)


def describe(
    recordings: Sequence[Recording],
    *,
    rules: RuleSet | None = None,
    person: Person | None = None,
    ceiling: int = CEILING,
) -> Offer:
    """Return what of these recordings can be reported.

    Args:
        recordings: One or several runs.
        rules: What is masked; None: secrets.
        person: Whose home and name are taken out; None: whoever runs this process.
        ceiling: Bytes beyond which the manifest warns and says what to leave out.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there is no recording.
    """
    if not recordings:
        raise invalid_input("there is nothing to report", hint="name at least one recording")
    rules = rules or RuleSet()
    redactor = ReportRedactor(rules, person if person is not None else Person.here())
    return Offer(runs_of(mask_recordings(recordings, redactor)), redactor, rules, ceiling)


def export(recordings: Sequence[Recording], include: Iterable[str] | None, fields: Fields, now: datetime) -> bytes:
    """Return the archive of a report, everything at its default; see ``describe`` and ``Offer.export``.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: nothing to report, no title, or a choice that cannot be made.
    """
    return describe(recordings).export(include, fields, now).zip()


def _as_written(chosen: Sequence[Unit], files: Sequence[ReportFile]) -> list[Unit]:
    """Return the units with the size their file has now; without a derived file that has nothing to say."""
    sizes = {file.name: len(file.data) for file in files}
    return [
        unit if unit.kind == "conversation" else replace(unit, bytes=sizes[unit.file])
        for unit in chosen
        if unit.file in sizes
    ]
