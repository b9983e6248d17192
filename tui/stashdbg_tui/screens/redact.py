"""The dialog that writes a masked copy: a scan first, then the copy, then a scan of the copy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from textual import on
from textual.widget import Widget
from textual.widgets import Button

from stashdbg_core.errors import invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.opening.files import place_of
from stashdbg_core.redact.scan import ScanFinding, kind_words
from stashdbg_core.redact.user_rules import rule_set
from stashdbg_core.session.masked_copy import MaskedCopy, WrittenCopy, masked_copy
from stashdbg_core.session.seal_place import has_seal, seal_file_of
from stashdbg_core.session.words import counted
from stashdbg_core.store.atomic import safe_file_name
from stashdbg_tui import safe
from stashdbg_tui.screens.dialog import Dialog, Fact, Field
from stashdbg_tui.widgets.panel import Panel, PanelRow
from stashdbg_tui.widgets.tick_box import TickBox

_SHOWN = 1000
_ROWS = 6


class Written(NamedTuple):
    """A copy and where it lies."""

    copy: MaskedCopy
    file: WrittenCopy


class RedactDialog(Dialog[Path]):
    """Returns the copy to open in the debugger, or None.

    Args:
        recording: What is copied.
    """

    heading = "Write a masked copy"

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self._recording = recording
        self._copy: MaskedCopy | None = None
        self._written: Path | None = None

    def body(self) -> Iterable[Widget]:
        """Return what was found and where the copy goes."""
        yield Fact("found", "scanning…", id="redact-found")
        panel = Panel(id="redact-places")
        panel.display = False
        yield panel
        yield Field("write to", "redact-path", str(masked_path(self._recording)))
        yield TickBox("mask e-mail, phone, card and account numbers too")
        yield Fact("seal", _seal_words(self._recording))

    def buttons(self) -> Iterable[Button]:
        """Return what can be done."""
        yield self.button("Write the copy", "write", usual=True)
        yield self.button("Open the copy", "open")
        yield self.button("Close", "leave")

    def on_mount(self) -> None:
        """Scan."""
        self.query_one("#do-open").display = False
        self.query_one("#redact-path").focus()
        self._scan()

    @on(TickBox.Changed)
    def _scan(self) -> None:
        pii = self.query_one(TickBox).value
        self._copy = None
        self.query_one("#redact-found", Fact).show("scanning…")
        self.work_on("scan", lambda _: masked_copy(self._recording, rule_set(None, pii)))

    def act(self, button: str) -> None:
        """Write the copy, or open it."""
        if button == "open":
            self.dismiss(self._written)
        elif button == "write" and self._copy is None:
            self.say("the scan is not over yet")
        elif button == "write" and not self.working and self._copy is not None:
            copy, path = self._copy, self.typed("redact-path")
            self.say("writing…")
            self.writing = True
            self.work_on("write", lambda _: _write(copy, path))

    def done(self, kind: str, result: object) -> None:
        """Show what the scan found, or what was written."""
        if isinstance(result, MaskedCopy):
            self._copy = result
            self.query_one("#redact-found", Fact).show(_found_words(result))
            self._list(result.masked)
            self.say("The recording stays as it is." if result.masked else "The copy will be as the recording is.")
        elif isinstance(result, Written):
            self._written = result.file.path
            left = result.copy.left
            words = f"✓ written: {safe.line(str(result.file.path)).plain}\n"
            if left:
                words += f"! {counted(len(left), 'place')} still look like a secret: {kind_words(f.kind for f in left)}"
                self._list(left)
            else:
                words += "A scan of it finds nothing more."
            if result.file.seal is not None:
                words += f"\nIts seal: {safe.line(result.file.seal.name).plain}"
            if result.file.unsealed is not None:
                words += f"\n{result.file.unsealed}"
            self.say(words, "$text-error" if left else "$foreground")
            self.show_buttons("leave", "open")

    def _list(self, findings: Sequence[ScanFinding]) -> None:
        panel = self.query_one(Panel)
        rows = [_row(finding) for finding in findings[:_SHOWN]]
        if len(findings) > _SHOWN:
            rows.append(PanelRow([(f"… and {len(findings) - _SHOWN:,} more", "muted")]))
        panel.display = bool(rows)
        panel.styles.height = min(len(rows), _ROWS)
        panel.show_rows("secrets", "", rows)


def masked_path(recording: Recording) -> Path:
    """Return a name for a masked copy: ``run.masked.json`` beside the recording."""
    path = recording.path
    if path is None:
        return Path(f"{safe_file_name(recording.id)}.masked.json")
    own = place_of(path)
    stem = own.name.removesuffix(".journal").removesuffix(".jsonl").removesuffix(".json")
    return own.with_name(f"{stem}.masked.json")


def _write(copy: MaskedCopy, path: str) -> Written:
    if not path:
        raise invalid_input("the copy needs a name", hint="name a file")
    target = Path(path).expanduser()
    if target.exists() or target.is_symlink():
        raise invalid_input("there is a file of that name", hint="name a new one")
    seal = seal_file_of(copy.original) if has_seal(copy.original) else None
    return Written(copy, copy.write(target, seal=seal))


def _found_words(copy: MaskedCopy) -> str:
    if not copy.masked:
        return "nothing to mask"
    events = {place.seq for place in copy.masked if place.seq is not None}
    kinds = kind_words(place.kind for place in copy.masked)
    return f"{counted(len(copy.masked), 'place')} in {counted(len(events), 'event')}: {kinds}"


def _seal_words(recording: Recording) -> str:
    if has_seal(recording):
        return "the copy keeps it; what is masked is not covered"
    return "the recording has none, so the copy has none"


def _row(finding: ScanFinding) -> PanelRow:
    where = "" if finding.seq is None else f"event {finding.seq}"
    pieces = [
        (f"{where:<11}", "strong"),
        (f"{finding.part:<8}", "text"),
        (f"{finding.kind:<16} ", "error"),
        (finding.pointer or "(all of it)", "muted"),
    ]
    return PanelRow(pieces)
