"""``python -m stashdbg`` and the ``stashdbg`` script."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command line, by default that of this process, and exit with its code; an interrupt is always 130."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        from stashdbg.cli.plain_record import plain_record

        plain, begun = plain_record(words), None
        if plain is not None:
            from stashdbg_core.programs.runs.head_start import head_start, may_be_recorded

            begun = head_start(plain[0])
            if begun is not None and may_be_recorded(plain[1]):
                begun.server.open()
        from stashdbg.cli import console

        console.prepare()
        from stashdbg.cli.app import run

        code = run(words, begun)
        if begun is not None and arguments is None:
            _leave(code)
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _leave(code: int) -> NoReturn:
    """End this process at once: whoever waits for the program's end is not to wait while memory is taken apart."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # there is none, or nobody reads it: that was said before
            continue
    os._exit(code)


if __name__ == "__main__":
    main()
