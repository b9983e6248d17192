"""``show``: the listing, one event whole, and the JSON that other programs read."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stashdbg.cli.pretty import pretty_lines


def test_the_listing_has_a_header_and_a_line_an_event(recording: Path, stashdbg: Callable) -> None:
    ran = stashdbg("show", recording)
    header, titles, *rows = ran.out.splitlines()
    assert (ran.code, ran.err) == (0, "")
    assert header == "run-1 · 4 events · complete"
    assert titles.split() == ["seq", "channel", "key", "outcome", "took", "summary"]
    assert [row.split()[:4] for row in rows] == [
        ["0", "llm", "plan", "returned"],
        ["1", "tool", "search", "returned"],
        ["2", "tool", "search", "threw"],
        ["3", "clock", "now", "returned"],
    ]
    assert "look it up" in rows[0]
    assert "TimeoutError: no answer" in rows[2]
    assert "30.0 s" in rows[2]


def test_columns_stay_aligned_with_wide_and_hostile_text(make: Callable[..., Path], stashdbg: Callable) -> None:
    path = make([{"key": key, "value": "HERE"} for key in ("日本語", "a", "é", "x\x1b[2J\n", "k" * 300, "👩‍👩‍👧")])
    from rich.cells import cell_len

    rows = stashdbg("show", path).out.splitlines()[1:]
    assert len({cell_len(row[: row.index("HERE")]) for row in rows[1:]}) == 1


def test_json_has_every_field_and_the_values(recording: Path, stashdbg: Callable) -> None:
    ran = stashdbg("show", recording, "--json")
    tree = json.loads(ran.out)
    assert (ran.code, ran.err, tree["id"], tree["complete"], tree["notes"]) == (0, "", "run-1", True, [])
    assert tree["events"][1] == {
        "seq": 1, "channel": "tool", "key": "search", "ordinal": 0, "outcome": "return", "at": 1760000000000,
        "label": "first try", "thread": "t1", "value": ["sunny", "mild"], "input": {"q": "weather paris"},
    }  # fmt: skip
    assert tree["events"][2]["value"]["$stash"] == "exception"
    assert "input" not in tree["events"][3]


def test_an_empty_recording_is_one_object_too(make: Callable[..., Path], stashdbg: Callable) -> None:
    path = make([])
    assert json.loads(stashdbg("show", path, "--json").out)["events"] == []
    assert stashdbg("show", path).out.startswith("run-1 · 0 events")


def test_null_is_not_missing(make: Callable[..., Path], stashdbg: Callable) -> None:
    path = make([{"value": None, "input": None}, {"value": 1}])
    tree = json.loads(path.read_bytes())
    del tree["blobs"][tree["events"][1]["ref"]]
    path.write_text(json.dumps(tree, separators=(",", ":")))
    found, gone = json.loads(stashdbg("show", path, "--json").out)["events"]
    assert (found["value"], found["input"]) == (None, None)
    assert "value" not in gone
    assert gone["problem"]
    told = stashdbg("show", path)
    assert told.code == 0
    assert told.err.count("event 1") == 1


def test_a_changed_value_is_named_as_damaged(recording: Path, stashdbg: Callable) -> None:
    recording.write_bytes(recording.read_bytes().replace(b"look it up", b"look it UP"))
    told = stashdbg("show", recording)
    assert told.code == 0
    assert "event 0: value damaged" in told.err
    ref = json.loads(recording.read_bytes())["events"][0]["ref"]
    assert ref in told.err
    assert ref in stashdbg("show", recording, "--at", "0").err
    event = json.loads(stashdbg("show", recording, "--json").out)["events"][0]
    assert "value" not in event
    assert "problem" in event


def test_one_event_is_shown_whole(recording: Path, stashdbg: Callable) -> None:
    ran = stashdbg("show", recording, "--at", "1")
    assert (ran.code, ran.err) == (0, "")
    for part in ("event 1", "search", "first try", "t1", "2025-10-09", '"q": "weather paris"', '"sunny",', '"mild"'):
        assert part in ran.out
    one = json.loads(stashdbg("show", recording, "--at", "1", "--json").out)
    assert one["events"] == [json.loads(stashdbg("show", recording, "--json").out)["events"][1]]


@pytest.mark.parametrize("command", ["show", "why", "fork"])
def test_an_event_may_be_named_by_its_call(command: str, recording: Path, stashdbg: Callable) -> None:
    dry = ["--dry-run"] if command == "fork" else []
    by_name = stashdbg(command, recording, "--at", "tool:search:1", *dry, "--json")
    assert (by_name.code, by_name) == (0, stashdbg(command, recording, "--at", "2", *dry, "--json"))
    ran = stashdbg(command, recording, "--at", "three", *dry)
    assert (ran.code, ran.out) == (64, "")
    assert "channel:key:ordinal" in ran.err


@pytest.mark.parametrize("seq", ["4", "-1", "99999999999999999999999"])
def test_an_event_that_is_not_there_names_those_that_are(seq: str, recording: Path, stashdbg: Callable) -> None:
    ran = stashdbg("show", recording, "--at", seq)
    assert (ran.code, ran.out) == (64, "")
    assert "0 to 3" in ran.err
    assert ran.err.count("\n") == 1


def test_text_with_line_feeds_reads_as_lines() -> None:
    tree = {"say": "one\ntwo", "n": [1, None, {}], "": {"deep": []}}
    lines = ["".join(part if isinstance(part, str) else part.text for part in line) for line in pretty_lines(tree)]
    assert lines == [
        "{", '  "say": "one', '    two",', '  "n": [', "    1,", "    null,", "    {}", "  ],",
        '  "": {', '    "deep": []', "  }", "}",
    ]  # fmt: skip


def test_a_tagged_value_reads_as_what_it_stands_for() -> None:
    data = {"$stash": "bytes", "base64": "aGkK"}
    tree = {"id": {"$stash": "uuid", "value": "0-5"}, "data": data, "t": {"$stash": "tuple", "items": []}}
    lines = ["".join(part if isinstance(part, str) else part.text for part in line) for line in pretty_lines(tree)]
    assert lines == [
        "{", '  "id": 0-5  uuid,', '  "data": 3 B  bytes,', "    0000  68 69 0a                 hi·",
        '  "t": {', '    "$stash": "tuple",', '    "items": []', "  }", "}",
    ]  # fmt: skip


@pytest.mark.parametrize("value", [[], {}, "", "a", 0, None, True, [[[]]], {"a": {"b": [1, 2]}}, [{"x": 1}, {}]])
def test_a_layout_without_line_feeds_is_json(value: object) -> None:
    lines = ["".join(part if isinstance(part, str) else part.text for part in line) for line in pretty_lines(value)]
    assert json.loads("\n".join(lines)) == value
    assert "\n".join(lines) == json.dumps(value, indent=2)


def test_any_depth_is_shown(make: Callable[..., Path], stashdbg: Callable) -> None:
    deep: object = "bottom"
    for _ in range(1000):
        deep = [deep]
    path = make([])
    text = "[" * 1000 + '"bottom"' + "]" * 1000
    path.write_text(
        '{"version":1,"id":"d","events":[{"seq":0,"channel":"t","key":"k","ordinal":0,"outcome":"return","ref":"r"}],'
        f'"blobs":{{"r":{text}}},"meta":{{}}}}'
    )
    assert "bottom" in stashdbg("show", path, "--at", "0").out
    shown = stashdbg("show", path, "--json")
    assert shown.code == 0
    assert text in shown.out


def test_standard_input_and_pipes_are_read(recording: Path, process: Callable, shell: Callable) -> None:
    assert process("show", "-", given=recording.read_bytes()).stdout.startswith(b"run-1")
    assert process("-", given=recording.read_bytes()).stdout.startswith(b"run-1")
    assert shell("$STASHDBG show <(cat run.json)").stdout.startswith(b"run-1")
    assert process("show", "-").returncode == 65


@pytest.mark.parametrize("words", [["show"], ["show", "--json"], ["show", "--at", "0"], ["stats"], ["open"]])
def test_plain_output_loads_no_screen(words: list[str], recording: Path) -> None:
    program = (
        "import sys; from stashdbg.cli.app import run; run(sys.argv[1:]); print(sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words, str(recording)], capture_output=True, text=True, check=True
    )
    assert not any(f"'{name}'" in done.stderr for name in ("textual", "deepdiff", "stashdbg_tui", "rich.console"))


@pytest.mark.parametrize(
    ("options", "listed"),
    [
        (["-n", "2"], [0, 1]),
        (["--head", "9"], [0, 1, 2, 3]),
        (["--tail", "1"], [3]),
        (["--tail", "0"], []),
        (["--head", "3", "--tail", "2"], [1, 2]),
        (["--filter", "channel:tool", "--head", "1"], [1]),
        (["--filter", "channel:tool", "--tail", "1"], [2]),
    ],
)
def test_the_first_or_last_events_alone(
    options: list[str], listed: list[int], recording: Path, stashdbg: Callable
) -> None:
    ran = stashdbg("show", recording, *options)
    assert [int(row.split()[0]) for row in ran.out.splitlines()[2:]] == listed
    assert ran.err == f"{len(listed)} of 4 events listed\n"
    assert [
        event["seq"] for event in json.loads(stashdbg("show", recording, "--json", *options).out)["events"]
    ] == listed


def test_a_limit_that_is_a_number_of_events_names_the_option_for_it(recording: Path, stashdbg: Callable) -> None:
    ran = stashdbg("show", recording, "--limit", "5")
    assert (ran.code, ran.out) == (64, "")
    assert "--head 5 lists the first 5" in ran.err
