"""Tokens as each provider tells them, added up as one kind of number."""

from __future__ import annotations

import pytest

from stashdbg_core.session.tasks import Task
from stashdbg_core.session.usage import Usage, usage_of, usage_steps

ANTHROPIC = {"input_tokens": 10, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 30, "output_tokens": 7}


@pytest.mark.parametrize(
    ("tree", "usage"),
    [
        (
            {"usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 5}}},
            Usage(9, 4, 5),
        ),
        (
            {"usage": {"input_tokens": 9, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 5}}},
            Usage(9, 4, 5),
        ),
        ({"usage": ANTHROPIC}, Usage(240, 7, 200)),
        ({"message": {"usage": ANTHROPIC}}, Usage(240, 7, 200)),
        (
            {
                "usageMetadata": {
                    "promptTokenCount": 5,
                    "candidatesTokenCount": 2,
                    "thoughtsTokenCount": 3,
                    "cachedContentTokenCount": 1,
                }
            },
            Usage(5, 5, 1),
        ),
        ({"$stash": "model", "class": "m:Answer", "fields": {"usage": {"prompt_tokens": 1}}}, Usage(1, 0, 0)),
        (
            {
                "$stash": "stream",
                "chunks": [
                    {"message": {"usage": {"input_tokens": 8, "output_tokens": 1}}},
                    {"delta": {}},
                    {"usage": {"output_tokens": 6}},
                ],
            },
            Usage(8, 6, 0),
        ),
        ({"usage": {"prompt_tokens": "many", "completion_tokens": -4}}, Usage()),
        ({"usage": {"seats": 4}}, None),
        ({"usage": [1]}, None),
        ("usage", None),
        ({"max_tokens": 5}, None),
    ],
)
def test_every_shape_of_usage_is_read_as_one(tree, usage):
    assert usage_of(tree) == usage


def test_totals_are_by_call_and_along_the_run(make_run):
    rows = [
        {"channel": "llm", "key": "a", "value": {"usage": {"prompt_tokens": 3, "completion_tokens": 1}}},
        {"channel": "tool", "key": "t", "value": {"usage": "none"}},
        {"channel": "llm", "key": "b", "value": {"usage": ANTHROPIC}},
        {"channel": "llm", "key": "a", "value": {"pad": "x" * 3000, "usage": {"prompt_tokens": 5}}},
    ]
    totals = Task(usage_steps(make_run(rows))).run()
    assert totals.by_call == {("llm", "a"): (2, Usage(8, 1, 0)), ("llm", "b"): (1, Usage(240, 7, 200))}
    assert (totals.calls, totals.total, [index for index, _ in totals.along]) == (3, Usage(248, 8, 200), [0, 2, 3])
    assert totals.to_json()["keys"][0] == {
        "channel": "llm",
        "key": "a",
        "calls": 2,
        "inputTokens": 8,
        "outputTokens": 1,
        "cachedTokens": 0,
    }
