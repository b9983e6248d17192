"""A program run again: every call gets its own recorded answer, or the run stops and says why."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.model import Recording
from stashdbg_core.programs.tapes.server import Server
from stashdbg_core.store.open import open_recording
from tests.programs.speaking import Speaker, recorded, replaying, serving

CHAT = "http://api.example.com/v1/chat/completions"
RPC = "http://tools.example.com/mcp"


def chat(text: str) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": text}]}


def rpc(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}}


@pytest.fixture
def taped(tmp_path: Path) -> Recording:
    """A run with a bit of everything."""
    with recorded(tmp_path / "run.json") as server:
        agent, inner = Speaker(server), Speaker(server, pid=2, parent=1)
        agent.post(CHAT, chat("one"), {"choices": [1]}, site="agent.py:3 main")
        agent.call("tool", "git", "clean", input={"argv": ["git", "status"]})
        inner.call("tool", "git", "part of the process", input={"argv": ["git", "log"]})
        for state in ("pending", "pending", "done"):
            agent.call("tool", "status", state)
        agent.call("tool", "boom", {"$stash": "exception", "class": "ValueError", "text": "no"}, "throw", input=1)
        agent.post(RPC, rpc(7), {"jsonrpc": "2.0", "id": 7, "result": {"sum": 2}})
        agent.value("clock", "time", 10.0, site="agent.py:8 main")
        agent.value("clock", "time", 11.0, site="agent.py:8 main")
        agent.value("random", "bytes", "lib", site="agent.py:9 main", soft=True)
        agent.post(CHAT, chat("two"), {"error": "busy"}, status=429)
        agent.post(CHAT, chat("two"), ["data: {}\n\n", "data: [DONE]\n\n"])
    return open_recording(tmp_path / "run.json")


def replay_all(agent: Speaker) -> list[Any]:
    """Do what the recorded program did, live values wrong on purpose."""
    answers = [
        agent.post(CHAT, chat("one"), site="agent.py:3 main"),
        agent.call("tool", "git", input={"argv": ["git", "status"]}),
        *(agent.call("tool", "status") for _ in range(3)),
        agent.call("tool", "boom", input=1),
        agent.post(RPC, rpc(99)),
        *(agent.value("clock", "time", -1, site="agent.py:8 main") for _ in range(2)),
        agent.value("random", "bytes", "own", site="agent.py:9 main", soft=True),
        agent.post(CHAT, chat("two")),
        agent.post(CHAT, chat("two")),
    ]
    assert not any(answer.get("run") for answer in answers)
    return answers


def test_all_is_served_as_it_was(taped: Recording) -> None:
    run = replaying(taped)
    with serving(run) as server:
        agent = Speaker(server)
        assert agent.welcome["mode"] == "replay" and agent.welcome["offline"] is True
        first, git, *states, boom, added, one, two, drawn, busy, stream = replay_all(agent)
    assert first["response"]["status"] == 200
    assert first["response"]["chunks"] == ['{"choices": [1]}']
    assert git["value"] == "clean"
    assert [state["value"] for state in states] == ["pending", "pending", "done"]
    assert (boom["outcome"], boom["value"]["text"]) == ("throw", "no")
    assert '"id": 99' in added["response"]["chunks"][0]  # a client waits for the id it sent
    assert [one, two, drawn] == [{"value": 10.0}, {"value": 11.0}, {"value": "lib"}]
    assert (busy["outcome"], busy["response"]["status"]) == ("throw", 429)
    assert stream["response"]["chunks"] == ["data: {}\n\n", "data: [DONE]\n\n"]
    report = run.report()
    assert report.ok
    assert str(report) == "11 matched, 0 diverged, 0 recorded but never made"


MISSES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("another input", {"channel": "tool", "key": "git", "input": {"argv": ["git", "push"]}}, [
        "no recorded call has this input", "/argv/1", "status", "push", "agent.py:5 main",
    ]),
    ("one too many", {"channel": "tool", "key": "status"}, ["3 recorded, call 4 asked"]),
    ("unknown channel", {"channel": "toool", "key": "git"}, ["unknown channel", "tool"]),
    ("unknown key", {"channel": "tool", "key": "Git"}, ["unknown key", "nearest is git"]),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "parts"), [miss[1:] for miss in MISSES], ids=[miss[0] for miss in MISSES])
def test_a_miss_explains_itself_and_ends_the_run(taped: Recording, asked: dict[str, Any], parts: list[str]) -> None:
    before = taped.path.read_bytes() if taped.path else b""
    run = replaying(taped)
    with serving(run) as server:
        agent = Speaker(server)
        for _ in range(3):
            agent.call("tool", "status")
        answer = agent.ask(op="call", site="agent.py:5 main", **asked)
        again = agent.call("tool", "git", input={"argv": ["git", "status"]})
    assert answer["stop"] is True and again == answer
    assert answer["error"]["kind"] in ("divergence", "exhausted")
    for part in parts:
        assert part in answer["error"]["message"]
    assert "live_tail" not in str(answer) and "on_divergence" not in str(answer)
    report = run.report()
    assert len(report.divergences) == 1 and report.divergences[0].site == "agent.py:5 main"
    assert report.unused > 5
    assert taped.path is not None and taped.path.read_bytes() == before


def test_collecting_goes_on_and_finds_all(taped: Recording) -> None:
    run = replaying(taped, on_divergence="collect")
    with serving(run) as server:
        agent = Speaker(server)
        other = agent.post(CHAT, chat("other"))
        git = agent.call("tool", "git", input={"argv": ["git", "status"]})
        miss = agent.call("tool", "nothing")
        clock = agent.value("clock", "time", 5, site="agent.py:99 other")
    assert other["response"]["chunks"] == ['{"choices": [1]}']  # the recorded call at the same place stands in
    assert git["value"] == "clean"
    assert miss["stop"] is False
    assert clock == {"live": 5}
    found = run.report()
    kinds = [(d.kind, d.key) for d in found.divergences]
    assert kinds[:3] == [("input-mismatch", "gpt-4o"), ("extra-call", "nothing"), ("input-mismatch", "time")]
    assert ("missing-call", "boom") in kinds
    assert ("missing-call", "bytes") not in kinds  # what a library draws is never missed
    assert found.divergences[0].seq == 0


def test_each_caller_gets_its_own_answer_whatever_the_order(tmp_path: Path) -> None:
    lanes = [f"task {name}" for name in "abcd"]
    with recorded(tmp_path / "run.json") as server:
        agents = [Speaker(server) for _ in lanes]
        asked = [
            a.ask(op="call", channel="tool", key="search", input="same" if at % 2 else lane, thread=lane)
            for at, (a, lane) in enumerate(zip(agents, lanes, strict=True))
        ]
        for agent, answer, lane in zip(agents, asked, lanes, strict=True):
            agent.ask(op="end", seq=answer["seq"], outcome="return", value=f"for {lane}")
    recording = open_recording(tmp_path / "run.json")

    def ask(server: Server, lane: str, at: int, got: dict[str, Any]) -> None:
        given = "same" if at % 2 else lane
        got[lane] = Speaker(server).call("tool", "search", input=given, thread=lane)["value"]

    for _ in range(10):
        run, got = replaying(recording), dict[str, Any]()
        with serving(run) as server:
            order = list(enumerate(lanes))[::-1]
            threads = [threading.Thread(target=ask, args=(server, lane, at, got)) for at, lane in order]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert got == {lane: f"for {lane}" for lane in lanes}
        assert run.report().ok


def test_secrets_match_in_masked_form_and_ignored_parts_are_told(tmp_path: Path) -> None:
    with recorded(tmp_path / "run.json") as server:
        Speaker(server).call("tool", "login", "ok", input={"token": "ghp_" + "a1" * 18, "id": 1})
    recording = open_recording(tmp_path / "run.json")
    run = replaying(recording, ignore=["/id"])
    with serving(run) as server:
        assert Speaker(server).call("tool", "login", input={"token": "ghp_" + "b2" * 18, "id": 2})["value"] == "ok"
    assert run.report().ok and run.report().ignored == ("/id",)


def test_what_cannot_be_served_is_said_and_never_made_up(tmp_path: Path) -> None:
    with recorded(tmp_path / "run.json") as server:
        agent = Speaker(server)
        agent.ask(op="call", channel="tool", key="cut")
        agent.call("tool", "odd", {"$stash": "unstorable", "class": "Socket", "reason": "no"})
    for key, part in (("cut", "never finished"), ("odd", "could not be stored")):
        run = replaying(open_recording(tmp_path / "run.json"))
        with serving(run) as server:
            answer = Speaker(server).call("tool", key)
        assert part in answer["error"]["message"] and answer["stop"] is True
        assert not run.report().ok


def test_clocks_of_a_program_whose_lines_moved_are_matched_by_function(tmp_path: Path) -> None:
    with recorded(tmp_path / "run.json") as server:
        agent = Speaker(server)
        for at, place in enumerate(("agent.py:3 plan", "agent.py:5 plan", "agent.py:9 main")):
            agent.value("clock", "time", float(at), site=place)
    run = replaying(open_recording(tmp_path / "run.json"))
    with serving(run) as server:
        agent = Speaker(server)
        assert agent.value("clock", "time", -1, site="agent.py:13 main") == {"value": 2.0}
        assert agent.value("clock", "time", -1, site="agent.py:7 plan") == {"value": 0.0}
        assert agent.value("clock", "time", -1, site="agent.py:9 plan") == {"value": 1.0}
        assert agent.value("clock", "time", -1, site="agent.py:1 other")["stop"] is True
    assert [note[:30] for note in run.report().notes] == ["lines of the program have move"]


def test_a_replay_takes_no_outcome(taped: Recording) -> None:
    with serving(replaying(taped)) as server:
        assert "runs no call" in Speaker(server).ask(op="end", seq=0, outcome="return", value=1)["error"]["message"]
