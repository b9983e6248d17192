"""Recordings in memory and as read from a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from stashdbg_core.model import Recording
from tests.core.diff.made_runs import Call, recording_of, reread


@pytest.fixture(params=["memory", "file"])
def recorded(request: pytest.FixtureRequest) -> Callable[..., Recording]:
    """Make a recording, once in memory and once as read from a file."""

    def make(calls: Sequence[Call], **facts: Any) -> Recording:
        made = recording_of(calls, **facts)
        return made if request.param == "memory" else reread(made)

    return make
