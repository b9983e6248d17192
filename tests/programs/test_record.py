"""A program that is recorded: what goes on the tape, masked, and when the program is told so."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

from stashdbg_core.exchange.frames import EVENT_STREAM, frame_bytes
from stashdbg_core.programs.runs.counts import run_counts
from stashdbg_core.store.journal_place import journal_path
from stashdbg_core.store.open import open_recording
from tests.programs.speaking import Speaker, events, recorded

CHAT = "http://api.example.com/v1/chat/completions"
SECRET = "sk-live-0123456789abcdef0123"


def test_calls_requests_and_values_are_events(tmp_path: Path) -> None:
    asked = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
    reply = {"choices": [{"message": {"content": "hello"}}], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    streamed = [f'data: {{"choices":[{{"delta":{{"content":"{text}"}}}}]}}\n\n' for text in "ab"]
    streamed.append('data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":4}}\n\n')
    said: list[str] = []
    with recorded(tmp_path / "run.json", said) as server:
        agent = Speaker(server)
        agent.call("tool", "git", {"out": "ok"}, input={"argv": ["git", "status"]}, site="agent.py:7 main", label="git")
        agent.post(CHAT, asked, reply, site="agent.py:9 main", thread="task plan")
        agent.post(CHAT, {**asked, "stream": True}, streamed)
        agent.post("http://api.example.com/v1/send", {"x": 1}, {"error": "slow down"}, status=429)
        agent.value("clock", "time", 1.5, site="agent.py:3 main")
        agent.value("random", "random", 0.25, site="agent.py:4 main", soft=True)
        agent.value("stdin", "readline", {"$stash": "exception", "class": "EOFError", "text": "no input"})
        for _ in range(2):
            agent.ask(op="note", kind="unhooked-connection", message="10.0.0.1:5432")
        agent.ask(op="bye")
    path = tmp_path / "run.json"
    recording = open_recording(path)
    assert [(channel, key, outcome) for channel, key, _, outcome, _ in events(path)] == [
        ("tool", "git", "return"),
        ("llm", "gpt-4o", "return"),
        ("llm", "gpt-4o", "return"),
        ("http", "POST api.example.com/v1/send", "throw"),
        ("clock", "time", "return"),
        ("random", "random", "return"),
        ("stdin", "readline", "throw"),
    ]
    git, chat, stream, send, clock, drawn, _ = recording.events
    assert (git.label, git.site, git.ms, git.thread) == ("git", "agent.py:7 main", 1.5, None)
    assert chat.thread == "task plan"
    assert recording.blobs.tree(chat.input_ref or "") == asked
    assert recording.blobs.tree(chat.ref)["body"] == reply
    assert recording.blobs.tree(stream.ref)["body"]["chunks"] == streamed
    assert recording.blobs.tree(stream.ref)["body"]["times"] == [0.0, 1.0, 2.0]
    assert recording.blobs.tree(send.ref)["status"] == 429
    assert recording.blobs.tree(clock.input_ref or "") == {"lane": None, "site": "agent.py:3 main"}
    assert recording.blobs.tree(drawn.input_ref or "")["soft"] is True
    assert recording.meta["exit"] == {"code": 0}
    assert recording.meta["hosts"]["llm"] == ["api.example.com"]
    assert recording.meta["notes"] == [{"kind": "unhooked-connection", "message": "10.0.0.1:5432", "count": 2}]
    assert said == ["10.0.0.1:5432"]
    counts = run_counts(recording, {("unhooked-connection", "10.0.0.1:5432"): 2})
    assert counts.words() == "7 events, 2 model calls, 12 tokens in, 6 out, 2 errors, 2 connections NOT recorded"


def test_an_answer_to_end_means_that_the_call_is_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with recorded(path) as server:
        agent = Speaker(server)
        for number in range(3):
            agent.call("tool", "t", f"key {SECRET} {number}")
            so_far = journal_path(path).read_bytes()
            assert so_far.count(b'{"event":') == number + 1
            assert SECRET.encode() not in so_far
        agent.ask(op="call", channel="tool", key="hangs")
        assert not open_recording(journal_path(path)).complete
    recording = open_recording(path)
    assert recording.complete
    assert events(path)[-1] == ("tool", "hangs", 0, "throw", {"$stash": "pending"})
    assert recording.events[0].ref


def test_secrets_are_masked_wherever_a_program_says_them(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with recorded(path) as server:
        agent = Speaker(server)
        agent.call("tool", f"login {SECRET}", SECRET, input={"password": "hunter2hunter2"}, label=SECRET, thread=SECRET)
        agent.call("tool", "raises", {"$stash": "exception", "class": "ValueError", "text": SECRET}, "throw")
        split = [f'data: {{"choices":[{{"delta":{{"content":"{part}"}}}}]}}\n\n' for part in (SECRET[:9], SECRET[9:])]
        agent.post(CHAT, {"model": "m", "messages": [], "api_key": SECRET}, split)
        agent.ask(op="note", kind="unpinned", message=SECRET)
    text = path.read_text()
    assert SECRET not in text
    assert "hunter2" not in text
    assert SECRET[9:] not in text
    assert json.loads(text)["meta"]["redaction"]["rules"] == "default"


def test_ordinals_are_taken_at_the_start_and_ends_may_come_in_any_order_and_twice(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with recorded(path) as server:
        one, other = Speaker(server), Speaker(server)
        first = one.ask(op="call", channel="tool", key="t", input="a")
        second = other.ask(op="call", channel="tool", key="t", input="b")
        for speaker, seq, value in (
            (one, second["seq"], "B"),
            (other, first["seq"], "A"),
            (one, first["seq"], "again"),
        ):
            assert speaker.ask(op="end", seq=seq, outcome="return", value=value) == {}
    assert events(path) == [("tool", "t", 0, "return", "A"), ("tool", "t", 1, "return", "B")]


def test_processes_are_lanes_and_what_a_subprocess_does_is_part_of_its_call(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with recorded(path) as server:
        agent, worker = Speaker(server, pid=10), Speaker(server, pid=11, process="process 1")
        started = agent.ask(op="call", channel="tool", key="sub.py")
        inner = Speaker(server, pid=12, parent=started["seq"])
        inner.call("tool", "deep", 1)
        inner.value("clock", "time", 2.0, site="sub.py:1 main")
        worker.call("tool", "t", 3)
        worker.call("tool", "t", 4, thread="process 1 / thread run")
        agent.ask(op="end", seq=started["seq"], outcome="return", value=0)
    assert [(e.key, e.parent, e.thread) for e in open_recording(path).events] == [
        ("sub.py", None, None),
        ("deep", 0, None),
        ("time", 0, None),
        ("t", None, "process 1"),
        ("t", None, "process 1 / thread run"),
    ]


def test_values_json_has_not_and_large_bodies_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    body = "x" * 10_000_000
    values = [
        {"$stash": "bytes", "base64": "AP8="},
        "half \ud83d",
        2**80,
        -0.0,
        1e-7,
        {"$stash": "float", "value": "nan"},
    ]
    with recorded(path) as server:
        agent = Speaker(server)
        agent.call("tool", "values", values)
        agent.post("http://files.example.com/put", {"body": body}, {"body": body})
    (*_, kept), (*_, put) = events(path)
    assert json.dumps(kept) == json.dumps(values)
    assert put["body"] == {"body": body}


def test_a_taken_name_is_left_alone(tmp_path: Path) -> None:
    for number in range(2):
        with recorded(tmp_path / "run.json") as server:
            Speaker(server).call("tool", "t", number)
    assert [events(tmp_path / name)[0][-1] for name in ("run.json", "run-2.json")] == [0, 1]


def test_what_is_damaged_in_an_event_stream_is_kept_and_noted(tmp_path: Path) -> None:
    frames = [frame_bytes('{"messageStart":{}}'), frame_bytes('{"messageStop":{}}')]
    bodies = {"whole": frames, "damaged": [frames[0], frames[1][:-1] + b"?"], "left": [frames[0], frames[1][:-1]]}
    said: list[str] = []
    with recorded(tmp_path / "run.json", said) as server:
        agent = Speaker(server)
        for word, chunks in bodies.items():
            seq = agent.ask(op="http", method="POST", url=f"http://x/{word}", headers=[], body="")["seq"]
            agent.ask(
                op="response", seq=seq, status=200, headers=[["content-type", EVENT_STREAM]], ms=1.0,
                ending="closed" if word == "left" else "complete",
                chunks=[{"ms": 1.0, "data": {"$stash": "bytes", "base64": b64encode(c).decode()}} for c in chunks],
            )  # fmt: skip
    (note,) = open_recording(tmp_path / "run.json").meta["notes"]
    assert (note["kind"], note["count"]) == ("odd-frames", 1) and said == [note["message"]]
    assert [len(value["body"]["chunks"]) for *_, value in events(tmp_path / "run.json")] == [2, 2, 2]
