"""The dialog that seals: it says what is written and what that proves, asks for a key, and shows the root."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from textual.app import SuspendNotSupported
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button

from stashdbg_core.model import Recording
from stashdbg_core.seal import Seal, seal_recording, sign_seal, write_seal
from stashdbg_core.seal.seal_file import refuse_existing
from stashdbg_core.session.words import counted
from stashdbg_tui import safe
from stashdbg_tui.copying import to_clipboard
from stashdbg_tui.screens.dialog import Dialog, Fact, Field, Progress
from stashdbg_tui.widgets.tick_box import TickBox

_PROVES = "any later change of an event, a value, their order or meta shows, and where"
_CAVEAT = "Without a signature, or a root kept elsewhere, whoever holds both files can seal them anew."
_KEEP = "Keep the root out of reach of whoever can change the files; verify compares it."


class Sealed(NamedTuple):
    """What was written."""

    seal: Seal
    path: Path


class SealDialog(Dialog[bool]):
    """Returns whether a seal was written.

    Args:
        recording: What is sealed.
        path: Where the seal goes.
    """

    heading = "Seal"

    def __init__(self, recording: Recording, path: Path) -> None:
        super().__init__()
        self._recording = recording
        self._path = path
        self._sealed: Sealed | None = None

    def body(self) -> Iterable[Widget]:
        """Return what is written and what is asked."""
        count = len(self._recording.events)
        yield Fact("writes", f"{self._path.name}, beside the recording")
        yield Fact("covers", f"all {counted(count, 'event')}: {_PROVES}")
        yield Fact("root", id="seal-root")
        with Vertical(id="seal-asks") as asks:
            asks.styles.height = "auto"
            yield Field("sign with", "seal-key", placeholder="an SSH key, such as ~/.ssh/id_ed25519; may stay empty")
            if self._path.exists():
                yield TickBox("replace the seal that is there")

    def buttons(self) -> Iterable[Button]:
        """Return what can be done."""
        yield self.button("Seal", "seal", usual=True)
        yield self.button("Copy the root", "copy")
        yield self.button("Close", "leave")

    def on_mount(self) -> None:
        """Begin with the key."""
        self.query_one("#seal-root", Fact).show("")
        self.query_one("#do-copy").display = False
        self.say(_CAVEAT)
        self.query_one("#seal-key").focus()

    def act(self, button: str) -> None:
        """Seal, or copy the root."""
        if button == "copy" and self._sealed is not None:
            self.say(to_clipboard(self.app, self._sealed.seal.root.hex()))
        elif button == "seal" and not self.working and self._sealed is None:
            key, boxes = self.typed("seal-key"), self.query(TickBox)
            overwrite = bool(boxes) and boxes.first().value
            self.say("sealing…; Esc stops")
            self.work_on("seal", lambda progress: self._seal(progress, key, overwrite))

    def _seal(self, progress: Progress, key: str, overwrite: bool) -> Sealed:
        """Seal, sign and write; runs in a thread."""
        if not overwrite:
            refuse_existing(self._path)
        seal = seal_recording(self._recording, progress=progress)
        if key:
            seal = self.app.call_from_thread(self._sign, seal, Path(key).expanduser())
        progress(seal.counts.events, seal.counts.events)
        self.writing = True
        return Sealed(seal, write_seal(seal, self._path, overwrite=overwrite))

    def _sign(self, seal: Seal, key: Path) -> Seal:
        """Sign with the terminal given up, for ``ssh-keygen`` may ask for a passphrase on it."""
        try:
            with self.app.suspend():
                return sign_seal(seal, key)
        except SuspendNotSupported:
            return sign_seal(seal, key)

    def done(self, kind: str, result: object) -> None:
        """Show the root."""
        assert isinstance(result, Sealed)
        self._sealed = result
        self.query_one("#seal-asks").display = False
        root = result.seal.root.hex()
        self.query_one("#seal-root", Fact).show(Content.styled(root, "bold $text-success"))
        signed = "signed and sealed" if result.seal.signature is not None else "sealed"
        self.say(f"✓ {signed}: {safe.line(str(result.path)).plain}\n{_KEEP}", "$foreground")
        self.show_buttons("leave", "copy")

    def close(self) -> None:
        """Tell whether a seal was written."""
        self.dismiss(self._sealed is not None)
