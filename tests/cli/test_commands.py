"""``stats``, ``convert``, ``export``, ``keys`` and ``demo``."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest


def test_stats_counts_by_channel(recording: Path, stashdbg: Callable) -> None:
    facts = json.loads(stashdbg("stats", recording, "--json").out)
    assert facts["id"] == "run-1"
    assert (facts["events"], facts["complete"], facts["throws"], facts["blobs"]) == (4, True, 1, 6)
    assert facts["channels"]["tool"] == {"events": 2, "throws": 1}
    assert facts["bytes"] > 0
    assert "threads" in facts
    ran = stashdbg("stats", recording)
    assert (ran.code, ran.err) == (0, "")
    assert ["tool", "2", "1"] in [line.split() for line in ran.out.splitlines()]
    assert ["total", "4", "1"] in [line.split() for line in ran.out.splitlines()]


def test_stats_of_hostile_names_stay_lines(make: Callable[..., Path], stashdbg: Callable) -> None:
    path = make([{"channel": "\x1b[2J\n" + "c" * 500, "value": 1}, {"channel": "", "value": 2}])
    ran = stashdbg("stats", path)
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) < 200
    assert len(json.loads(stashdbg("stats", path, "--json").out)["channels"]) == 2


def test_a_damaged_file_becomes_a_whole_one(make: Callable[..., Path], tmp_path: Path, stashdbg: Callable) -> None:
    path = make([{"value": f"value {n}", "input": n} for n in range(50)])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    ran = stashdbg("convert", path, "-o", tmp_path / "out.json")
    assert (ran.code, ran.out) == (0, f"{tmp_path / 'out.json'}\n")
    assert "note: " in ran.err
    assert path.read_bytes() == whole[: len(whole) // 2]
    written = json.loads((tmp_path / "out.json").read_bytes())
    assert (written["version"], written["id"]) == (1, "run-1")
    assert len(written["events"]) > 0
    assert stashdbg("show", tmp_path / "out.json").code == 0


def test_converting_never_replaces_unasked(recording: Path, tmp_path: Path, stashdbg: Callable) -> None:
    before = recording.read_bytes()
    report = json.loads(stashdbg("convert", recording, "-o", recording, "--json").out)
    assert report == {"file": str(tmp_path / "run-2.json"), "events": 4, "complete": True, "lost": []}
    assert recording.read_bytes() == before
    assert stat.S_IMODE((tmp_path / "run-2.json").stat().st_mode) == 0o600
    forced = stashdbg("convert", recording, "-o", recording, "--force")
    assert (forced.code, forced.out) == (0, f"{recording}\n")
    assert json.loads(recording.read_bytes())["events"] == json.loads(before)["events"]


def test_explaining_needs_no_place_to_write_to(tmp_path: Path, stashdbg: Callable) -> None:
    path = tmp_path / "chat.json"
    path.write_text('[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]')
    assert "inferred" in stashdbg("convert", path, "--explain").out
    report = json.loads(stashdbg("convert", path, "--explain", "--json").out)
    assert (report["events"], report["explain"]["format"]) == (2, "chat-messages")
    assert "file" not in report
    assert [file.name for file in tmp_path.iterdir()] == ["chat.json"]


def test_a_place_that_cannot_be_written_is_one_line(recording: Path, tmp_path: Path, stashdbg: Callable) -> None:
    ran = stashdbg("convert", recording, "-o", tmp_path / "no" / "such" / "out.json")
    assert ran.code in (64, 66)
    assert ran.err.count("\n") == 1


def test_a_flat_export_reads_like_the_original(recording: Path, tmp_path: Path, stashdbg: Callable) -> None:
    printed = stashdbg("export", "--flat", recording)
    assert (printed.code, printed.err) == (0, "")
    assert stashdbg("export", "--flat", recording, "-o", "-").out == printed.out
    written = stashdbg("export", "--flat", recording, "-o", tmp_path / "flat.json")
    assert written.out == f"{tmp_path / 'flat.json'}\n"
    assert (tmp_path / "flat.json").read_text() == printed.out
    original, flat = json.loads(recording.read_bytes()), json.loads(printed.out)
    assert flat["blobs"] == original["blobs"]
    assert flat["events"] == original["events"]


def test_keys_and_statistics_fit_80_columns(stashdbg: Callable, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from stashdbg_tui.commands import COMMANDS

    demo = root / "stashdbg" / "data" / "demo.json"
    rows = json.loads(stashdbg("keys", "--json").out)["keys"]
    assert [row["id"] for row in rows] == [entry.id for entry in COMMANDS]
    monkeypatch.setenv("COLUMNS", "80")
    lines = stashdbg("keys").out.splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    assert all(f"{entry.tooltip} {entry.id}" in text for entry in COMMANDS)
    stats = stashdbg("stats", demo).out.splitlines()
    assert max(map(len, stats)) <= 80
    for title, channels in (("time", "llm tool random"), ("errors", "tool llm"), ("tokens", "llm")):
        at = stats.index(f"{title} along the run")
        assert " ".join(line.split()[0] for line in stats[at + 1 : at + 4] if line).startswith(channels)
    along = json.loads(stashdbg("stats", demo, "--json").out)["along"]
    assert sum(along["tool"]["errors"]) == 3 and sum(along["llm"]["tokens"]) == 7895


@pytest.mark.parametrize("words", [["demo"], ["demo", "--json"]])
def test_the_demo_ships_or_is_named_as_lacking(words: list[str], stashdbg: Callable) -> None:
    from importlib.resources import files

    ran = stashdbg(*words)
    if (files("stashdbg") / "data" / "demo.json").is_file():
        assert (ran.code, ran.err) == (0, "")
        assert "llm" in ran.out
    else:
        assert ran.code == 66
        assert "demo" in ran.err
