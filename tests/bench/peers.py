"""Recorders of others, measured beside ours where they are installed: ``pip install agent-rewind vcrpy``."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

Keep = Callable[[int, dict[str, Any]], Any]


@contextmanager
def agent_rewind(folder: Path) -> Iterator[Keep]:
    """A decorated tool under ``rewind.record``; nothing is masked."""
    import rewind  # type: ignore[import-not-found]

    answers: dict[int, dict[str, Any]] = {}
    search = rewind.tool(name="search")(lambda number: answers[number])

    def keep(number: int, value: dict[str, Any]) -> None:
        answers[number] = value
        search(number)

    with rewind.record(str(folder / f"{os.urandom(4).hex()}.rewind")):
        yield keep


@contextmanager
def vcrpy(folder: Path, last: int, serializer: str) -> Iterator[Keep]:
    """A cassette without the HTTP around it; the last event pays for the file, which is written whole at the end."""
    from vcr.cassette import Cassette  # type: ignore[import-not-found]
    from vcr.request import Request  # type: ignore[import-not-found]

    kind = importlib.import_module(f"vcr.serializers.{serializer}serializer")
    cassette = Cassette(str(folder / os.urandom(4).hex()), serializer=kind, record_mode="all")

    def keep(number: int, value: dict[str, Any]) -> None:
        request = Request("POST", "http://localhost/search", str(number), {})
        status = {"code": 200, "message": "OK"}
        cassette.append(request, {"status": status, "headers": {}, "body": {"string": json.dumps(value)}})
        if number == last:
            cassette._save(force=True)

    yield keep


def installed(folder: Path, last: int) -> dict[str, Callable[[], AbstractContextManager[Keep]]]:
    """Return the peers that can be imported, by label."""
    found: dict[str, Callable[[], AbstractContextManager[Keep]]] = {}
    if importlib.util.find_spec("rewind"):
        found["agent-rewind, file"] = lambda: agent_rewind(folder)
    if importlib.util.find_spec("vcr"):
        found["vcrpy, JSON file at the end"] = lambda: vcrpy(folder, last, "json")
        found["vcrpy, YAML file at the end"] = lambda: vcrpy(folder, last, "yaml")
    return found
