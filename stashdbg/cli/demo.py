"""``stashdbg demo``: the run that ships with the package, opened like any other file."""

from __future__ import annotations

from importlib.resources import as_file, files

from stashdbg.cli.open_files import open_files
from stashdbg.cli.options import JsonOption, ThemeOption
from stashdbg_core.errors import not_found


def command(
    as_json: JsonOption = False,
    theme: ThemeOption = None,
) -> int:
    """Open the recorded run that ships with stashdbg."""
    shipped = files("stashdbg") / "data" / "demo.json"
    if not shipped.is_file():
        raise not_found("this installation lacks its demo recording", hint="install stashdbg again")
    with as_file(shipped) as path:
        return open_files([str(path)], as_json=as_json, theme=theme)
