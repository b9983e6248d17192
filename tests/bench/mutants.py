"""``python tests/bench/mutants.py [COUNT]``: more damaged files than the tests make; prints the slowest."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

COUNT = 100_000


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    test = runpy.run_path(str(Path(__file__).parents[1] / "core" / "store_read" / "test_mutants.py"))
    for seed in range(1, 1 + max(1, count // 2500)):
        opened, slowest = test["survive"](2500, seed)
        print(f"seed {seed}: 2500 mutants, {opened} opened, slowest {slowest * 1000:.0f} ms")


if __name__ == "__main__":
    main()
