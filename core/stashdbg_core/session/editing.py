"""A text in the user's own editor and back, with nothing ever lost.

The editor is a command split like a shell would, and no shell. Whatever it does (fails, is killed, saves by renaming,
deletes the file, returns while its window is still open), the draft's file is only removed once its text was taken or
was never changed, and the outcome says which.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.parse import parse_tolerant
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.limits import Limits
from stashdbg_core.values.streams import StreamRecord, is_stream

EditStatus: TypeAlias = Literal["changed", "unchanged", "at-once", "failed", "deleted"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_SETTINGS = ("VISUAL", "EDITOR")
_FALLBACKS = ("nano", "vim", "vi", "emacs", "ed")
_AT_ONCE_SECONDS = 1.0
"""An editor that ends sooner than this without a change has probably only opened a window."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A text being edited, in a file of its own that only its owner can read."""

    path: Path
    text: str
    keeps_end: bool = False
    """Whether the value itself ends in a line feed."""

    def discard(self) -> None:
        """Remove the file and its folder; what is not there any more is no matter."""
        shutil.rmtree(self.path.parent, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Edit:
    """How an edit ended."""

    status: EditStatus
    text: str
    """What the file holds; empty if it was deleted."""
    message: str
    """One sentence for people."""


def names_editor(environment: Mapping[str, str]) -> bool:
    """Tell whether the user said which editor to use."""
    return any(environment.get(name, "").strip() for name in _SETTINGS)


def editor_command(environment: Mapping[str, str]) -> list[str]:
    """Return the editor's words: ``VISUAL``, else ``EDITOR``, else one that is installed.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: the setting cannot be split, or there is no editor.
    """
    for name in _SETTINGS:
        setting = environment.get(name, "").strip()
        if not setting:
            continue
        try:
            words = shlex.split(setting)
        except ValueError as error:
            raise invalid_input(
                f"${name} cannot be read: {error}", hint=f"quote it as for a shell: {name}='code --wait'"
            ) from None
        if words:
            return words
    found = next((name for name in _FALLBACKS if shutil.which(name, path=environment.get("PATH"))), None)
    if found is None:
        raise invalid_input("there is no editor", hint="set VISUAL or EDITOR")
    return [found]


def new_draft(text: str, name: str, folder: str | os.PathLike[str] | None = None) -> Draft:
    """Write a text to a new file in a new folder of mode 0700.

    Args:
        text: What to edit.
        name: The file's name; its suffix tells the editor what it holds.
        folder: Where the new folder is made; the system's temporary folder if None.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it cannot be written.
    """
    try:
        path = Path(tempfile.mkdtemp(prefix="stashdbg-edit-", dir=folder), name)
        with open(path, "xb", opener=lambda file, flags: os.open(file, flags, 0o600)) as file:
            file.write(text.encode("utf-8", "surrogatepass"))
    except OSError as error:
        raise invalid_input(f"cannot write a draft: {error.strerror}", hint="check space, and TMPDIR") from error
    return Draft(path, text)


def draft_of(tree: Json, folder: str | os.PathLike[str] | None = None) -> Draft:
    """Write a value to edit: a text as it is, to ``value.txt``; a stream as the list of its chunks, and all else, to
    ``value.json``.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it cannot be written.
    """
    if type(tree) is str and not _SURROGATE.search(tree):
        ends = tree.endswith("\n")
        draft = new_draft(tree if ends else tree + "\n", "value.txt", folder)
        return replace(draft, keeps_end=ends)
    return new_draft(
        json_text_of(StreamRecord.from_tree(tree).chunks if is_stream(tree) else tree), "value.json", folder
    )


def tree_of_draft(draft: Draft, text: str, name: str = "the text") -> Json:
    """Return the value that an edited draft holds; a text keeps its line feed at the end only if it had one.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is not JSON, or ambiguous.
    """
    if draft.path.suffix == ".txt":
        return text if draft.keeps_end else text.removesuffix("\n")
    return json_of_text(text, name)


def run_editor(command: Sequence[str], draft: Draft) -> Edit:
    """Run an editor on a draft, in the foreground of this terminal, and return how it ended.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it cannot be started; the draft stays.
    """
    started = time.monotonic()
    try:
        code = subprocess.run([*command, str(draft.path)], check=False).returncode
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its words hold a NUL"
        shown = shorten(shlex.join(command), 200)
        raise invalid_input(
            f"cannot start the editor {shown}: {reason}", hint="set VISUAL or EDITOR to a command that exists"
        ) from None
    return read_edit(draft, code, time.monotonic() - started)


def read_edit(draft: Draft, code: int = 0, seconds: float | None = None) -> Edit:
    """Return what became of a draft, read by its path, for editors save by renaming.

    Args:
        draft: What was edited.
        code: The editor's exit code, negative for a signal.
        seconds: How long it ran; None when nobody waits for it, so that it cannot have been too quick.
    """
    try:
        text = draft.path.read_bytes().decode("utf-8", "surrogatepass")
    except FileNotFoundError:
        return Edit("deleted", "", "the draft was deleted; nothing is changed")
    except UnicodeDecodeError as error:
        return Edit("failed", "", f"the draft is not UTF-8, at byte {error.start}; nothing is changed")
    except OSError as error:
        return Edit("failed", "", f"the draft cannot be read: {error.strerror or type(error).__name__}")
    if code:
        how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        return Edit("failed", text, f"the editor {how}; nothing is changed")
    if _plain(text) != _plain(draft.text):
        return Edit("changed", text, "changed")
    if seconds is not None and seconds < _AT_ONCE_SECONDS:
        return Edit("at-once", text, "the editor returned at once; its window may still be open")
    return Edit("unchanged", text, "no change")


def json_text_of(tree: Json) -> str:
    """Return a tree as indented JSON text that ``json_of_text`` reads back the same, at any depth."""
    out: list[str] = []
    pending: list[tuple[str, Json, int]] = [("", tree, 0)]
    closers = object()
    while pending:
        lead, node, depth = pending.pop()
        if node is closers:
            out.append(lead)
            continue
        kind = type(node)
        if kind not in (dict, list) or not node:
            out.append(lead + stored_form(node).decode("utf-8"))
            continue
        opening, closing = "{}" if kind is dict else "[]"
        out.append(lead + opening)
        inner = "\n" + "  " * (depth + 1)
        pending.append(("\n" + "  " * depth + closing, closers, depth))
        members = list(node.items()) if kind is dict else [(None, item) for item in node]
        for place in range(len(members) - 1, -1, -1):
            key, value = members[place]
            name = "" if key is None else stored_form(key).decode("utf-8") + ": "
            pending.append((("," if place else "") + inner + name, value, depth + 1))
    return "".join(out) + "\n"


def json_of_text(text: str, name: str = "the text") -> Json:
    """Return the tree of a JSON text.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is not JSON, or ambiguous, or breaks a limit that its reader would meet.
    """
    try:
        parsed = parse_tolerant(text.encode("utf-8", "surrogatepass"), Limits())
    except StashError as error:
        if "limit" in error.details:
            message = f"{name} cannot be part of a recording: {error.message}"
            raise invalid_input(message, hint="a file with it could not be read back") from None
        raise _not_json(text, name, error) from None
    if not parsed.exact:
        raise invalid_input(f"{name} is not clear: {parsed.problems[0]}", hint="give each key once, in UTF-8")
    return parsed.tree


def _plain(text: str) -> str:
    """Return a text as it counts: a line feed at the end, which editors add, is no change."""
    return text.removesuffix("\n")


def _not_json(text: str, name: str, error: StashError) -> StashError:
    """Say where a text is no JSON: the line of a longer one, as an editor counts them."""
    before = text.encode("utf-8", "surrogatepass")[: error.details.get("offset", 0)]
    line = before.count(b"\n") + 1
    where = f"in line {line:,}" if "\n" in text.strip() else f"at byte {len(before):,}"
    what = error.message.partition(": ")[2] or error.message
    inside = text.lstrip()[:1] in ("{", "[")
    hint = "commas stand between members, and texts in quotes" if inside else "a text needs quotes: '\"text\"'"
    return invalid_input(f"{name} is not JSON {where}: {what}", hint=hint)
