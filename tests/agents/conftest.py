"""Real agents, unmodified, run as a user would run them: by the command line, with a model server on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
AGENTS = sorted(path.stem for path in PROGRAMS.glob("*.py") if path.stem != "mcp_weather_server")
TIMEOUT_S = 180


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Shell:
    """Runs commands where an agent finds its model.

    Attributes:
        folder: Where they run.
        python: The agents' own interpreter; ``STASHDBG_AGENTS_PYTHON`` names another environment than the tests'.
    """

    folder: Path
    python: str

    def agent(self, name: str) -> list[str]:
        """Return the command that runs an agent."""
        return [self.python, str(PROGRAMS / f"{name}.py")]

    def stashdbg(self, *words: str, url: str) -> Ended:
        """Run a command of stashdbg's, the model being at ``url``."""
        return self.run([sys.executable, "-m", "stashdbg", *words], url=url)

    def run(self, command: list[str], *, url: str) -> Ended:
        """Run a command, the model being at ``url``."""
        given = {
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_API_KEY": "sk-test-0123456789abcdefghijklmnopqrstuvwxyz",
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "sk-ant-test-0123456789abcdefghijklmnopqrstuvwxyz",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",  # it would send to its maker's host
        }
        ended = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, **given},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Runs commands in a folder of their own."""
    return Shell(tmp_path, os.environ.get("STASHDBG_AGENTS_PYTHON", sys.executable))
