"""The promise, kept with real frameworks: recorded unmodified, replayed offline, forked, run on from there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stashdbg import open_recording
from stashdbg_core.session.fork_edit import start_edit
from tests.agents.conftest import AGENTS, Shell
from tests.agents.model_server import ModelServer

pytestmark = pytest.mark.agents

REPLAYS = 20
BUSY = {0: "429", 2: "drop"}
"""The first request is refused, and the second answer's first try goes away: every agent asks again."""


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_replays_offline_every_time(agent: str, shell: Shell, tmp_path: Path) -> None:
    run = tmp_path / "run.json"
    with ModelServer(faults=BUSY) as server:
        recorded = shell.stashdbg("record", "-o", str(run), "--", *shell.agent(agent), url=server.url)
        asked = len(server.requests)
    assert recorded.code == 0, recorded.err
    assert recorded.out.count("weather") == 2
    assert asked == 5

    recording = open_recording(run)
    assert recording.complete
    llm = [event for event in recording.events if event.channel == "llm"]
    assert [event.outcome for event in llm] == ["throw", "return", "throw", "return", "return"]
    assert "0123456789abcdefghijklmnopqrstuvwxyz" not in run.read_text(encoding="utf-8")

    ended = [
        shell.stashdbg("replay", str(run), "--", *shell.agent(agent), url="http://127.0.0.1:9") for _ in range(REPLAYS)
    ]
    assert {(one.code, one.out) for one in ended} == {(0, recorded.out)}, ended[0].err


@pytest.mark.parametrize("agent", AGENTS)
def test_a_fork_at_the_second_model_call_changes_what_follows(agent: str, shell: Shell, tmp_path: Path) -> None:
    run, edited, fork = tmp_path / "run.json", tmp_path / "edited.json", tmp_path / "fork.json"
    with ModelServer() as server:
        recorded = shell.stashdbg("record", "-o", str(run), "--", *shell.agent(agent), url=server.url)
        assert recorded.code == 0, recorded.err
        recording = open_recording(run)
        second = [place for place, event in enumerate(recording.events) if event.channel == "llm"][1]
        message = json.dumps(start_edit(recording, second).shown)
        assert "The weather" in message
        edited.write_text(message.replace("The weather", "No weather at all"), encoding="utf-8")
        at = str(recording.events[second].seq)
        forked = shell.stashdbg(
            "fork", str(run), "--at", at, "--set-file", str(edited), "-o", str(fork), url=server.url
        )
        assert forked.code == 0, forked.err

        before = len(server.requests)
        went_on = shell.stashdbg(
            "continue", str(fork), "--yes", "-o", str(tmp_path / "next.json"), "--", *shell.agent(agent), url=server.url
        )
        assert went_on.code == 0, went_on.err
        assert len(server.requests) == before + 1

    assert went_on.out.count("No weather at all") == 2
    assert recorded.out.splitlines()[:-2] == went_on.out.splitlines()[:-2]
    diff = shell.stashdbg("diff", str(run), str(tmp_path / "next.json"), "--json", url="")
    assert diff.code == 1
    changed = [row["seqA"] for row in json.loads(diff.out)["changed"] if row["channel"] == "llm"]
    assert changed[0] == recording.events[second].seq


@pytest.mark.parametrize("agent", AGENTS)
def test_an_answer_cut_off_in_the_middle_ends_the_replay_alike(agent: str, shell: Shell, tmp_path: Path) -> None:
    run = tmp_path / "run.json"
    with ModelServer(faults={1: "cut", 2: "cut", 3: "cut"}) as server:
        recorded = shell.stashdbg("record", "-o", str(run), "--", *shell.agent(agent), url=server.url)
    replayed = shell.stashdbg("replay", str(run), "--", *shell.agent(agent), url="http://127.0.0.1:9")
    assert (replayed.code, replayed.out) == (recorded.code, recorded.out), replayed.err
    assert open_recording(run).complete is True
