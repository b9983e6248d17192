"""Editing an outcome into a fork, comparing with another recording, and the tree of forks."""

from __future__ import annotations

import os
from abc import abstractmethod
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten
from stashdbg_tui.drafts import drafts_of
from stashdbg_tui.screens.base import SessionScreen

# The first frame needs none of the verbs: what they take is imported by the verb that takes it.
if TYPE_CHECKING:
    from stashdbg_core.session.editing import Draft, Edit
    from stashdbg_core.session.fork_edit import ForkEdit
    from stashdbg_tui.screens.edit import Wish


class Forking(SessionScreen):
    """From an edited value to a fork, and from there to a comparison."""

    def on_unmount(self) -> None:
        """Name the drafts that are left, unless there is something worse to say."""
        farewell = drafts_of(self.app).farewell()
        if farewell is not None and self.app._exit and not self.app._exit_renderables:
            self.app._exit_renderables.append(farewell)

    # Editing

    def action_edit_value(self, inline: bool = False) -> None:
        """Edit the outcome at the cursor, or take up the draft that was left for it."""
        from stashdbg_core.session.fork_edit import start_edit

        session = self.session
        if session is None or session.event is None:
            self.status.show("there is no event to edit")
            return
        if self.partial:
            self.status.show(self.partial)
            return
        try:
            edit = start_edit(session.recording, session.position)
            draft = drafts_of(self.app).find(edit) or edit.draft()
        except StashError as failure:
            self.say_failure(failure)
            return
        self._edit(edit, draft, inline=inline)

    def _edit(self, edit: ForkEdit, draft: Draft, *, inline: bool) -> None:
        from stashdbg_core.session.editing import names_editor

        # An editor that nobody chose may be one that its user cannot leave.
        if inline or (not names_editor(os.environ) and why_not_here(draft) is None):
            self._edit_here(edit, draft)
        else:
            self._edit_there(edit, draft)

    def _edit_there(self, edit: ForkEdit, draft: Draft) -> None:
        """Give the terminal to the user's editor."""
        from stashdbg_core.session.editing import editor_command, run_editor

        try:
            words = editor_command(os.environ)
            with self.app.suspend():
                done = run_editor(words, draft)
        except SuspendNotSupported:
            self._leave(edit, draft, "the screen cannot be given up here; I edits the value inside it")
        except StashError as failure:
            self._ask(edit, draft, "The editor did not start", f"{failure.message}\n{failure.hint or ''}")
        else:
            self._edited(edit, draft, done)

    def _edit_here(self, edit: ForkEdit, draft: Draft) -> None:
        from stashdbg_core.session.editing import names_editor, read_edit
        from stashdbg_tui.screens.edit import InlineScreen

        reason = why_not_here(draft)
        if reason is not None:
            self._leave(edit, draft, reason)
            return
        title = f"event {edit.event.seq}, {shorten(edit.event.channel, 24)} {shorten(edit.event.key, 40)}"
        if not names_editor(os.environ):
            title += " · set EDITOR to use your own editor"
        self.app.push_screen(InlineScreen(title, read_edit(draft).text), partial(self._written, edit, draft))

    def _written(self, edit: ForkEdit, draft: Draft, text: str | None) -> None:
        from stashdbg_core.session.editing import read_edit

        if text is not None:
            drafts_of(self.app).keep(edit, draft)
            try:
                draft.path.write_bytes(text.encode("utf-8", "surrogatepass"))
            except OSError as failure:
                self._ask(edit, draft, "The draft cannot be written", failure.strerror or "the file system refused")
                return
        self._edited(edit, draft, read_edit(draft))

    def _edited(self, edit: ForkEdit, draft: Draft, done: Edit) -> None:
        """Go on with what an editor left."""
        if done.status == "deleted":
            drafts_of(self.app).drop(edit, draft)
            self.status.show(done.message)
        elif done.status == "unchanged":
            drafts_of(self.app).drop(edit, draft)
            self.status.show("no change, no fork")
        elif done.status == "at-once":
            said = f"{done.message}.\nMake it wait, as in EDITOR='code --wait', or save and close it now."
            self._ask(edit, draft, "Is the editor still open?", said, waits=True)
        elif done.status == "failed":
            self._ask(edit, draft, "The editor failed", f"{done.message}.\nWhat you wrote is kept: {draft.path}")
        else:
            self._propose(edit, draft, done.text)

    def _propose(self, edit: ForkEdit, draft: Draft, text: str) -> None:
        """Show what the draft would make, or what is wrong with it."""
        from stashdbg_tui.screens.edit import ForkScreen

        drafts_of(self.app).keep(edit, draft)
        try:
            proposal = edit.proposal(draft, text)
        except StashError as failure:
            hint = f"\n{failure.hint}" if failure.hint else ""
            self._ask(edit, draft, "This is not a value yet", f"{failure.message}{hint}\nWhat you wrote is kept.")
            return
        screen = ForkScreen(proposal)

        def left(wish: Recording | Wish | None) -> None:
            self._proposed(edit, draft, wish)
            if isinstance(wish, Recording) and screen.runs:
                self.action_run_program()

        self.app.push_screen(screen, left)

    def _ask(self, edit: ForkEdit, draft: Draft, title: str, message: str, *, waits: bool = False) -> None:
        from stashdbg_tui.screens.edit import DraftScreen

        drafts_of(self.app).keep(edit, draft)
        self.app.push_screen(DraftScreen(title, message, waits=waits), partial(self._proposed, edit, draft))

    def _proposed(self, edit: ForkEdit, draft: Draft, wish: Recording | Wish | None) -> None:
        """Do what a person wants next with a draft."""
        if isinstance(wish, Recording):
            drafts_of(self.app).drop(edit, draft)
            self._open_fork(wish)
        elif wish == "done":
            from stashdbg_core.session.editing import read_edit

            self._edited(edit, draft, read_edit(draft))
        elif wish == "drop":
            drafts_of(self.app).drop(edit, draft)
            self.status.show("the draft is thrown away")
        elif wish is None:
            self._leave(edit, draft, "the draft is kept; e takes it up again")
        else:
            self._edit(edit, draft, inline=wish == "inline")

    def _leave(self, edit: ForkEdit, draft: Draft, said: str) -> None:
        from stashdbg_core.session.editing import read_edit

        if read_edit(draft).status == "changed":
            drafts_of(self.app).keep(edit, draft)
        else:
            drafts_of(self.app).drop(edit, draft)
        self.status.show(said)

    def _open_fork(self, fork: Recording) -> None:
        """Show a fork that was saved, at its last event."""
        if fork.path is not None:
            self.stash_app.take_up(fork.path)
        self.show_recording(fork)
        if self.session is not None:
            self.follow(self.session.last())
        name = shorten(fork.path.name, 60) if fork.path is not None else "the fork"
        runs = "r runs the program on, " if "command" in fork.meta else ""
        self.status.show(f"saved as {name}; {runs}= compares it with its parent")

    @abstractmethod
    def action_run_program(self) -> None:
        """Show what running on would do."""

    # Comparing

    def action_compare(self) -> None:
        """Choose another recording to compare with."""
        self._push_forks(compares=True)

    def action_forks(self) -> None:
        """Show the tree of forks."""
        self._push_forks(compares=False)

    def _push_forks(self, *, compares: bool) -> None:
        from stashdbg_tui.screens.forks import ForksScreen

        session = self.session
        if session is not None and self.partial:
            self.status.show(self.partial)
            return
        recording = session.recording if session is not None else None
        screen = ForksScreen(recording, limits=self.stash_app.limits, compares=compares)
        self.app.push_screen(screen, self._chosen_branch)

    def _chosen_branch(self, path: Path | None) -> None:
        if path is not None:
            self.stash_app.take_up(path)
            self.stash_app.open_file(path)


def why_not_here(draft: Draft) -> str | None:
    """Return why a draft cannot be edited inside the screen; None if it can."""
    from stashdbg_core.session.editing import read_edit
    from stashdbg_core.session.fork_edit import INLINE_CHARACTERS

    text = read_edit(draft).text
    if len(text) > INLINE_CHARACTERS:
        return f"{len(text):,} characters are too many to edit here; e opens them in $EDITOR"
    return "the text has CR line ends, which would be lost here; e opens it in $EDITOR" if "\r" in text else None
