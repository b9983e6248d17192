"""``python -m stashdbg_core.store.index_process FILE OUT [LIMIT=N …]``: index a file, and leave the index in OUT.

Ends with 0 when it is there, 65 or 66 when the file cannot be opened; says nothing, for its parent opens the file
itself then.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.store.index_cache import make_room, prepare_folder, save_index
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.open import index_source
from stashdbg_core.store.source import FileSource

_BAD_DATA, _UNREADABLE = 65, 66
_NICENESS = 10
"""The screen shows the head of the file meanwhile, and its keys go first."""


def main(arguments: Sequence[str]) -> int:
    """Index the file that the arguments name, and return the exit code."""
    path, out, *settings = arguments
    try:
        source = FileSource(path)
        index = index_source(source, Limits.parse(settings))
        prepare_folder(Path(out))
        save_index(index, source, Path(out))
    except StashError as error:
        return _UNREADABLE if error.code is ErrorCode.NOT_FOUND else _BAD_DATA
    make_room(Path(out).parent)
    return 0


if __name__ == "__main__":
    os.nice(_NICENESS)
    sys.exit(main(sys.argv[1:]))
