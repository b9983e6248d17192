"""Whole values by splicing: the same tree as piece by piece, and the same refusals."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import content_ref, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.store.assembly import assemble
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.whole_text import WholeTexts

HOSTILE = [
    '{"$stash":"ref","ref":"x"}', '{"$stash":"list","parts":[],"items":[]}', "$stash", '"$stash":"ref"', "\ud800", "\\",
    "\\u0024stash",
]  # fmt: skip
texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=5), st.sampled_from("abc").map(lambda c: c * 1200))
tags = st.sampled_from(
    [{"$stash": "ref", "ref": "x"}, {"$stash": "list", "parts": [], "items": [1]}, {"$stash": "tuple", "items": [1]}]
)
trees = st.recursive(
    st.one_of(texts, tags, st.integers(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=6), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=25,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(trees, max_size=4))
def test_the_whole_is_what_was_stored(values: list[object]) -> None:
    blobs = BlobStore()
    refs = [blobs.put(value) for value in (*values, *values)]
    for ref in refs:
        tree = assemble(blobs.payload(ref).raw, lambda wanted: blobs.payload(wanted).raw)
        assert stored_form(blobs.tree(ref)) == stored_form(tree)
        assert json.loads(blobs.text(ref)) == tree


def test_a_growing_list_is_whole_at_every_length() -> None:
    blobs, turns = BlobStore(), [{"role": "user", "content": f"{n} " * 600} for n in range(60)]
    for length in range(1, len(turns)):
        ref = blobs.put({"messages": turns[:length]})
        assert b"$stash" in blobs.payload(ref).raw
        assert blobs.text(ref) == stored_form({"messages": turns[:length]})


@pytest.mark.parametrize(
    "raw",
    [
        b'{"$stash":"list","parts":[],"items":[1],"x":[2]}',
        b'{"$stash":"ref","ref":"one","x":1}',
        b'{"a":{"$stash":"list","parts":["one"],"items":[1],"x":[2]}}',
        b'{"ref":"one","$stash":"ref"}',
        b'{"$stash": "ref", "ref": "one"}',
        b'{"\\u0024stash":"ref","ref":"one"}',
        b'["{\\"$stash\\":\\"ref\\",\\"ref\\":\\"one\\"}"]',
        b'{"$stash":"list","parts":["spaced","one"],"items":[ ]}',
        b'{"a":"$stash","b":{"$stash":"ref","ref":"one"}}',
    ],
)
def test_odd_spellings_mean_what_they_mean_piece_by_piece(raw: bytes) -> None:
    pieces = {"one": b"[7]", "spaced": b" [ ] "}
    assert WholeTexts(pieces.__getitem__).tree(raw) == assemble(raw, pieces.__getitem__)


def test_cycles_missing_pieces_and_bombs_are_refused() -> None:
    use = b'{"$stash":"ref","ref":"%b"}'
    pieces = {"loop": b"[" + use % b"loop" + b"]", "gone": use % b"nowhere", "bomb0": b'"' + b"x" * 1000 + b'"'}
    for level in range(1, 60):
        below = use % f"bomb{level - 1}".encode()
        pieces[f"bomb{level}"] = b"[" + below + b"," + below + b"]"
    blobs = BlobStore()
    for ref, raw in pieces.items():
        blobs.put_raw(ref, raw)
    for ref in ("loop", "gone", "bomb59"):
        with pytest.raises(StashError):
            blobs.tree(ref)
        with pytest.raises(StashError):
            blobs.text(ref)
    assert blobs.tree("bomb3") == [[["x" * 1000] * 2] * 2] * 2


def test_a_value_put_under_a_ref_it_does_not_have_stays_damaged() -> None:
    blobs = BlobStore()
    wrong = content_ref(b"1")
    blobs.put_raw(wrong, b"2")
    assert [blobs.payload(wrong).state for _ in range(2)] == ["damaged", "damaged"]
    assert blobs.copy().payload(wrong).state == "damaged"
