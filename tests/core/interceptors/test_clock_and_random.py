"""The clock and the random numbers of a run, the same on replay."""

from __future__ import annotations

import copy
import pickle
import random
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.interceptors import SeededRandom, create_deterministic_clock, create_seeded_random
from stashdbg_core.record.recorder import Recorder
from stashdbg_core.replay import Replayer


def never() -> Any:
    raise AssertionError("replay ran the real source")


def test_a_clock_reads_back_what_it_read() -> None:
    ticks = iter([1000.5, 1001.25, 1002.0])

    def program(tape: Any, source: Any) -> list[Any]:
        clock = create_deterministic_clock(tape, source)
        return [clock(), clock.time(), clock.now()]

    recorder = Recorder()
    readings = program(recorder, lambda: next(ticks))
    assert readings == [1000.5, 1001.25, datetime.fromtimestamp(1002, UTC)]
    assert program(Replayer(recorder.recording()), never) == readings
    assert [(e.channel, e.key) for e in recorder.recording().events] == [("clock", "now")] * 3


def test_a_clock_gives_aware_times_in_any_zone() -> None:
    zone = timezone(timedelta(hours=2))
    moment = create_deterministic_clock(Recorder(), lambda: 0.0).now(zone)
    assert moment.isoformat() == "1970-01-01T02:00:00+02:00"


def draws(chance: random.Random) -> list[Any]:
    items = list(range(9))
    chance.shuffle(items)
    return [chance.random(), chance.randint(1, 9), chance.choice("abc"), chance.gauss(), chance.randbytes(3), items]


def test_random_draws_are_those_of_the_recorded_seed() -> None:
    recorder = Recorder()
    first = create_seeded_random(recorder)
    drawn = draws(first)
    assert len(recorder.recording().events) == 1
    again = create_seeded_random(Replayer(recorder.recording()), seed=99)
    assert draws(again) == drawn
    assert again.initial_seed == first.initial_seed
    assert isinstance(again, random.Random)


def test_a_given_seed_is_recorded_and_two_fresh_ones_differ() -> None:
    recorder = Recorder()
    assert draws(create_seeded_random(recorder, seed=7)) == draws(random.Random(7))
    seeds = {create_seeded_random(recorder, key=f"k{n}").initial_seed for n in range(5)}
    assert len(seeds) == 5


def test_seeding_without_a_seed_starts_over_and_state_travels() -> None:
    chance = SeededRandom("seed")
    drawn = draws(chance)
    for twin in (copy.deepcopy(chance), pickle.loads(pickle.dumps(chance))):
        assert draws(twin) == draws(copy.deepcopy(chance))
    chance.seed()
    assert draws(chance) == drawn


def test_an_interceptor_needs_a_tape() -> None:
    with pytest.raises(StashError, match="needs a stash"):
        create_deterministic_clock(object())  # type: ignore[arg-type]
