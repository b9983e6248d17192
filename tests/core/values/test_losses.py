"""What cannot be stored is stated, costs nothing else, and raises when it is replayed."""

from __future__ import annotations

import collections
import datetime as dt
import os
import subprocess
import sys
import threading
from typing import Any

import pytest

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.values import (
    RecordedObject,
    Snapshot,
    TypeRegistry,
    decode_stored,
    decode_value,
    encode_value,
    snapshot,
)
from stashdbg_core.values import encode as encode_module


class Hostile:
    """Raises at whatever is done with it."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __deepcopy__(self, memo: object) -> Any:
        raise RuntimeError("deepcopy")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    def __hash__(self) -> int:
        return 1


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError(name)


class HostileClass(metaclass=Meta):
    pass


class Text(str):
    pass


class Settings(dict):  # type: ignore[type-arg]
    pass


class Zone(dt.tzinfo):
    def utcoffset(self, _: dt.datetime | None) -> dt.timedelta:
        raise RuntimeError("offset")


def lost(value: Any) -> tuple[str, str]:
    """The pointer and type of the only loss of a value, having seen that it raises when replayed."""
    taken = snapshot(value)
    assert len(taken.losses) == 1
    assert b"0x" not in taken.stored
    with pytest.raises(StashError) as caught:
        decode_stored(taken.stored)
    assert caught.value.code == ErrorCode.INVALID_RECORDING
    assert taken.losses[0].type_name in str(caught.value)
    return taken.losses[0].pointer, taken.losses[0].type_name


def test_things_without_a_stored_form() -> None:
    with open(os.devnull) as file:
        assert lost({"kwargs": {"f~/": [file]}}) == ("/kwargs/f~0~1/0", "_io:TextIOWrapper")
    assert lost((threading.Lock(),)) == ("/items/0", "_thread:lock")
    assert lost({1: (x for x in ())}) == ("/items/0/1", "builtins:generator")
    assert lost([Hostile()]) == ("/0", f"{__name__}:Hostile")
    assert lost(HostileClass()) == ("", f"{__name__}:HostileClass")
    assert lost(Hostile) == ("", "builtins:type")
    assert lost(collections.defaultdict(lambda: 1)) == ("", "collections:defaultdict")
    assert lost(dt.datetime(2026, 1, 1, tzinfo=Zone())) == ("", "datetime:datetime")
    assert lost(memoryview(b"abcd").cast("I")) == ("", "builtins:memoryview")


def test_released_memoryview_is_a_loss() -> None:
    view = memoryview(b"abc")
    view.release()
    assert lost(view) == ("", "builtins:memoryview")


def test_the_rest_of_a_value_is_kept() -> None:
    tree = snapshot({"messages": ["a"], "lock": threading.Lock()}).tree
    assert tree["messages"] == ["a"]
    value = decode_value(tree, on_unstorable="stand-in")
    assert value["messages"] == ["a"]
    assert type(value["lock"]) is RecordedObject
    assert value["lock"].type_name == "_thread:lock"


@pytest.mark.parametrize(("value", "shown"), [(Text("hi"), "hi"), (Settings(a=(1,)), {"a": (1,)})])
def test_subclasses_of_builtins_are_lost_but_shown_unless_registered(value: Any, shown: Any) -> None:
    assert lost(value) == ("", f"{__name__}:{type(value).__name__}")
    assert decode_value(snapshot(value).tree["shown"]) == shown
    types = TypeRegistry(type(value))
    taken = snapshot(value, types)
    assert taken.losses == ()
    back = decode_stored(taken.stored, types=types)
    assert type(back) is type(value)
    assert back == value


def test_cycles_end() -> None:
    own: dict[str, Any] = {}
    own["me"] = own
    assert lost(own) == ("/me", "builtins:dict")
    pair: tuple[Any, ...] = ([],)
    pair[0].append(pair)
    assert lost(pair) == ("/items/0/0", "builtins:tuple")


def test_sharing_is_no_cycle() -> None:
    shared = [1, (2,)]
    assert decode_stored(snapshot([shared, shared]).stored) == [shared, shared]


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: {"k": v}, lambda v: (v,), lambda v: {1: v}])
@pytest.mark.parametrize("depth", [500, 100_000])
def test_deep_values_are_stored_up_to_a_depth_that_readers_take(wrap: Any, depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = wrap(value)
    taken = snapshot(value)
    assert stored_form(taken.tree) == taken.stored
    assert _depth(taken.stored) <= encode_module.MAX_DEPTH + 2  # the leaf itself may be a tag
    assert bool(taken.losses) == (depth > 1_000)
    if not taken.losses:
        decoded = decode_stored(taken.stored)
        assert snapshot(decoded).stored == taken.stored


def _depth(stored: bytes) -> int:
    depth = deepest = 0
    for byte in stored:
        depth += {0x5B: 1, 0x7B: 1, 0x5D: -1, 0x7D: -1}.get(byte, 0)
        deepest = max(deepest, depth)
    return deepest


def test_near_the_recursion_limit_a_snapshot_still_works() -> None:
    value = {"a": [{"b": [1, {"c": (1, 2)}]}], "plain": [[[[1]]]]}

    def at_the_edge() -> Any:
        try:
            return at_the_edge()
        except RecursionError:
            return None

    def descend(left: int) -> bytes:
        return snapshot(value).stored if left == 0 else descend(left - 1)

    frame, used = sys._getframe(), 0
    while frame is not None:
        frame, used = frame.f_back, used + 1  # type: ignore[assignment]
    assert descend(sys.getrecursionlimit() - used - 20) == snapshot(value).stored
    assert at_the_edge() is None


def test_sharing_that_stands_for_too_much_is_a_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode_module, "MAX_PARTS", 1_000)
    value: Any = (1,)
    for _ in range(40):
        value = (value, value)
    taken = snapshot(value)
    assert "more than 1,000 parts" in taken.losses[0].reason
    assert len(taken.stored) < 200_000


def test_many_losses_are_counted() -> None:
    losses = encode_value([object() for _ in range(5_000)]).losses
    assert len(losses) == 101
    assert losses[-1].reason == "4,900 more losses"


def test_a_snapshot_shares_nothing_with_the_live_value() -> None:
    messages: list[Any] = [{"role": "user"}]
    for value in ({"messages": messages}, (messages,)):
        taken, encoded = snapshot(value), encode_value(value)
        before = taken.stored
        messages[0]["role"] = "changed"
        messages.append("more")
        assert stored_form(taken.tree) == stored_form(encoded.tree) == before
        messages[:] = [{"role": "user"}]


def test_sets_are_stored_alike_whatever_the_hash_seed() -> None:
    code = (
        "from stashdbg_core.values import snapshot; import sys;"
        "sys.stdout.buffer.write(snapshot([{'b','a','c',(1,'x'),None,2.5}, {frozenset({'z','y'}): 1}]).stored)"
    )
    outs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outs) == 1
    assert b'"items":["a","b","c"' in outs.pop()


def test_integers_beyond_a_lowered_limit_of_digits_are_a_loss_not_an_error() -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        for value in (10**700, [10**700], (10**700,)):
            assert "digits" in snapshot(value).losses[0].reason
    finally:
        sys.set_int_max_str_digits(before)


def test_spelled_numbers_of_foreign_files_are_recorded_as_they_were() -> None:
    value = decode_stored(b'{"n":[1e400,{"$stash":"tuple","items":[-1.50E+400]}]}')
    assert snapshot(value).stored == b'{"n":[1e400,{"$stash":"tuple","items":[-1.50E+400]}]}'


def test_dropped_and_pending_raise_when_replayed() -> None:
    for tag, word in (("dropped", "redactor"), ("pending", "not finished")):
        with pytest.raises(StashError, match=word):
            decode_value([{"$stash": tag}])


def test_a_snapshot_can_be_made_of_a_tree_that_is_at_hand() -> None:
    tree = {"a": [1]}
    taken = Snapshot(stored_form(tree), tree)
    assert taken.tree is tree
    assert taken.losses == ()
