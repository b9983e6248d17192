"""The socket and its messages: who may speak, and what a broken or hostile program can do."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.programs.tapes.server import Server
from stashdbg_core.programs.wire.frames import MAX_BODY, MAX_FRAME
from stashdbg_core.store.open import open_recording
from tests.programs.speaking import SEED, Speaker, events, recorded


def test_hello_tells_what_the_run_is(tmp_path: Path) -> None:
    with recorded(tmp_path / "run.json") as server:
        speaker = Speaker(server, python="3.8.18", unknown_key=1)
        assert speaker.welcome == {"mode": "record", "seed": SEED, "offline": False, "maxBody": MAX_BODY}
        folder = Path(server.path).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert folder.owner() == Path.home().owner() or os.getuid() == folder.stat().st_uid
    assert not folder.exists()
    assert open_recording(tmp_path / "run.json").meta["command"] == {"argv": ["agent"], "python": "3.8.18"}


@pytest.mark.parametrize(
    ("hello", "part"),
    [
        ({"token": "x"}, "token"),
        ({"token": "é"}, "token"),
        ({"protocol": 2}, "speaks protocol 2"),
        ({"pid": -1}, "malformed"),
        ({"parent": "1"}, "malformed"),
    ],
)
def test_a_stranger_gets_one_answer_and_no_more(tmp_path: Path, hello: dict[str, Any], part: str) -> None:
    with recorded(tmp_path / "run.json") as server:
        speaker = Speaker(server, **hello)
        assert speaker.welcome["error"]["kind"] == "protocol"
        assert part in speaker.welcome["error"]["message"]
        assert speaker.read() is None


def test_nobody_calls_before_hello(tmp_path: Path) -> None:
    with recorded(tmp_path / "run.json") as server:
        speaker = Speaker.__new__(Speaker)
        import socket

        speaker.socket = socket.socket(socket.AF_UNIX)
        speaker.socket.connect(str(server.path))
        assert "hello" in speaker.ask(op="call", channel="tool", key="x")["error"]["message"]
        assert speaker.read() is None


HOSTILE: list[bytes] = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"call"',
    b"{}",
    b'{"op":[]}',
    b'{"op":"hello"}',
    b'{"op":"hello","protocol":1,"token":"x","pid":1}',
    b'{"op":"fly"}',
    b'{"op":"call"}',
    b'{"op":"call","channel":1,"key":"k"}',
    b'{"op":"call","channel":"c","key":null}',
    b'{"op":"call","channel":"c","key":"k","parent":-1}',
    b'{"op":"call","channel":"c","key":"k","parent":' + b"9" * 5000 + b"}",
    b'{"op":"call","channel":"' + b"c" * 5000 + b'","key":"k"}',
    b'{"op":"http","method":"GET"}',
    b'{"op":"http","method":"GET","url":"http://[","headers":[["a"]]}',
    b'{"op":"http","method":"GET","url":"u","headers":{"a":"b"}}',
    b'{"op":"http","method":"GET","url":"u","body":{"$stash":"bytes","base64":"%%"}}',
    b'{"op":"http","method":"GET","url":"u","body":7}',
    b'{"op":"end","seq":99,"outcome":"return","value":1}',
    b'{"op":"end","seq":0,"outcome":"maybe","value":1}',
    b'{"op":"end","seq":1e400,"outcome":"return","value":1}',
    b'{"op":"response","seq":77,"status":200}',
    b'{"op":"response","seq":0,"status":-5}',
    b'{"op":"note","kind":7,"message":""}',
    b'{"op":"call","channel":"c","key":"k","input":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b"\xff\xfe\x00",
    os.urandom(64),
]


def test_a_hostile_message_costs_itself(tmp_path: Path) -> None:
    with recorded(tmp_path / "run.json") as server:
        speaker = Speaker(server)
        for text in HOSTILE:
            speaker.send(text)
            answer = speaker.read()
            assert answer["error"]["message"], text[:80]
            assert answer["stop"] is False
        speaker.call("tool", "after", 7)
    assert events(tmp_path / "run.json")[-1] == ("tool", "after", 0, "return", 7)


def test_an_impossible_frame_ends_its_connection_alone(tmp_path: Path) -> None:
    with recorded(tmp_path / "run.json") as server:
        bad, cut, good = Speaker(server), Speaker(server), Speaker(server)
        bad.socket.sendall((MAX_FRAME + 1).to_bytes(4, "big"))
        assert "claims" in bad.read()["error"]["message"]
        assert bad.read() is None
        cut.socket.sendall((1000).to_bytes(4, "big") + b'{"op":')
        cut.close()
        good.call("tool", "after", 7)
    assert events(tmp_path / "run.json") == [("tool", "after", 0, "return", 7)]


def test_data_that_looks_like_a_shared_piece_stays_data(tmp_path: Path) -> None:
    forged = {"$stash": "ref", "ref": "sha256:" + "0" * 64}
    with recorded(tmp_path / "run.json") as server:
        Speaker(server).call("tool", "t", forged, input=[forged])
    recording = open_recording(tmp_path / "run.json")
    for ref in recording.blobs.refs():
        assert recording.blobs.payload(ref).state == "ok"
        recording.blobs.tree(ref)


def test_many_threads_take_turns(tmp_path: Path) -> None:
    def work(server: Server, name: str) -> None:
        speaker = Speaker(server)
        for number in range(20):
            speaker.call("tool", "t", [name, number], input=number, thread=name)
        speaker.close()

    with recorded(tmp_path / "run.json") as server:
        threads = [threading.Thread(target=work, args=(server, f"lane {at}")) for at in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    recording = open_recording(tmp_path / "run.json")
    assert [e.seq for e in recording.events] == list(range(160))
    assert sorted(e.ordinal for e in recording.events) == list(range(160))
    for event in recording.events:
        assert event.input_ref is not None
        assert recording.blobs.tree(event.ref) == [event.thread, recording.blobs.tree(event.input_ref)]


def test_drain_waits_for_what_was_sent_and_not_for_who_is_silent(tmp_path: Path) -> None:
    with recorded(tmp_path / "run.json") as server:
        silent, busy = Speaker(server), Speaker(server)
        answer = busy.ask(op="call", channel="tool", key="t")
        busy.send(b'{"op":"end","seq":%d,"outcome":"return","value":1}' % answer["seq"])
        busy.close()  # as a killed process does: sent, the answer never read
        server.drain(patience=5)
        silent.close()
        server.drain(patience=5)
    assert events(tmp_path / "run.json") == [("tool", "t", 0, "return", 1)]
