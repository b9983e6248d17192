"""A value given on the command line: as JSON, or in a file."""

from __future__ import annotations

import sys

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_input, not_found
from stashdbg_core.sanitize import shorten

_LARGEST = 1 << 30
"""Bytes of a file that is taken as a value."""


def tree_of_json(text: str) -> Json:
    """Return the tree of a JSON text from the command line.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is not JSON.
    """
    from stashdbg_core.session.editing import json_of_text

    return json_of_text(text, "the value of --set")


def tree_of_file(file: str) -> Json:
    """Return the tree of a JSON file, or the text of a ``.txt`` file without its last line feed; ``-`` is JSON.

    Raises:
        StashError: ``ERR_NOT_FOUND``: it cannot be read; ``ERR_INVALID_INPUT``: it is not JSON, or not text.
    """
    from stashdbg_core.session.editing import json_of_text

    shown = shorten(file, 200)
    try:
        if file == "-":
            data = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with open(file, "rb") as opened:
                data = opened.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        raise not_found(f"cannot read {shown}: {reason}", hint="name a file that holds the value") from None
    if len(data) > _LARGEST:
        raise invalid_input(f"{shown} is too long for a value", hint="a value has at most 1 GiB")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise invalid_input(f"{shown} is not UTF-8, at byte {error.start}", hint="write it as UTF-8") from None
    return text.removesuffix("\n") if file.endswith(".txt") else json_of_text(text, shown)
