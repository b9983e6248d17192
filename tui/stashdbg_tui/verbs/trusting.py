"""Trust: the seal's state at every event, masks in the open, and what writes, each behind a dialog."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import sleep

from textual import on, work
from textual.message import Message
from textual.worker import get_current_worker

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.session.inspection import Inspection, ref_of
from stashdbg_core.session.seal_state import CHECKING, NO_SEAL, SealState
from stashdbg_tui.verbs.copying import Copying
from stashdbg_tui.verbs.following import Following
from stashdbg_tui.verbs.marking import Marking

BROKEN_SIGN = "✗"
UNCOVERED_SIGN = "░"


class _Stopped(Exception):
    """Nobody waits any more for what is verified."""


class SealChecked(Message):
    """The seal of a recording was compared."""

    def __init__(self, recording: Recording, state: SealState) -> None:
        super().__init__()
        self.recording = recording
        self.state = state


class ValueScanned(Message):
    """What is about to be written to a file was looked through for secrets."""

    def __init__(self, file: str, words: str) -> None:
        super().__init__()
        self.file = file
        self.words = words
        """Which secrets it holds; empty if none."""


class Trusting(Copying, Marking, Following):
    """What the seal says, and the dialogs of seal, redact and report."""

    def __init__(self) -> None:
        super().__init__()
        self.seal_state: SealState = NO_SEAL
        self._unwritten = ""

    # The seal

    def check_seal(self) -> None:
        """Verify the recording in a thread if a seal lies beside it."""
        assert self.session is not None
        self.show_seal(NO_SEAL)
        if self.session.recording.path is not None:
            self.call_after_refresh(self._verify, self.session.recording)

    @work(thread=True, exclusive=True, group="seal", exit_on_error=False)
    def _verify(self, recording: Recording) -> None:
        from stashdbg_core.session.seal_place import has_seal

        if not has_seal(recording):
            return
        from stashdbg_core.session.trust import check_seal, unchecked

        worker = get_current_worker()

        def progress(done: int, total: int) -> None:
            if worker.is_cancelled:
                raise _Stopped
            sleep(0)

        self.post_message(SealChecked(recording, CHECKING))
        try:
            state = check_seal(recording, progress=progress)
        except _Stopped:
            return
        except StashError as failure:
            state = unchecked(failure)
        if not worker.is_cancelled:
            self.post_message(SealChecked(recording, state))

    @on(SealChecked)
    def _seal_checked(self, message: SealChecked) -> None:
        if self.session is not None and self.session.recording is message.recording:
            self.show_seal(message.state)

    def show_seal(self, state: SealState) -> None:
        """Show a state of the seal: status line, rows, inspector."""
        redraw = state.marks_events or self.seal_state.marks_events
        self.seal_state = state
        self.status.seal = state
        self.timeline.verdict = self._verdict if state.marks_events else _no_verdict
        self.status.show()
        if redraw:
            self.timeline.forget_rows()
            self.inspect()

    def _seq_at(self, position: int) -> int:
        assert self.session is not None
        return self.session.event_at(position).seq

    def _verdict(self, position: int) -> str:
        return self.seal_state.broken_words(self._seq_at(position))

    def _sign(self, position: int) -> str:
        """Return the sign of a row; a broken seal goes before a person's own marks, what it leaves out after."""
        state = self.seal_state
        if not state.marks_events:
            return super()._sign(position)
        if self._verdict(position):
            return BROKEN_SIGN
        return super()._sign(position) or (UNCOVERED_SIGN if state.uncovered_parts(self._seq_at(position)) else "")

    def _words(self, position: int) -> str:
        own = super()._words(position)
        if position < 0 or not self.seal_state.marks_events:
            return own
        said = self.seal_state.event_words(self._seq_at(position))
        return " · ".join(words for words in (said, own) if words)

    def _show(self, inspection: Inspection) -> None:
        """Show a part, and say if the seal does not cover it."""
        event = self.session.event if self.session is not None else None
        if event is not None and self.seal_state.marks_events:
            part = "notes" if inspection.part == "fields" else inspection.part
            if part in self.seal_state.uncovered_parts(event.seq):
                inspection = replace(inspection, words=f"{UNCOVERED_SIGN} not covered · {inspection.words}")
            elif self.seal_state.is_broken(event.seq, part):
                inspection = replace(inspection, words=f"{BROKEN_SIGN} broken · {inspection.words}", trouble=True)
        super()._show(inspection)

    # What writes

    def _whole_recording(self) -> Recording | None:
        if self.session is None:
            return None
        if self.partial or self.follows:
            self.status.show(self.partial or "the file is still followed; F stops that")
            return None
        return self.session.recording

    def action_actions(self) -> None:
        """Open the menu."""
        from stashdbg_tui.screens.actions import ActionsScreen

        self.app.push_screen(ActionsScreen(), self._act)

    async def _act(self, action: str | None) -> None:
        if action is not None:
            await self.run_action(action)

    def action_verify(self) -> None:
        """Verify the seal, and list what it says."""
        from stashdbg_core.session.seal_place import seal_file_of
        from stashdbg_tui.screens.seal_check import SealCheckDialog

        recording = self._whole_recording()
        if recording is None:
            return
        try:
            known = self.seal_state if seal_file_of(recording).exists() else None
        except StashError as failure:
            self.say_failure(failure)
            return
        dialog = SealCheckDialog(recording, known)

        def left(seq: int | None) -> None:
            if dialog.state is not None and dialog.state.result is not None:
                self.show_seal(dialog.state)
            if seq is not None and self.session is not None:
                self.follow(self.session.to_seq(seq))

        self.app.push_screen(dialog, left)

    def action_seal(self) -> None:
        """Ask, and seal the recording."""
        from stashdbg_core.session.seal_place import seal_file_of
        from stashdbg_tui.screens.seal import SealDialog

        recording = self._whole_recording()
        if recording is None:
            return
        try:
            path = seal_file_of(recording)
        except StashError as failure:
            self.say_failure(failure)
            return
        self.app.push_screen(SealDialog(recording, path), lambda sealed: self.check_seal() if sealed else None)

    def action_redact(self) -> None:
        """Ask, and write a masked copy."""
        from stashdbg_tui.screens.redact import RedactDialog

        recording = self._whole_recording()
        if recording is not None:
            self.app.push_screen(RedactDialog(recording), self._open_copy)

    def _open_copy(self, path: Path | None) -> None:
        if path is not None:
            self.stash_app.open_file(path)

    def action_report(self) -> None:
        """Choose what a bug report holds."""
        from stashdbg_tui.screens.report import ReportScreen

        recording = self._whole_recording()
        if recording is not None:
            self.app.push_screen(ReportScreen([recording]), lambda words: self.status.show(words))

    # A value written to a file is looked through first

    def action_write(self, file: str) -> None:
        """Write the whole value shown to a new file, after asking if it holds secrets."""
        session = self.session
        ref = ref_of(session.event, self.part) if session is not None and session.event is not None else None
        if session is None or ref is None:
            super().action_write(file)
        else:
            self._scan_value(file, session.recording, ref)

    @work(thread=True, exclusive=True, group="scan", exit_on_error=False)
    def _scan_value(self, file: str, recording: Recording, ref: str) -> None:
        from stashdbg_core.session.trust import secret_words

        try:
            words = secret_words(recording, ref)
        except StashError as failure:
            words = f"what could not be scanned: {failure.message}"
        if not get_current_worker().is_cancelled:
            self.post_message(ValueScanned(file, words))

    @on(ValueScanned)
    def _value_scanned(self, message: ValueScanned) -> None:
        if not message.words:
            super().action_write(message.file)
            return
        self._unwritten = message.file
        self.ask_choice(f"it holds {message.words}", (("w", "write it as it is", "write_secrets"),))

    def action_write_secrets(self) -> None:
        """Write the value that was asked about, secrets and all."""
        super().action_write(self._unwritten)


def _no_verdict(position: int) -> str:
    return ""
