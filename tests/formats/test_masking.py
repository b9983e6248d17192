"""Secrets in what a reader hands over: long texts are looked at once, and masked wherever they stand."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import stored_form
from stashdbg_core.formats.masking import LONG, Masker
from stashdbg_core.formats.opening import read_foreign
from stashdbg_core.redact import Redactor
from stashdbg_core.redact.placeholders import normalise_placeholders

SECRET = "sk-ant-api03-" + "aB3dE6gH9j" * 9
CLEAN = "The build went well and nothing in here is private. " * 40
LEAKY = f"{CLEAN} export ANTHROPIC_API_KEY={SECRET} {CLEAN}"

texts = st.sampled_from([CLEAN, LEAKY, SECRET, "short", "", "hunter2", json.dumps({"password": "x" * LONG}), CLEAN * 3])
trees = st.recursive(
    texts,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["text", "password", "api_key", "content", "input"]), inner, max_size=3),
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(trees, min_size=1, max_size=3))
def test_what_is_masked_is_what_a_search_of_the_whole_tree_masks(told: list[Any]) -> None:
    masker, whole = Masker(Redactor()), Redactor()
    for tree in (*told, *told):
        masked = json.loads(masker.stored(tree, stored_form(tree)))
        expected = json.loads(stored_form(whole.redact_tree(tree)))
        assert normalise_placeholders(masked) == normalise_placeholders(expected)
        assert SECRET not in json.dumps(masked)


def test_a_secret_is_masked_in_results_prompts_and_labels_alike() -> None:
    said = [
        {"type": "user", "uuid": "u1", "sessionId": "s", "message": {"role": "user", "content": f"Use {SECRET}"}},
        {"type": "assistant", "uuid": "a1", "sessionId": "s", "message": {"id": "m1", "model": "m", "content": [
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"curl -H 'x-api-key: {SECRET}' h"}},
        ]}},
        {"type": "user", "uuid": "r1", "sessionId": "s", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": LEAKY},
        ]}},
        {"type": "assistant", "uuid": "a2", "sessionId": "s", "message": {"id": "m2", "model": "m", "content": "ok"}},
    ]  # fmt: skip
    recording = read_foreign(b"".join(json.dumps(record).encode() + b"\n" for record in said))
    stored = [recording.blobs.payload(ref).raw.decode() for ref in recording.blobs.refs()]

    assert len(recording.events) == 4
    assert not [text for text in (*stored, *(event.label or "" for event in recording.events)) if SECRET in text]
    last = json.dumps(recording.blobs.tree(recording.events[3].input_ref or ""))
    assert last.count("[REDACTED:") == 3
