"""A value edited in the user's editor, from the command line: what is refused stays in a file that is named."""

from __future__ import annotations

import os
import sys

from stashdbg.cli import console
from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.session.editing import (
    Draft,
    Edit,
    draft_of,
    editor_command,
    read_edit,
    run_editor,
    tree_of_draft,
)


def edited_tree(tree: Json, name: str) -> tuple[bool, Json]:
    """Let the user edit a value; return whether it changed, and what it is now.

    Args:
        tree: The value as recorded.
        name: What it is, for messages.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there is no editor, it failed, or the text is not JSON. The text is kept, and
            the hint says where.
    """
    words = editor_command(os.environ)
    draft = draft_of(tree)
    try:
        edit = run_editor(words, draft)
        if edit.status == "at-once":
            edit = _wait(draft) if console.is_terminal(sys.stdin) else edit
        if edit.status in ("failed", "deleted", "at-once"):
            raise invalid_input(edit.message)
        if edit.status == "unchanged":
            draft.discard()
            return False, tree
        changed = tree_of_draft(draft, edit.text, name)
    except StashError as error:
        if not draft.path.exists():
            draft.discard()
            raise
        hint = f"the text is kept; take it up again with --set-file {draft.path}"
        if error.message.startswith("the editor returned at once"):
            hint += ", or make the editor wait, as in EDITOR='code --wait'"
        raise StashError(error.message, code=error.code, hint=hint) from None
    draft.discard()
    return True, changed


def _wait(draft: Draft) -> Edit:
    """Wait until the user says that the editor's window is closed."""
    console.narrate("The editor returned at once; is its window still open? Press Enter when you are done.")
    sys.stdin.readline()
    return read_edit(draft)
