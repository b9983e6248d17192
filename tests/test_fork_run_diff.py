"""The whole loop, with the example agent: record, replay offline, fork, run on from the fork, compare."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stashdbg import Stash, create_replayer, diff_recordings, open_recording
from stashdbg.cli.app import run as run_stashdbg

RATE = '{"base": "USD", "quote": "EUR", "rate": 0.92, "source": "archive"}'


@pytest.fixture
def agent(root: Path, monkeypatch: pytest.MonkeyPatch):
    """The refund desk of docs/examples, as a module."""
    monkeypatch.syspath_prepend(str(root / "docs" / "examples"))
    import refund_agent

    yield refund_agent
    for name in ("refund_agent", "scripted_model"):
        sys.modules.pop(name, None)


def test_a_wrong_answer_is_found_mended_and_run_on_from(agent, tmp_path: Path, capsys) -> None:
    run, fork, following = (str(tmp_path / name) for name in ("run.json", "fork.json", "next.json"))
    assert agent.main(run) == 1
    said = capsys.readouterr().out

    replayer = create_replayer(open_recording(run), match="input", types=agent.TYPES)
    with pytest.raises(agent.TicketFailedError, match="T-5 is not solved"):
        agent.work_all(Stash(replayer), "http://127.0.0.1:1/no-server-here")
    assert capsys.readouterr().out == said
    report = replayer.report()
    assert report.ok
    assert (report.matched, report.unused) == (len(open_recording(run).events), 0)

    assert run_stashdbg(["fork", run, "--at", "tool:archived_rate:0", "--set", RATE, "-o", fork]) == 0
    capsys.readouterr()
    assert agent.main(following, fork) == 0
    assert "Refunded 109.48 EUR for order H-52" in capsys.readouterr().out

    before, after = open_recording(run), open_recording(following)
    first = diff_recordings(before, after).first_divergence
    assert first is not None
    assert [before.events[first.a].key, after.events[first.b].key] == ["archived_rate", "archived_rate"]
    assert run_stashdbg(["diff", run, following, "--text"]) == 1


def test_the_recording_that_ships_is_this_agents(agent, root: Path) -> None:
    demo = open_recording(root / "stashdbg" / "data" / "demo.json")
    replayer = create_replayer(demo, match="input", types=agent.TYPES)
    with pytest.raises(agent.TicketFailedError):
        agent.work_all(Stash(replayer), "http://127.0.0.1:1/no-server-here")
    assert replayer.report().ok
    assert 60 <= len(demo.events) <= 150
    assert "scripted local model server" in demo.meta["about"]
