"""A value edited in the user's editor, from the command line: what is refused stays in a file that is named."""

from __future__ import annotations

import os
import shlex
import sys

from stashdbg.cli import console
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.fork import Override
from stashdbg_core.session.editing import (
    Draft,
    Edit,
    editor_command,
    names_editor,
    read_edit,
    run_editor,
    tree_of_draft,
)
from stashdbg_core.session.fork_edit import ForkEdit

_OUT_OF_VI = "; :wq and Enter saves and leaves, :q! and Enter leaves"
_WAY_OUT = {
    "vi": _OUT_OF_VI,
    "vim": _OUT_OF_VI,
    "emacs": "; Ctrl+X Ctrl+C leaves",
    "ed": "; w and Enter saves, q leaves",
}


def edited_override(edit: ForkEdit) -> Override | None:
    """Let the user edit an event's outcome; return what it is now, None if it is as recorded.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there is no editor or no terminal for one, it failed, or the text is no value
            that fits. A text is kept, and the hint says where.
    """
    words = editor_command(os.environ)
    if not names_editor(os.environ):
        if not (console.is_terminal(sys.stdin) and console.is_terminal(sys.stdout)):
            raise invalid_input("there is no terminal to edit on", hint="give --set or --set-file, or set EDITOR")
        console.narrate(f"EDITOR is not set: {words[0]} edits it{_WAY_OUT.get(words[0], '')}")
    draft = edit.draft()
    try:
        ended = run_editor(words, draft)
        if ended.status == "at-once":
            ended = _wait(draft) if console.is_terminal(sys.stdin) else ended
        if ended.status in ("failed", "deleted", "at-once"):
            raise invalid_input(ended.message)
        same = ended.status == "unchanged" or edit.is_recorded(tree_of_draft(draft, ended.text, "the draft"))
        override = None if same else edit.proposal(draft, ended.text).override
    except StashError as error:
        if not draft.path.exists():
            draft.discard()
            raise
        hint = f"the text is kept; take it up again with --set-file {shlex.quote(str(draft.path))}"
        if error.message.startswith("the editor returned at once"):
            hint += ", or make the editor wait, as in EDITOR='code --wait'"
        raise StashError(error.message, code=error.code, hint=hint) from None
    draft.discard()
    return override


def _wait(draft: Draft) -> Edit:
    """Wait until the user says that the editor's window is closed."""
    console.narrate("The editor returned at once; is its window still open? Press Enter when you are done.")
    sys.stdin.readline()
    return read_edit(draft)
