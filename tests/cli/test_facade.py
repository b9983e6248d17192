"""The library's public names: listed once, sorted, all there, and loaded only when used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import stashdbg


def test_every_public_name_is_there() -> None:
    assert [name for name in stashdbg.__all__ if getattr(stashdbg, name, None) is None] == []
    assert set(stashdbg.__all__) <= set(dir(stashdbg))


def test_names_are_listed_once_and_the_type_checker_sees_the_same(root: Path) -> None:
    assert len(set(stashdbg.__all__)) == len(stashdbg.__all__)
    tree = ast.parse((root / "stashdbg" / "__init__.py").read_text())
    typed = {
        (node.module, alias.name)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == {(home, name) for name, home in stashdbg._HOME_OF.items()}
    assert {name for _, name in typed} == set(stashdbg.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        stashdbg.nothing  # noqa: B018


def test_importing_loads_nothing_else() -> None:
    program = "import sys; before = set(sys.modules); import stashdbg; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=False,
                          env={"PYTHONPATH": ":".join(sys.path)})  # fmt: skip
    loaded = set(ast.literal_eval(done.stdout))
    assert "stashdbg" in loaded
    assert not {"textual", "rich", "typer", "msgspec", "asyncio", "stashdbg_core"} & loaded


def test_importing_reads_no_environment_and_opens_no_file() -> None:
    program = """
import os, sys, importlib, typing
touched = []
class Environment(dict):
    def __getitem__(self, key): touched.append(key); return dict.__getitem__(self, key)
    def get(self, key, default=None): touched.append(key); return dict.get(self, key, default)
os.environ = Environment(os.environ)
def hook(event, arguments):
    if event in {"socket.connect", "socket.bind", "subprocess.Popen", "os.mkdir"}:
        touched.append(event)
    if event == "open" and ".py" not in str(arguments[0]):
        touched.append(arguments[0])
sys.addaudithook(hook)
import stashdbg
print(touched)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
