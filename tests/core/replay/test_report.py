"""What a divergence says: both sides, the first difference, a line each, whatever the size."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.record.recorder import Recorder
from stashdbg_core.replay import Replayer
from stashdbg_core.replay.divergence import DivergenceReport


def one_call(value: Any, live: Any, **options: Any) -> tuple[StashError, DivergenceReport]:
    recorder = Recorder(redact=options.pop("recorded_with", None))
    recorder.call("tool", "t", lambda: 1, input=value)
    replayer = Replayer(recorder.recording(), **options)
    with pytest.raises(StashError) as caught:
        replayer.call("tool", "t", lambda: 2, input=live)
    return caught.value, replayer.report()


def test_two_megabytes_with_one_differing_leaf_give_a_short_message() -> None:
    def payload(leaf: str) -> dict[str, Any]:
        items = [{"id": number, "text": "some words " * 20} for number in range(8000)]
        items[6000]["deep"] = {"a": [0, {"b": leaf}]}
        return {"items": items}

    error, report = one_call(payload("old"), payload("new"))
    assert 'at /items/6000/deep/a/1/b; recorded: "old" / live: "new"' in error.message
    assert len(error.message) < 500
    assert len(json.dumps(dict(error.details))) < 2000
    assert len(str(report)) < 2000


def test_long_texts_show_where_they_part() -> None:
    before, after = "a" * 5000 + " note_3f8a " + "b" * 9000, "a" * 5000 + " note_77c1 " + "b" * 9000
    error, _ = one_call({"prompt": before}, {"prompt": after})
    change = error.details["changes"][0]
    assert change["pointer"] == "/prompt"
    assert "note_3f8a" in change["recorded"]
    assert "note_77c1" in change["live"]
    assert len(change["recorded"]) <= 120


def test_a_hostile_input_cannot_reach_the_terminal() -> None:
    error, report = one_call({"\x1b[2J": "\x1b]0;x\x07"}, {"\x1b[2J": "\u202e"})
    for text in (error.message, error.hint or "", str(report)):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)


def test_the_report_for_people_names_both_sides_and_the_place() -> None:
    _, report = one_call({"q": "flights"}, {"q": "hotels"})
    lines = str(report).splitlines()
    assert lines[0] == "0 matched, 1 diverged, 0 recorded but never made"
    assert re.fullmatch(r"input-mismatch  seq 0  tool t #0  at test_report\.py:\d+ one_call", lines[1])
    assert lines[3:6] == ["  /q", '    recorded: "flights"', '    live:     "hotels"']


def test_an_ignored_path_is_not_compared_and_is_listed() -> None:
    recorder = Recorder()
    recorder.call("llm", "t", lambda: 1, input={"messages": [{"id": 1, "text": "note_1a2b done"}], "at": 1})
    live = {"messages": [{"id": 2, "text": "note_9f8e done"}], "at": 2}
    patterns = ["/messages/*/id", "/**/at", re.compile(r"note_[0-9a-f]+")]
    for match in ("order", "input"):
        replayer = Replayer(recorder.recording(), match=match, ignore=patterns)
        assert replayer.call("llm", "t", lambda: 2, input=live) == 1
        report = replayer.report()
        assert report.ok
        assert report.ignored == ("/messages/*/id", "/**/at", "re:note_[0-9a-f]+")
        assert "ignored in inputs: /messages/*/id" in str(report)
    with pytest.raises(StashError, match="/messages/0/text"):
        Replayer(recorder.recording(), ignore=patterns[:2]).call("llm", "t", lambda: 2, input=live)


def test_a_secret_does_not_get_into_a_message() -> None:
    secret = "sk-proj-" + "Zq7" * 14
    error, report = one_call({"q": 1}, {"q": 1, "api_key": secret, "text": f"use {secret} now"})
    assert secret not in error.message + str(dict(error.details)) + str(report)


def test_a_thousand_divergences_are_kept_and_more_are_counted() -> None:
    recorder = Recorder()
    recorder.call("tool", "t", lambda: 1)
    replayer = Replayer(recorder.recording(), on_divergence="collect")
    for number in range(1200):
        with pytest.raises(StashError):
            replayer.call("tool", f"k{number}", lambda: 2)
    report = replayer.report()
    assert len(report.divergences) + report.dropped == 1201
    assert len(str(report)) < 10_000
