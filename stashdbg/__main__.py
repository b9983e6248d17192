"""``python -m stashdbg`` and the ``stashdbg`` script."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command line, by default that of this process, and exit with its code; an interrupt is always 130."""
    try:
        from stashdbg.cli import console

        console.prepare()
        from stashdbg.cli.app import run

        code = run(arguments)
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
