"""README's picture and the tutorial's last one, drawn anew: the keys of the latter pass through all the others."""

from __future__ import annotations

import runpy

import pytest


@pytest.mark.parametrize("name", ["debugger", "tutorial-why"])
def test_a_picture_of_the_documents_says_what_the_screen_says(root, monkeypatch, name):
    for variable in ("NO_COLOR", "TEXTUAL_THEME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.syspath_prepend(root / "screenshots")
    generator = runpy.run_path(str(root / "screenshots" / "generate.py"))
    assert generator["stale"]([name]) == [], "python screenshots/generate.py"
