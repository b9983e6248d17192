"""``stashdbg diff``: what it prints, and what it tells a script."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ONE: list[dict[str, Any]] = [
    {"channel": "llm", "key": "plan", "value": {"text": "look it up"}, "input": {"prompt": "weather?"}},
    {"value": {"eur": 41}, "input": {"q": "kettle"}},
    {"channel": "llm", "key": "answer", "value": "it costs 41", "input": {"told": "41"}},
]
OTHER: list[dict[str, Any]] = [
    ONE[0],
    {"value": {"eur": 99}, "input": {"q": "kettle"}},
    {"channel": "llm", "key": "answer", "value": "it costs 99", "input": {"told": "99"}},
    {"key": "buy", "value": "done", "input": 1},
]

Command = Callable[..., Any]
Make = Callable[..., Path]


@pytest.fixture
def pair(make: Make) -> tuple[Path, Path]:
    return make(ONE, "a.json", id="one"), make(OTHER, "b.json", id="two")


def test_equal_recordings_exit_with_0(stashdbg: Command, pair: tuple[Path, Path]) -> None:
    ran = stashdbg("diff", pair[0], pair[0])
    assert (ran.code, ran.err) == (0, "")
    assert "no difference: 3 events are the same" in ran.out
    found = json.loads(stashdbg("diff", pair[0], pair[0], "--json").out)
    assert found["same"] is True
    assert found["firstDivergence"] is None
    assert found["added"] == found["removed"] == found["changed"] == found["moved"] == []


def test_differences_exit_with_1_and_are_named(stashdbg: Command, pair: tuple[Path, Path]) -> None:
    ran = stashdbg("diff", *pair)
    assert (ran.code, ran.err) == (1, "")
    for line in ("1 same, 2 changed, 1 added", "value /eur", "    - 41", "    + 99", "input /told", "tool  buy #0"):
        assert line in ran.out
    assert ran.out.index("1 → 1") < ran.out.index("2 → 2") < ran.out.index("– → 3")


def test_json_has_the_stated_keys(stashdbg: Command, pair: tuple[Path, Path]) -> None:
    ran = stashdbg("diff", *pair, "--json")
    assert (ran.code, ran.err) == (1, "")
    found = json.loads(ran.out)
    assert set(found) >= {"same", "firstDivergence", "added", "removed", "moved", "changed"}
    first = found["firstDivergence"]
    assert (first["seqA"], first["seqB"], first["channel"], first["keyA"], first["keyB"]) == (
        1,
        1,
        "tool",
        "search",
        "search",
    )
    assert found["changed"][0]["changes"] == [
        {"part": "value", "pointer": "/eur", "path": ["eur"], "before": 41, "after": 99}
    ]
    assert {"ordinalA", "ordinalB"} < set(found["changed"][0])
    assert [(row["seqA"], row["seqB"], row["keyB"]) for row in found["added"]] == [(None, 3, "buy")]


def test_explain_says_where_it_started_and_what_follows(stashdbg: Command, pair: tuple[Path, Path]) -> None:
    ran = stashdbg("diff", *pair, "--explain")
    assert "why the earliest difference" in ran.out
    assert "1 → 1 tool search: 2 characters verbatim, '41'" in ran.out
    assert "not that it caused anything" in ran.out
    why = json.loads(stashdbg("diff", *pair, "--explain", "--json").out)["explanation"]
    assert [cause["verdict"] for cause in why["causes"]] == ["first", "flows", "end"]
    assert why["causes"][1]["sources"][0]["seqA"] == 1


def test_the_pairing_rule_is_chosen_and_named(stashdbg: Command, make: Make) -> None:
    a, b = make(ONE[1:2], "a.json"), make([{"value": 0, "input": 0}, ONE[1]], "b.json")
    assert "1 same, 1 added (paired by content)" in stashdbg("diff", a, b).out
    assert "0 same, 1 changed, 1 added (paired by identity)" in stashdbg("diff", a, b, "--align", "identity").out
    ran = stashdbg("diff", a, b, "--align", "time")
    assert (ran.code, ran.out) == (64, "")


def test_a_missing_file_is_an_error_and_not_a_difference(stashdbg: Command, pair: tuple[Path, Path]) -> None:
    for flag in ((), ("--json",)):
        ran = stashdbg("diff", pair[0], "missing.json", *flag)
        assert (ran.code, ran.out) == (66, "")
        assert "missing.json" in ran.err
    assert stashdbg("diff", pair[0]).code == 64
    assert stashdbg("diff", "-", "-").code == 64


def test_standard_input_is_one_side(process: Command, pair: tuple[Path, Path]) -> None:
    done = process("diff", "-", str(pair[1]), given=pair[0].read_bytes())
    assert done.returncode == 1
    assert b"/eur" in done.stdout


def test_texts_are_shown_by_line(stashdbg: Command, make: Make) -> None:
    lines = [f"line {n}" for n in range(50)]
    a = make([{"value": {"t": "\n".join(lines)}}], "a.json")
    b = make([{"value": {"t": "\n".join([*lines[:30], "line thirty", *lines[31:]])}}], "b.json")
    out = stashdbg("diff", a, b).out
    assert "    -   31  line 30\n    +   31  line thirty\n" in out
    assert "line 29" not in out


def test_line_endings_alone_are_named(stashdbg: Command, make: Make) -> None:
    a, b = make([{"value": "x\r\ny\r\n"}], "a.json"), make([{"value": "x\ny\n"}], "b.json")
    assert "only line endings differ: 2 CRLF in A, 0 in B" in stashdbg("diff", a, b).out


def test_long_values_show_where_they_differ(stashdbg: Command, make: Make) -> None:
    text = "word " * 1000
    a, b = make([{"value": text + "old"}], "a.json"), make([{"value": text + "new"}], "b.json")
    out = stashdbg("diff", a, b).out
    assert 'word old"' in out
    assert 'word new"' in out
    assert len(out) < 2000


def test_output_is_bounded_unless_all_is_asked_for(stashdbg: Command, make: Make) -> None:
    a = make([{"value": list(range(50))}, *({"value": n, "key": "old"} for n in range(20))], "a.json")
    b = make([{"value": [n + 0.5 for n in range(50)]}], "b.json")
    out = stashdbg("diff", a, b).out
    assert "38 more changes of this event" in out
    assert "13 more removed, 8 to 20" in out
    everything = stashdbg("diff", a, b, "--all").out
    assert "more" not in everything
    assert "/49" in everything
    assert "20 → –" in everything


def test_times_alone_are_no_difference(stashdbg: Command, data: Path) -> None:
    case = data / "cases" / "28-only-time"
    ran = stashdbg("diff", case / "a.json", case / "b.json")
    assert ran.code == 0
    assert "1 event differs in time only" in ran.out


def test_a_missing_value_is_said_to_be_missing(stashdbg: Command, make: Make) -> None:
    a = make([{"value": None}], "a.json")
    b = make([{"value": None}], "b.json", blobs={})
    ran = stashdbg("diff", a, b)
    assert ran.code == 1
    assert "missing" in ran.out
    assert "null" in ran.out


def test_recorded_text_does_not_reach_the_terminal(stashdbg: Command, make: Make) -> None:
    a = make([{"value": {"\x1b[31m": "\x1b]0;x\x07"}, "key": "\x1b[2J"}], "a.json")
    b = make([{"value": {"\x1b[31m": "\x1b[5m\ny"}, "key": "\x1b[2J"}], "b.json")
    for flag in ("--text", "--json", "--explain"):
        out = stashdbg("diff", a, b, flag).out
        assert not set(out) & {chr(code) for code in [*range(9), *range(11, 32), 127]}


def test_a_closed_pipe_ends_quietly(shell: Command, pair: tuple[Path, Path]) -> None:
    done = shell("$STASHDBG diff a.json b.json --all | true")
    assert done.stderr == b""


def test_a_value_that_differs_as_a_whole_needs_no_place(make: Callable[..., Path], stashdbg: Callable) -> None:
    out = stashdbg("diff", make([{"value": 41}], "a.json"), make([{"value": 99}], "b.json")).out
    assert "  value\n    - 41\n    + 99\n" in out


def test_an_explanation_quotes_a_decimal_number_whole(make: Callable[..., Path], stashdbg: Callable) -> None:
    a, b = (
        make([{"value": f"it is {price} EUR"}, {"key": "pay", "value": "ok", "input": f"pay {price}"}], f"{price}.json")
        for price in (49.9, 61.9)
    )
    out = stashdbg("diff", a, b, "--explain").out
    assert "why the earliest difference: nothing before it differs" in out
    assert "why its input holds text of an earlier difference:" in out
    assert "4 characters verbatim, '49.9'" in out or "4 characters verbatim, '61.9'" in out


@pytest.mark.parametrize("columns", [80, 200])
def test_added_and_removed_events_fit_the_width(
    columns: int, make: Callable[..., Path], stashdbg: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = make([{"value": 1}], "a.json")
    b = make([{"value": 1}, {"key": "k" * 20, "value": "word " * 100}], "b.json")
    monkeypatch.setenv("COLUMNS", str(columns))
    (line,) = (line for line in stashdbg("diff", a, b).out.splitlines() if line.startswith("added"))
    assert len(line) == columns
    assert "word" in line


def test_measured_values_are_one_line_and_no_equality(stashdbg: Command, make: Make) -> None:
    def run(start: float, answer: str, name: str) -> Path:
        reads: list[dict[str, Any]] = [{"channel": "clock", "key": "now", "value": start + at} for at in range(3)]
        return make([reads[0], {"value": answer, "input": 1}, *reads[1:]], name, id=name)

    one, other, third = run(10, "x", "1.json"), run(70, "y", "2.json"), run(90, "x", "3.json")
    ran = stashdbg("diff", one, other)
    assert ran.code == 1 and "0 same, 1 changed, 3 measured" in ran.out
    assert "3 clock values differ: same places, other values; --all prints them" in ran.out
    assert "+ 70" not in ran.out and "+ 70" in stashdbg("diff", one, other, "--all").out
    only = stashdbg("diff", one, third)
    assert only.code == 1 and "only measured values differ" in only.out
    found = json.loads(stashdbg("diff", one, other, "--json", "--explain").out)
    assert found["same"] is False and found["counts"]["measured"] == 3
    assert [(row["seqA"], row["changes"][0]["after"]) for row in found["measured"]] == [(0, 70), (2, 71), (3, 72)]
    assert found["firstDivergence"]["seqA"] == 1
    assert [cause["seqA"] for cause in found["explanation"]["causes"]] == [1]
    assert json.loads(stashdbg("diff", one, third, "--json").out)["firstDivergence"]["kind"] == "measured"
