"""``search``, ``show --filter`` and ``show --columns``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest


def test_hits_are_lines_with_their_place(recording: Path, stashdbg: Callable) -> None:
    ran = stashdbg("search", recording, "sunny")
    assert ran.code == 0
    assert [line.split() for line in ran.out.splitlines()] == [["1", "value", "/0", "sunny"]]
    assert ran.err == "1 place in 1 event, 4 events searched\n"


def test_json_has_the_stable_keys(recording: Path, stashdbg: Callable) -> None:
    tree = json.loads(stashdbg("search", recording, "paris", "--json").out)
    assert (tree["scanned"], tree["truncated"]) == (4, False)
    assert {"seq", "part", "pointer", "text"} == set(tree["hits"][0])
    assert tree["hits"][0] == {"seq": 1, "part": "input", "pointer": "/q", "text": "weather paris"}
    assert len(json.loads(stashdbg("search", recording, "/[a-z]/", "--json", "--max", "2").out)["hits"]) == 2


def test_nothing_found_is_no_fault(recording: Path, stashdbg: Callable) -> None:
    ran = stashdbg("search", recording, "nowhere")
    assert (ran.code, ran.out, ran.err) == (0, "", "nothing found, 4 events searched\n")


def test_the_origin_is_the_first_hit(recording: Path, stashdbg: Callable) -> None:
    assert len(stashdbg("search", recording, "/./", "--first").out.splitlines()) == 1


@pytest.mark.parametrize("text", ["(", "[", "*", "a{999999}", '"', "😀"])
def test_any_text_may_be_looked_for(recording: Path, stashdbg: Callable, text: str) -> None:
    assert stashdbg("search", recording, text).code == 0


@pytest.mark.parametrize("text", ["/(/", "", "x" * 1_000_000])
def test_a_bad_pattern_is_a_usage_error_of_one_line(recording: Path, stashdbg: Callable, text: str) -> None:
    ran = stashdbg("search", recording, text)
    assert (ran.code, ran.out, ran.err.count("\n")) == (64, "", 1)
    error = json.loads(stashdbg("search", recording, text, "--json").err)["error"]
    assert error["code"] == "ERR_INVALID_INPUT"


def test_hostile_text_is_shown_and_not_acted_on(make: Callable[..., Path], stashdbg: Callable) -> None:
    path = make([{"key": "k", "value": "\x1b]0;PWNED\x07 needle \u202e" + "x" * 500}])
    out = stashdbg("search", path, "needle").out
    assert "needle" in out and "\x1b" not in out and "\u202e" not in out


def test_show_lists_what_fits_a_filter(recording: Path, stashdbg: Callable) -> None:
    ran = stashdbg("show", recording, "--filter", "key:search -is:error")
    assert [line.split()[0] for line in ran.out.splitlines()[2:]] == ["1"]
    assert ran.err == "1 of 4 events listed\n"
    tree = json.loads(stashdbg("show", recording, "--filter", "is:error", "--json").out)
    assert [event["seq"] for event in tree["events"]] == [2]


def test_a_filter_that_is_none_points_at_its_column(recording: Path, stashdbg: Callable) -> None:
    ran = stashdbg("show", recording, "--filter", "key:x (")
    assert (ran.code, ran.out) == (64, "")
    assert "at its end" in ran.err
    assert "at column 3: )" in stashdbg("show", recording, "--filter", "a )").err


def test_columns_of_ones_own(recording: Path, stashdbg: Callable) -> None:
    words = ("show", recording, "--columns", "query=input.q", "--columns", "first=value[0]")
    titles, *rows = (line.split() for line in stashdbg(*words).out.splitlines()[1:])
    assert titles[-3:] == ["query", "first", "summary"]
    assert "sunny" in rows[1]
    events = json.loads(stashdbg(*words, "--json").out)["events"]
    assert events[1]["columns"] == {"query": "weather paris", "first": "sunny"}
    assert stashdbg("show", recording, "--at", "1", "--columns", "query=input.q").out.count("weather paris") == 2


def test_a_column_that_is_none_is_a_usage_error(recording: Path, stashdbg: Callable) -> None:
    ran = stashdbg("show", recording, "--columns", "a=value[")
    assert ran.code == 64
    assert "column" in ran.err
