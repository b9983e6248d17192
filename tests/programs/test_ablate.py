"""Earlier outputs taken out one at a time: what is served, what runs for real, and what is called causal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stashdbg.cli.app import run as stashdbg
from stashdbg_core.errors import StashError
from stashdbg_core.programs.experiments.ablate import plan_ablation
from stashdbg_core.programs.experiments.ablation_verdict import Observed, judged
from stashdbg_core.programs.experiments.neutral import NEUTRAL, is_carried, neutralised
from stashdbg_core.programs.runs.rerunning import command_of
from stashdbg_core.session.stream_message import stream_message
from stashdbg_core.session.why_wanted import Evidence
from stashdbg_core.store.open import open_recording
from tests.programs.deciding_model import LAST, NEWS, PLAN, WEATHER, DecidingServer, deciding_server, recorded_agent


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DecidingServer]:
    """The model's server; the recorded run is in the folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    with deciding_server() as started:
        recorded_agent(started)
        yield started


def test_only_what_changes_the_call_is_called_causal(
    server: DecidingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    before = dict(server.asked)
    words = ["ablate", "run.json", "--at", "2", "--times", "2"]
    assert stashdbg([*words, "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [(c["seq"], c["removed"]) for c in plan["candidates"]] == [(1, [NEWS]), (0, [WEATHER])]
    assert (plan["runs"], plan["liveCalls"]) == (6, 2 * (3 + 4 + 4))
    assert stashdbg(words) == 64 and dict(server.asked) == before  # nobody said yes
    capsys.readouterr()

    assert stashdbg([*words, "--yes", "--json", "-o", "kept"]) == 0
    tree = json.loads(capsys.readouterr().out)
    by_seq = {result["seq"]: result for result in tree["results"]}
    news, weather = by_seq[1], by_seq[0]
    assert (news["causal"], news["input"]["effect"], news["outcome"]["effect"]) == (False, "carried", "same")
    assert (weather["causal"], weather["outcome"]["effect"], weather["outcome"]["runs"]) == (True, "changed", 2)
    assert '"go for a walk"' in weather["outcome"]["after"] and PLAN in weather["outcome"]["before"]
    assert tree["unablated"]["runs"] == 2
    # without the news only the first model call is another one; without the weather all that follows is
    assert (news["live"], weather["live"]) == (2, 6)
    assert server.asked["weather"] == before["weather"] and server.asked["news"] == before["news"]
    ablated = open_recording("kept/without-0-run-1.json")
    assert ablated.blobs.tree(ablated.events[0].ref)["body"]["text"] == NEUTRAL
    assert ablated.meta["continued"]["replaced"] == [0] and ablated.meta["fork"]["override"] == "value"
    assert ablated.meta["fork"]["at"] == 0 and ablated.meta["fork"]["parent"] == open_recording("run.json").id


def test_a_streamed_answer_is_taken_out_over_its_chunks_and_moods_count_for_nothing(
    server: DecidingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.moody = True  # the last answer is never the same
    assert stashdbg(["ablate", "run.json", "--at", "3", "--pointer", "/url", "--times", "1", "--yes"]) == 0
    out, err = capsys.readouterr()
    assert "event 3  http GET" in out and "input /url" in out and "without event 2  llm small: causal" in out
    assert "(removed)" in out and all(len(line) <= 80 for line in out.splitlines())
    assert "compared with 1 run of the same live calls, nothing taken out" in err
    capsys.readouterr()
    assert stashdbg(["ablate", "run.json", "--at", "4", "--times", "1", "--only", "3", "--yes", "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert (result["seq"], result["causal"], result["outcome"]["effect"]) == (3, False, "varies")
    kept = open_recording("run-ablation/without-2-run-1.json")
    message = stream_message(kept.blobs.tree(kept.events[2].ref))
    assert message is not None and message.tree == NEUTRAL
    assert len(message.record.chunks) > 3  # as many as were recorded


def test_what_has_nothing_to_take_out_is_refused(server: DecidingServer) -> None:
    recording = open_recording("run.json")
    command = command_of(recording, ())
    assert plan_ablation(recording, command, 0).candidates == ()
    assert stashdbg(["ablate", "run.json", "--at", "0", "--yes"]) == 64
    for bad in ({"times": 0}, {"only": (4,)}, {"pointer": "/nope"}):
        with pytest.raises(StashError):
            plan_ablation(recording, command, 2, **bad)  # type: ignore[arg-type]


def evidence(text: str, kind: str = "verbatim", source: str = "") -> Evidence:
    return Evidence(kind, len(text), source, "", text[:200])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tree", "found", "expected"),
    [
        ("it rains in Oslo", [evidence("rains in Oslo")], f"it {NEUTRAL}"),
        ({"a": "x" * 300 + "y", "b": 1}, [evidence("x" * 300)], {"a": NEUTRAL + "y", "b": 1}),
        ({"price": 4217, "n": 7}, [evidence("4,217", "same number")], {"price": 0, "n": 7}),
        ('{"price": 4217}', [evidence("4217", "same number")], '{"price":0}'),
        (
            {"o": {"id": "u1", "x": "abc", "n": 5}},
            [evidence("…", "same value", "/o")],
            {"o": {"id": "u1", "x": NEUTRAL, "n": 0}},
        ),
        ({"role": "assistant", "content": "hi all"}, [], {"role": "assistant", "content": NEUTRAL}),
        (
            {"$stash": "exception", "class": "E", "text": "no such city"},
            [],
            {"$stash": "exception", "class": "E", "text": NEUTRAL},
        ),
        (
            {"status": 200, "headers": {"x": "hi all"}, "body": {"t": "hi all"}},
            [evidence("hi all")],
            {"status": 200, "headers": {"x": "hi all"}, "body": {"t": NEUTRAL}},
        ),
    ],
)  # fmt: skip
def test_what_is_taken_out(tree: Any, found: list[Evidence], expected: Any) -> None:
    neutral = neutralised(tree, found)
    assert neutral is not None and neutral.tree == expected
    assert neutralised({"n": 7, "ok": True, "raw": '{"id": "a"}'}, []) is None


def test_the_verdict_counts_only_what_does_not_vary_by_itself() -> None:
    def seen(given: Any, said: Any, *, model: bool = True) -> Observed:
        return Observed(True, given, "return", said, said, is_model=model)

    def effects(recorded: Observed, controls: list[Observed], runs: list[Observed]) -> tuple[bool, str, str]:
        verdict = judged(recorded, controls, runs, ["rain"], None, None)
        return verdict.causal, verdict.given.effect, verdict.outcome.effect

    was = seen({"m": "rain", "k": 1}, {"t": "wet", "id": 1})
    gone = Observed(False)
    varied = seen({"m": "rain", "k": 1}, {"t": "wet", "id": 2})
    carried = seen({"m": NEUTRAL, "k": 1}, {"t": "wet", "id": 3})
    other = seen({"m": NEUTRAL, "k": 1}, {"t": "dry", "id": 3})
    assert effects(was, [], [was, was]) == (False, "same", "same")
    assert effects(was, [varied], [varied, carried]) == (False, "sometimes", "varies")
    assert effects(was, [varied], [carried, carried]) == (False, "carried", "varies")
    assert effects(was, [varied], [other, other]) == (True, "carried", "changed")
    assert effects(was, [varied], [other, carried]) == (False, "carried", "sometimes")
    assert effects(was, [other], [other, other]) == (False, "varies", "varies")
    assert effects(was, [], [gone, gone]) == (True, "not made", "not made")
    assert effects(was, [gone], [gone, gone]) == (False, "varies", "varies")
    tool, unlike = seen({"q": "rain"}, 1, model=False), seen({"q": NEUTRAL}, 1, model=False)
    assert effects(tool, [], [unlike]) == (True, "carried", "same")
    assert LAST.endswith(PLAN)
    assert is_carried('{"city": "Oslo", "n": 1}', f'{{"city":"{NEUTRAL}","n":1}}', ["Oslo"])
    assert not is_carried('{"city": "Oslo", "n": 1}', f'{{"city":"{NEUTRAL}","n":2}}', ["Oslo"])
    assert is_carried(4217, 0, ["4,217"]) and is_carried("costs 4217", "costs 0", ["4217"])
    assert not is_carried("wet", "dry", ["rain"]) and not is_carried(3, 0, ["rain"])
