"""Random numbers that are the same on replay: the seed is recorded, one event on channel ``random``, draws are not.

Any number and kind of draws is reproduced from the seed, also draws that the recorded run did not make. Threads that
share one generator draw in an order nobody records; give each its own, under its own key.
"""

from __future__ import annotations

import random
from typing import TypeAlias

from stashdbg_core.calls import Tape
from stashdbg_core.interceptors.tape_of import HasTape, tape_of

RANDOM = "random"
Seed: TypeAlias = int | float | str | bytes | bytearray
_SEED_BITS = 128


class SeededRandom(random.Random):
    """A ``random.Random`` that knows its seed; ``seed()`` without one starts over from it."""

    def __init__(self, initial_seed: Seed) -> None:
        self.initial_seed = initial_seed
        super().__init__(initial_seed)

    def seed(self, a: Seed | None = None, version: int = 2) -> None:  # type: ignore[override]
        """Start over from ``a``, or from the first seed; never from the operating system."""
        super().seed(self.initial_seed if a is None else a, version)

    def __reduce__(self) -> tuple[type[SeededRandom], tuple[Seed], tuple[object, ...]]:
        return type(self), (self.initial_seed,), self.getstate()


def create_seeded_random(stash: Tape | HasTape, seed: Seed | None = None, key: str = "random") -> SeededRandom:
    """Make a generator whose seed is recorded, or the recorded one.

    Args:
        stash: What records or replays.
        seed: The seed to record; a fresh one from the operating system by default. On replay the recorded one holds.
        key: Tells several generators of a program apart.
    """
    return SeededRandom(tape_of(stash).call(RANDOM, key, lambda: _fresh_seed() if seed is None else seed))


def _fresh_seed() -> Seed:
    return random.SystemRandom().getrandbits(_SEED_BITS)
