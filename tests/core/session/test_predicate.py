"""Which events a query finds."""

from __future__ import annotations

import pytest
from stashdbg_core.errors import StashError
from stashdbg_core.session.predicate import Predicate
from stashdbg_core.store.open import read_recording

from .conftest import PENDING, build  # noqa: TID252
