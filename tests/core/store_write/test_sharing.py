"""Shared pieces: whole again as they went in, small for a growing chat, harmless when hostile."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import SpelledNumber, content_ref, stored_form
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.store.assembly import assemble, pieces_of
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.sharing import Sharer

BIG = "b" * 1500
scalars = (
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5) | st.sampled_from([BIG, "s" * 400, "\ud83d" + "x" * 999, SpelledNumber("1e400")])
)  # fmt: skip
keys = st.text(max_size=4) | st.sampled_from(["$stash", "ref", "items", "parts"])
trees = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(keys, inner, max_size=4), max_leaves=25
)


def whole(blobs: BlobStore, ref: str) -> bytes:
    return stored_form(blobs.tree(ref))


@settings(max_examples=100, deadline=None)
@given(st.lists(trees, min_size=1, max_size=4), st.lists(st.integers(0, 100), max_size=25))
def test_every_value_is_whole_again(pool: list[Any], picks: list[int]) -> None:
    """A list grows from a pool of trees, is cut back at times, and is stored at three depths after each step."""
    blobs = BlobStore()
    grown: list[Any] = []
    stored: list[tuple[str, bytes]] = []
    for pick in picks or [0]:
        if pick % 7 == 0:
            grown = grown[: len(grown) // 2]
        grown = [*grown, pool[pick % len(pool)]]
        for tree in (grown, {"model": "m", "messages": grown, "tools": pool}, {"$stash": "tuple", "items": [grown]}):
            stored += [(blobs.put(tree), stored_form(tree))]
    for ref, text in stored:
        assert whole(blobs, ref) == text
        assert blobs.payload(ref).state == "ok"


def test_a_small_value_is_stored_in_its_own_form() -> None:
    blobs = BlobStore()
    ref = blobs.put({"b": 1, "a": [1.0, "é"]})
    assert blobs.payload(ref).raw == '{"b":1,"a":[1.0,"é"]}'.encode()
    assert ref == content_ref(blobs.payload(ref).raw)
    assert blobs.put({"b": 1, "a": [1.0, "é"]}, blobs.payload(ref).raw) == ref
    assert len(blobs) == 1


def chat(turns: int) -> tuple[BlobStore, list[str], list[bytes], int]:
    """Return a store, a ref and whole text a turn, and the bytes of unique text, of 375 + 375 characters a turn."""
    rng = random.Random(5)
    words = [f"w{rng.randrange(10**6)}" for _ in range(3000)]

    def text(length: int) -> str:
        return " ".join(rng.choices(words, k=length // 8))

    tools = [{"name": f"t{i}", "description": text(700), "schema": {"type": "object"}} for i in range(26)]
    blobs, messages, refs, texts, unique = BlobStore(), list[Any](), list[str](), list[bytes](), 0
    for _ in range(turns):
        messages.append({"role": "user", "content": text(375)})
        request = {"model": "m", "messages": messages, "tools": tools, "max_tokens": 1000}
        texts.append(stored_form(request))
        refs.append(blobs.put(request, texts[-1]))
        reply = {"role": "assistant", "content": [{"type": "text", "text": text(375)}]}
        blobs.put(reply)
        messages.append(reply)
        unique += len(stored_form(messages[-2:]))
    return blobs, refs, texts, unique


def test_a_growing_chat_costs_its_unique_text() -> None:
    blobs, refs, texts, unique = chat(400)
    file_size = blobs.stored_bytes + len(blobs) * 75 + 400 * 350
    assert len(texts[-1]) > 300_000
    assert file_size < 1_500_000
    assert blobs.stored_bytes < 4 * unique
    for turn in (0, 1, 2, 13, 14, 15, 200, 398, 399):
        assert whole(blobs, refs[turn]) == texts[turn]


def test_a_mark_that_moves_with_the_last_message_costs_no_copy_of_the_chat() -> None:
    blobs, messages, unique, refs = BlobStore(), list[dict[str, Any]](), 0, list[str]()
    for turn in range(200):
        messages.append({"role": "user", "content": f"{turn} " + "x" * 500})
        unique += 530
        marked = [*messages[:-1], {**messages[-1], "cache_control": {"type": "ephemeral"}}]
        refs.append(blobs.put({"messages": marked}))
        if turn in (50, 199):
            assert blobs.tree(refs[-1]) == {"messages": marked}
    assert blobs.stored_bytes < 6 * unique
    assert hops(blobs, refs[-1]) <= 18


def test_conversations_that_take_turns_do_not_disturb_each_other() -> None:
    blobs, unique = BlobStore(), 0
    lanes: list[list[str]] = [[f"lane {lane}"] for lane in range(5)]
    for turn in range(300):
        lane = lanes[turn % 5]
        lane.append(f"{turn} " + "y" * 300)
        unique += 310
        assert blobs.tree(blobs.put({"lane": lane})) == {"lane": lane}
    assert blobs.stored_bytes < 4 * unique


def hops(blobs: BlobStore, ref: str) -> int:
    deepest, level = 0, {ref}
    while level := {piece for known in level for piece in pieces_of(blobs.payload(known).raw)}:
        deepest += 1
    return deepest


def test_thousands_of_turns_stay_linear_and_shallow() -> None:
    blobs, items, unique = BlobStore(), list[Any](), 0
    sharer, ref = Sharer(blobs.put_stored), ""
    for turn in range(3001):
        items.append(f"{turn} " + "x" * 60)
        unique += 70
        if turn % 3 == 0:
            ref = sharer.store(items)
    assert blobs.stored_bytes + 75 * len(blobs) < 6 * unique + 200_000
    assert hops(blobs, ref) <= 18
    assert blobs.tree(ref) == items


def test_a_large_piece_stands_once_wherever_it_is() -> None:
    blobs = BlobStore()
    image = "i" * 100_000
    refs = [blobs.put(tree) for tree in (image, {"a": image}, [[image]], {"b": {"c": [image, image]}})]
    assert blobs.stored_bytes < 101_000
    assert [len(whole(blobs, ref)) > 100_000 for ref in refs] == [True] * 4


def test_equal_containers_of_one_value_are_not_one_object() -> None:
    blobs = BlobStore()
    row = {"text": "r" * 2000, "cells": list(range(400))}
    tree = blobs.tree(blobs.put([row, row]))
    tree[0]["cells"].append("changed")
    assert tree[1] == row


@pytest.mark.parametrize(
    "forged",
    [
        {"$stash": "ref", "ref": "sha256:" + "0" * 64},
        {"ref": "x", "$stash": "ref"},
        {"$stash": "list", "parts": ["sha256:" + "0" * 64], "items": []},
        {"items": [{"$stash": "ref", "ref": "y"}], "parts": [], "$stash": "list"},
    ],
)
@pytest.mark.parametrize("pad", ["", BIG])
def test_data_that_looks_like_sharing_is_escaped(forged: dict[str, Any], pad: str) -> None:
    blobs = BlobStore()
    tree = blobs.tree(blobs.put({"data": [forged], "pad": pad}))
    escaped = tree["data"][0]
    assert escaped["$stash"] == "dict"
    assert [key for key, _ in escaped["items"]] == list(forged)


@pytest.mark.parametrize(
    "near", [{"$stash": "ref"}, {"$stash": "ref", "ref": 1}, {"$stash": "ref", "ref": "x", "y": 1}]
)
def test_other_shapes_are_data(near: dict[str, Any]) -> None:
    blobs = BlobStore()
    assert blobs.tree(blobs.put([near, BIG])) == [near, BIG]


def test_a_deep_value_is_stored_without_recursion() -> None:
    deep: Any = BIG
    for _ in range(1500):
        deep = [deep, "x"]
    blobs = BlobStore()
    assert whole(blobs, blobs.put(deep)) == stored_form(deep)


def ref_to(name: str) -> dict[str, str]:
    return {"$stash": "ref", "ref": name}


def hostile(pieces: dict[str, Any], root: Any, **limits: int) -> Any:
    return assemble(
        json.dumps(root).encode(), {k: json.dumps(v).encode() for k, v in pieces.items()}.__getitem__, **limits
    )


def test_pieces_nest_and_repeat() -> None:
    pieces = {
        "a": [1, ref_to("b")],
        "b": {"x": "y"},
        "c": {"$stash": "list", "parts": ["a", "a"], "items": [ref_to("b")]},
    }
    assert hostile(pieces, {"v": ref_to("c")}) == {"v": [1, {"x": "y"}, 1, {"x": "y"}, {"x": "y"}]}
    assert hostile({"d": ref_to("a"), **pieces}, {"$stash": "list", "parts": ["d", "c"], "items": []})[:2] == [
        1,
        {"x": "y"},
    ]


def test_an_escaped_spelling_of_the_tag_is_the_tag() -> None:
    assert assemble(b'{"\\u0024stash":"ref","ref":"a"}', {"a": b"7"}.__getitem__) == 7


@pytest.mark.parametrize(
    ("pieces", "code", "said"),
    [
        ({}, ErrorCode.NOT_FOUND, "missing"),
        ({"a": ref_to("a")}, ErrorCode.INVALID_RECORDING, "contains itself"),
        ({"a": [ref_to("b")], "b": {"x": [ref_to("a")]}}, ErrorCode.INVALID_RECORDING, "contains itself"),
        ({"a": {"$stash": "list", "parts": ["a"], "items": []}}, ErrorCode.INVALID_RECORDING, "contains itself"),
        ({"a": {"$stash": "list", "parts": ["b"], "items": []}, "b": 3}, ErrorCode.INVALID_RECORDING, "not a list"),
        ({"a": ref_to("")}, ErrorCode.INVALID_RECORDING, "contains itself"),
    ],
)
def test_broken_pieces_are_refused(pieces: dict[str, Any], code: ErrorCode, said: str) -> None:
    with pytest.raises(StashError, match=said) as caught:
        hostile(pieces, ref_to("a"))
    assert caught.value.code == code


@pytest.mark.parametrize(
    "shape", [lambda n: [ref_to(n), ref_to(n)], lambda n: {"$stash": "list", "parts": [n, n], "items": []}]
)
def test_pieces_that_double_cost_their_own_size(shape: Any) -> None:
    pieces = {str(level): shape(str(level + 1)) for level in range(200)}
    pieces["200"] = ["end"]
    with pytest.raises(StashError, match=r"more than \d+ bytes|more than \d+ shared pieces"):
        hostile(pieces, ref_to("0"))


def test_a_chain_of_pieces_without_end_is_refused() -> None:
    pieces = {str(level): [ref_to(str(level + 1))] for level in range(5000)}
    with pytest.raises(StashError, match="deep"):
        hostile(pieces, ref_to("0"))


def test_the_size_limit_counts_the_whole() -> None:
    pieces = {"a": "x" * 1000}
    assert len(hostile(pieces, [ref_to("a")] * 3, max_size=10_000)) == 3
    with pytest.raises(StashError, match="more than 10000 bytes"):
        hostile(pieces, [ref_to("a")] * 10, max_size=10_000)


def test_a_live_object_that_another_thread_changed_is_stored_as_it_was() -> None:
    blobs = BlobStore()
    live = {"messages": ["m" * 600, "n" * 600]}
    stored = stored_form(live)
    live["messages"].append("late")
    assert whole(blobs, blobs.put(live, stored)) == stored
