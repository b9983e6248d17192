"""An inner pytest with the plugin under test and no others: what else is installed costs a second a run."""

from __future__ import annotations

import sys

import pytest

import stashdbg

# An inner run in this process takes away the modules that it loaded first; the library must not be torn in two by that.
for name in stashdbg.__all__:
    getattr(stashdbg, name)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder of tests, out of which nothing of the outer run is seen."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "stashdbg.pytest_plugin,anyio.pytest_plugin")
    # A test file that is written anew within a second, at the same size, would be run as its compiled predecessor.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return pytester
