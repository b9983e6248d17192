"""Recorders, in memory and with a journal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.model import Recording
from stashdbg_core.record import Recorder
from stashdbg_core.store.open import open_recording
from stashdbg_core.values import decode_value

Make = Callable[..., Recorder]


@pytest.fixture(params=["memory", "journal"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Make a recorder of either kind; what each recorded must also be in its file."""
    made: list[Recorder] = []

    def maker(**options: Any) -> Recorder:
        path = tmp_path / "run.json" if request.param == "journal" else None
        made.append(Recorder(path=path, **{"redact": None, **options}))
        return made[-1]

    yield maker
    for recorder in made:
        recorder.close()
        if recorder.path is not None and recorder.path.exists():
            kept = open_recording(recorder.path)
            assert [kept.blobs.payload(event.ref).state for event in kept.events] == ["ok"] * len(kept.events)
            assert not recorder.path.with_name("run.json.journal").exists()


class Read:
    """What a recorder has on its tape."""

    def __init__(self, recorder: Recorder) -> None:
        self.recording: Recording = recorder.recording()
        self.events = list(self.recording.events)

    @property
    def trees(self) -> list[Any]:
        return [self.recording.blobs.tree(event.ref) for event in self.events]

    @property
    def values(self) -> list[Any]:
        return [decode_value(tree) for tree in self.trees]

    @property
    def inputs(self) -> list[Any]:
        return [self.recording.blobs.tree(event.input_ref) if event.input_ref else ... for event in self.events]


@pytest.fixture
def read() -> Callable[[Recorder], Read]:
    return Read
