"""Pictures of the screen, one a look: run with ``--snapshot-update`` after a change that is meant."""

from __future__ import annotations

import pytest

from stashdbg_tui.app import StashApp

LOOKS = {
    "dark-80x24": ((80, 24), "dark", ["j"] * 10, {}),
    "wide-160x45": ((160, 45), "dark", [*["j"] * 10, "2"], {}),
    "light-80x24": ((80, 24), "light", ["j"] * 15, {}),
    "ansi-change-80x24": ((80, 24), "ansi", [*["j"] * 9, "3", "tab", "j"], {}),
    "dark-why-130x36": ((130, 36), "dark", [*["j"] * 15, "W"], {}),
    "light-chat-120x36": ((120, 36), "light", [*["j"] * 10, "4", "tab", "G"], {}),
    "dark-found-130x36": ((130, 36), "dark", ["slash", *"Riga", "enter", "n"], {}),
    "dark-nothing-80x24": ((80, 24), "dark", ["f", *"channel:nope", "enter"], {}),
    "dark-stats-120x40": ((120, 40), "dark", ["A"], {}),
    "roomy-marks-200x50": ((200, 50), "dark", ["m", *["j"] * 6, "b", "m", "apostrophe"], {}),
    "no-colour-80x24": ((80, 24), None, ["j"] * 15, {"NO_COLOR": "1"}),
}


@pytest.mark.parametrize("look", LOOKS)
def test_the_screen_looks_as_it_did(snap_compare, agent, monkeypatch, look):
    size, theme, keys, environment = LOOKS[look]
    for name in ("NO_COLOR", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert snap_compare(StashApp(recording=agent, theme=theme), press=keys, terminal_size=size)
