"""``python tests/bench/run.py [NAME…]``: every figure the design aims at beside its reference, as one table.

Takes some minutes; names of scripts (``seal``, ``search``) take these alone. What cannot be measured here says why.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / part) for part in ("", "core", "tui")]
sys.path.insert(0, str(Path(__file__).parent))

from rows import HEAD, Row, circumstances, markdown  # noqa: E402

NAMES = ("load", "screen", "record", "replay", "diff", "search", "seal", "start")


def main() -> None:
    """Print how the table is taken, and its rows as they come."""
    print(f"{circumstances()}\n\n{HEAD}", flush=True)
    for name in sys.argv[1:] or NAMES:
        try:
            for row in importlib.import_module(f"bench_{name}").rows():
                print(markdown(row), flush=True)
        except (ImportError, OSError) as error:
            print(markdown(Row(name, "not measured", str(error), "", "")), flush=True)


if __name__ == "__main__":
    main()
