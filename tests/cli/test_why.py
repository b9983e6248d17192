"""``why``: the trail of the demo, and what cannot be asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def demo(root: Path) -> Path:
    return root / "stashdbg" / "data" / "demo.json"


def test_the_trail_of_the_demo_leads_to_the_archived_rate(demo: Path, stashdbg: Callable) -> None:
    ran = stashdbg("why", demo, "--at", "62", "--pointer", "/amount")
    heads = [line.split()[:3] for line in ran.out.splitlines() if not line.startswith("  ")]
    assert heads[:3] == [["62", "tool", "issue_refund"], ["60", "llm", "scripted-1"], ["59", "tool", "archived_rate"]]
    assert "→ 62  same number" in ran.out
    assert "does not show that one caused the other" in ran.err
    assert "caused" not in ran.out


def test_no_line_is_wider_than_a_small_terminal(
    demo: Path, stashdbg: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = stashdbg("why", demo, "--at", "62").out
    assert max(map(len, out.splitlines())) <= 80 and "/choices/0/" in out


def test_json_has_events_links_and_labels(demo: Path, stashdbg: Callable) -> None:
    tree = json.loads(stashdbg("why", demo, "--at", "62", "--pointer", "/amount", "--json").out)
    assert (tree["seq"], tree["part"], tree["pointer"], tree["stopped"]) == (62, "input", "/amount", None)
    assert [event["seq"] for event in tree["events"]][:3] == [62, 60, 59]
    link = tree["events"][1]["links"][0]
    assert link["to"] == 62
    assert link["evidence"][0] == {
        "evidence": "same number",
        "characters": 6,
        "from": "/choices/0/message/content",
        "to": "/amount",
        "text": "129.35",
        "words": "same number",
    }


def test_a_text_is_asked_for_like_a_field(demo: Path, stashdbg: Callable) -> None:
    tree = json.loads(stashdbg("why", demo, "--at", "60", "--text", "1.087", "--json").out)
    assert [event["seq"] for event in tree["events"]][1] == 59


def test_a_part_alone_is_all_of_it(demo: Path, stashdbg: Callable) -> None:
    tree = json.loads(stashdbg("why", demo, "--at", "60", "--part", "value", "--json").out)
    assert (tree["part"], tree["pointer"], tree["events"][1]["seq"]) == ("value", "", 55)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--at", "999"], "no event 999"),
        (["--at", "62", "--pointer", "/nope"], "event 62 has no field /nope"),
        (["--at", "62", "--pointer", "amount"], "not a JSON pointer"),
        (["--at", "62", "--text", "nowhere"], "event 62 has no text"),
        (["--at", "62", "--text", "a", "--pointer", ""], "exclude each other"),
        ([], "--at"),
    ],
)
def test_what_cannot_be_asked_is_said_on_one_line(demo: Path, stashdbg: Callable, words: list[str], said: str) -> None:
    ran = stashdbg("why", demo, *words)
    assert (ran.code, ran.out, ran.err.count("\n")) == (64, "", 1)
    assert said in ran.err


def test_a_call_that_nothing_reached_says_so(demo: Path, stashdbg: Callable) -> None:
    ran = stashdbg("why", demo, "--at", "0")
    assert ran.code == 0
    assert "no earlier output says anything that this says" in ran.err
