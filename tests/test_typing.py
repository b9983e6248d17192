"""A program's type checker sees what its calls return, as mypy in strict mode reports it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_types_of_the_public_api_are_inferred(root: Path, tmp_path: Path) -> None:
    checked = sorted((root / "tests" / "typing").glob("*.py"))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file",
            os.devnull,
            "--cache-dir",
            str(tmp_path),
            *map(str, checked),
        ],
        env={**os.environ, "MYPYPATH": os.pathsep.join([str(root), str(root / "core")])},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert [line for line in done.stdout.splitlines() if any(path.name in line for path in checked)] == []
    assert done.returncode == 0, done.stdout + done.stderr
