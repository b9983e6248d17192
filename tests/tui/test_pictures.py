"""Pictures of the screen, one a look: run with ``--snapshot-update`` after a change that is meant."""

from __future__ import annotations

import pytest

from stashdbg_tui.app import StashApp

LOOKS = {
    "dark-80x24": ((80, 24), "dark", ["j"] * 10, {}),
    "wide-160x45": ((160, 45), "dark", [*["j"] * 10, "2"], {}),
    "light-80x24": ((80, 24), "light", ["j"] * 15, {}),
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
