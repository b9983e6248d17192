"""Snapshots and registries under many threads."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from stashdbg_core.values import TypeRegistry, decode_stored, snapshot


@dataclasses.dataclass
class Leaf:
    n: int


@dataclasses.dataclass
class Tree:
    leaves: list[Leaf]


def test_a_registry_finds_nested_classes_from_every_thread() -> None:
    stored = snapshot(Tree([Leaf(1)])).stored
    with ThreadPoolExecutor(16) as pool:
        for _ in range(50):
            types = TypeRegistry(Tree)
            found = list(pool.map(lambda _, types=types: decode_stored(stored, types=types), range(16)))
            assert found == [Tree([Leaf(1)])] * 16


def test_a_value_that_other_threads_change_is_still_taken() -> None:
    live: dict[Any, Any] = {"a": [1, (2,)], "b": {}}
    stop = []

    def churn() -> None:
        n = 0
        while not stop:
            n += 1
            live["b"][n % 50] = (n,)
            live["b"].pop((n * 7) % 50, None)
            live["a"].append(n)
            del live["a"][2:]

    with ThreadPoolExecutor(3) as pool:
        for _ in range(2):
            pool.submit(churn)
        try:
            for _ in range(300):
                taken = snapshot(live)
                assert taken.losses == ()
                assert decode_stored(taken.stored)["a"][:2] == [1, (2,)]
        finally:
            stop.append(True)
