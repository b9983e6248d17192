"""The last step of a bug report: the reporter's words, the file's name, and what a scan of the archive found."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button

from stashdbg_core.errors import invalid_input
from stashdbg_core.report.bundle import Bundle, WrittenBundle
from stashdbg_core.report.choice import Choice, bundle_words, scan_words
from stashdbg_core.report.issue import issue_body
from stashdbg_core.report.manifest import Fields
from stashdbg_core.session.words import size_words
from stashdbg_tui import safe
from stashdbg_tui.copying import to_clipboard
from stashdbg_tui.screens.dialog import Dialog, Fact, Field


class ReportExportDialog(Dialog[str]):
    """Returns a sentence about the archive that was written, or None.

    Args:
        choice: What is in it.
        bundle: The same, as it was previewed.
        beside: The recording's file, beside which the archive is written.
    """

    heading = "Export the bug report"

    def __init__(self, choice: Choice, bundle: Bundle, beside: Path | None) -> None:
        super().__init__()
        self._choice = choice
        self._bundle = bundle
        self._folder = _folder(beside)
        self._written: WrittenBundle | None = None
        self._body = ""

    def body(self) -> Iterable[Widget]:
        """Return what is written and what is asked."""
        yield Fact("writes", f"{bundle_words(self._bundle)}; nothing is sent anywhere")
        look = "bold $text-error" if self._bundle.suspicious else ""
        yield Fact("scan", Content.styled(scan_words(self._bundle), look))
        yield Field("title", "report-title", placeholder="one line: what went wrong")
        yield Field("steps", "report-steps", placeholder="how to get there; may stay empty")
        yield Field("expected", "report-expected", placeholder="what should have happened; may stay empty")
        yield Field("actual", "report-actual", placeholder="what happened instead; may stay empty")
        yield Field("write to", "report-path", placeholder=f"named by date and title, in {_folder_words(self._folder)}")

    def buttons(self) -> Iterable[Button]:
        """Return what can be done."""
        yield self.button("Write the archive", "write", usual=True)
        yield self.button("Copy the issue's text", "copy")
        yield self.button("Close", "leave")

    def on_mount(self) -> None:
        """Begin with the title."""
        self.query_one("#do-copy").display = False
        self.say("Secrets in these words are masked too.")
        self.query_one("#report-title").focus()

    def act(self, button: str) -> None:
        """Write the archive, or copy the text of an issue about it."""
        if button == "copy":
            self.say(to_clipboard(self.app, self._body))
        elif button == "write" and not self.working and self._written is None:
            names = ("title", "steps", "expected", "actual")
            fields = Fields(*(self.typed(f"report-{name}") for name in names))
            path = self.typed("report-path")
            if not fields.title:
                self.say("A bug report needs a title: say in one line what went wrong.", "bold $text-error")
                self.query_one("#report-title").focus()
                return
            self.say("writing…")
            self.writing = True
            self.work_on("write", lambda _: self._write(fields, path))

    def _write(self, fields: Fields, path: str) -> WrittenBundle:
        bundle = self._choice.export(fields)
        target = Path(path).expanduser() if path else self._folder / bundle.file_name
        if path and (target.exists() or target.is_symlink()):
            raise invalid_input("there is a file of that name", hint="name a new one")
        self._body = issue_body(bundle.manifest)
        return bundle.write(target)

    def done(self, kind: str, result: object) -> None:
        """Say what was written."""
        assert isinstance(result, WrittenBundle)
        self._written = result
        for field in self.query(Field):
            field.display = False
        name = safe.line(str(result.path)).plain
        self.say(f"✓ written: {name}\n{size_words(result.bytes)}, sha256 {result.sha256}", "$foreground")
        self.show_buttons("leave", "copy")

    def close(self) -> None:
        """Tell what was written."""
        written = self._written
        self.dismiss(None if written is None else f"report written: {written.path}, {size_words(written.bytes)}")


def _folder_words(folder: Path) -> str:
    return "this folder" if folder == Path() else str(folder)


def _folder(beside: Path | None) -> Path:
    folder = beside.parent if beside is not None else Path()
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder
