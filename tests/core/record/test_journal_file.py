"""Recording to a file: whole calls survive a kill, names are never taken twice, closing makes the final file."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.record import Recorder, RecordingLossWarning
from stashdbg_core.store.open import open_recording

CORE = Path(__file__).parents[3] / "core"
KILLS = 100

PROGRAM = """
import os, sys
sys.path[:0] = sys.argv[1:]
from stashdbg_core.record.recorder import Recorder
import stashdbg_core.redact

def record(path):
    chat = []
    tape = Recorder(path=path)
    os.write(1, b"%d\\n" % os.getpid())
    for number in range(10**9):
        chat.append({"role": "user", "content": "word " * (number % 300)})
        tape.call("llm", "chat", lambda: {"n": number, "text": "x" * (number * 37 % 3000)}, input=chat[-20:])
        os.write(1, b"%d\\n" % number)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        record(line.strip())
    os.waitpid(child, 0)
    os.write(1, b"dead\\n")
"""
"""Records in one process after the other, each until it is killed; importing happens once."""


def _kills(paths: list[Path]) -> Iterator[tuple[Path, int]]:
    """Kill one recording process a path at a random moment; yield how many calls had returned by then."""
    dice = random.Random(7)
    packages = str(Path(msgspec.__file__).parents[1])
    command = [sys.executable, "-S", "-E", "-c", PROGRAM, str(CORE), packages]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        for path in paths:
            parent.stdin.write(f"{path}\n".encode())
            parent.stdin.flush()
            child = int(parent.stdout.readline())
            after = threading.Timer(dice.uniform(0, 0.02), os.kill, (child, signal.SIGKILL))
            after.start()
            returned = 0
            while (line := parent.stdout.readline()) != b"dead\n":
                returned = int(line) + 1
            after.join()
            yield path, returned
        parent.stdin.close()


def test_no_call_that_returned_is_lost_by_a_kill(tmp_path: Path) -> None:
    counts = []
    for path, returned in _kills([tmp_path / f"{number}.json" for number in range(KILLS)]):
        kept = open_recording(f"{path}.journal")
        assert not kept.complete
        events = list(kept.events)
        assert [event.seq for event in events] == list(range(len(events)))
        assert len(events) in (returned, returned + 1)
        for event in events[-2:]:
            assert kept.blobs.tree(event.ref)["n"] == event.seq
            assert len(kept.blobs.tree(event.input_ref or "")) == min(event.seq + 1, 20)
        counts.append(len(events))
    assert len(set(counts)) > KILLS // 10


def test_a_finished_call_is_in_the_journal_before_it_returns(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with Recorder(path=path) as tape:
        for number in range(3):
            tape.call("tool", "x", lambda number=number: number)
            assert len(open_recording(f"{path}.journal").events) == number + 1
            assert not path.exists()
    kept = open_recording(path)
    assert [kept.blobs.tree(event.ref) for event in kept.events] == [0, 1, 2]
    assert kept.complete
    assert os.listdir(tmp_path) == ["run.json"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(tape.recording().events) == 3


def test_an_existing_file_is_left_and_the_next_name_taken(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("precious")
    with Recorder(path=tmp_path / "run.json") as first, Recorder(path=tmp_path / "run.json") as second:
        first.call("tool", "x", lambda: 1)
        second.call("tool", "x", lambda: 2)
        assert first.path == tmp_path / "run-2.json"
        assert second.path == tmp_path / "run-3.json"
    assert (tmp_path / "run.json").read_text() == "precious"
    assert sorted(os.listdir(tmp_path)) == ["run-2.json", "run-3.json", "run.json"]


def test_many_recorders_started_at_once_get_a_name_each(tmp_path: Path) -> None:
    gate, paths = threading.Barrier(16), []

    def start() -> None:
        gate.wait()
        tape = Recorder(path=tmp_path / "run.json", redact=None)
        paths.append(tape.path)
        tape.close()

    threads = [threading.Thread(target=start) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(os.listdir(tmp_path))) == 16


def test_force_replaces_the_file_only_when_the_run_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("old")
    tape = Recorder(path=path, force=True)
    tape.call("tool", "x", lambda: 1)
    assert path.read_text() == "old"
    tape.close()
    assert len(open_recording(path).events) == 1


def test_recorders_forced_to_one_file_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("old")
    with Recorder(path=path, force=True) as first, Recorder(path=path, force=True) as second:
        first.call("tool", "x", lambda: 1)
        second.call("tool", "x", lambda: 2)
    assert (first.path, second.path) == (path, tmp_path / "run-2.json")
    for kept, value in ((first, 1), (second, 2)):
        recording = open_recording(kept.path)
        assert recording.complete and recording.blobs.tree(recording.events[0].ref) == value
    assert sorted(os.listdir(tmp_path)) == ["run-2.json", "run.json"]


def test_force_takes_the_place_of_a_run_that_was_killed(tmp_path: Path) -> None:
    [(path, _)] = _kills([tmp_path / "run.json"])
    with Recorder(path=path, force=True) as tape:
        tape.call("tool", "x", lambda: 1)
    assert tape.path == path and os.listdir(tmp_path) == ["run.json"]


def test_many_forced_recorders_started_at_once_get_a_name_each(tmp_path: Path) -> None:
    gate, tapes = threading.Barrier(16), []

    def start() -> None:
        gate.wait()
        tapes.append(Recorder(path=tmp_path / "run.json", redact=None, force=True))

    threads = [threading.Thread(target=start) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for tape in tapes:
        tape.close()
    assert sorted(os.listdir(tmp_path)) == sorted({tape.path.name for tape in tapes}) and len(tapes) == 16


def test_save_in_the_middle_writes_the_file_and_recording_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with Recorder(path=path) as tape:
        tape.call("tool", "x", lambda: 1)
        open_call = tape.begin("tool", "slow")
        assert tape.save() == path
        assert [event.outcome for event in open_recording(path).events] == ["return", "throw"]
        assert tape.save(tmp_path / "copy.json") == tmp_path / "copy.json"
        open_call.returned(2)
    assert [open_recording(path).blobs.tree(event.ref) for event in open_recording(path).events] == [1, 2]
    assert sorted(os.listdir(tmp_path)) == ["copy.json", "run.json"]


def test_calls_in_flight_at_the_end_are_pending_in_the_file(tmp_path: Path) -> None:
    with Recorder(path=tmp_path / "run.json") as tape:
        tape.begin("tool", "slow", {"q": 1})
        stream = tape.stream("llm", "chat", lambda: iter("abc"))
        next(stream)
    kept = open_recording(tmp_path / "run.json")
    assert kept.blobs.tree(kept.events[0].ref) == {"$stash": "pending"}
    assert kept.blobs.tree(kept.events[1].ref)["ending"] == "abandoned"
    with pytest.warns(RecordingLossWarning, match="closed"):
        assert list(stream) == ["b", "c"]


def test_what_is_known_about_the_run_is_in_meta_and_nothing_more(tmp_path: Path) -> None:
    with Recorder(id="r1", path=tmp_path / "run.json", meta={"ticket": 7}, clock=lambda: 1_700_000_000) as tape:
        tape.call("tool", "x", lambda: 1)
    kept = open_recording(tmp_path / "run.json")
    assert kept.id == "r1"
    assert set(kept.meta) == {"ticket", "producer", "createdAt", "complete", "droppedEvents", "redaction"}
    assert kept.meta["createdAt"] == "2023-11-14T22:13:20.000Z"
    assert kept.meta["producer"]["name"] == "stashdbg"
    assert kept.meta["droppedEvents"] == 0


def test_a_folder_that_is_not_there_is_said_before_the_run() -> None:
    with pytest.raises(StashError) as caught:
        Recorder(path="/nowhere/at/all/run.json")
    assert caught.value.code is ErrorCode.NOT_FOUND


def test_a_long_chat_is_kept_once_and_memory_holds_no_values(tmp_path: Path) -> None:
    chat: list[Any] = []
    with Recorder(path=tmp_path / "run.json", redact=None) as tape:
        for turn in range(200):
            chat.append({"role": "user", "content": f"turn {turn} " + "word " * 150})
            tape.call("llm", "chat", lambda turn=turn: f"answer {turn}", input=chat)
    kept = open_recording(tmp_path / "run.json")
    assert kept.blobs.tree(kept.events[-1].input_ref or "") == chat
    assert (tmp_path / "run.json").stat().st_size < 3 * len(str(chat))


def test_closing_takes_little_time_and_may_be_done_twice(tmp_path: Path) -> None:
    tape = Recorder(path=tmp_path / "run.json", redact=None)
    for number in range(2000):
        tape.value("tool", "x", number)
    start = time.perf_counter()
    tape.close()
    tape.close()
    assert time.perf_counter() - start < 5
    assert len(open_recording(tmp_path / "run.json").events) == 2000
