"""What cannot be recorded is counted and said once; the program never notices."""

from __future__ import annotations

import errno
import os
import resource
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.record import Recorder, RecordingLossWarning
from stashdbg_core.store.open import open_recording


@contextmanager
def full_disk(path: Path, more: int = 0) -> Iterator[None]:
    """Let files of this process grow to the size of ``path`` and ``more`` bytes, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


class Hostile:
    """An object that defends itself."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("no")

    def __reduce__(self) -> str:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize("made", [threading.Lock, Hostile, lambda: iter([1]), lambda: [1, {"deep": object()}]])
def test_a_value_that_cannot_be_stored_reaches_the_program(make: Any, read: Any, made: Any) -> None:
    tape, value = make(), made()
    with pytest.warns(RecordingLossWarning, match="not whole") as said:
        assert [tape.call("tool", "x", lambda: value, input=i) is value for i in (value, 5)] == [True, True]
    assert len(said) == 1
    assert said[0].filename == __file__
    seen = read(tape)
    assert "unstorable" in str(seen.trees[0])
    assert seen.recording.meta["losses"] == {"unstorable-value": 3}
    assert seen.recording.meta["droppedEvents"] == 0


def test_a_full_disk_costs_the_events_of_that_time_and_nothing_else(tmp_path: Path) -> None:
    tape = Recorder(path=tmp_path / "run.json", redact=None)
    texts = [str(number) + "y" * 200 for number in range(3)]
    tape.call("tool", "x", lambda: "before")
    with full_disk(tmp_path / "run.json.journal", 100), pytest.warns(RecordingLossWarning, match="too large") as said:
        assert [tape.value("tool", "x", text, input=text) for text in texts] == texts
    assert len(said) == 1
    assert tape.value("tool", "x", texts[0], input=texts[0]) == texts[0]
    tape.close()
    kept = open_recording(tmp_path / "run.json")
    assert [event.seq for event in kept.events] == [0, 4]
    assert kept.blobs.tree(kept.events[1].ref) == texts[0]
    assert kept.meta["droppedEvents"] == 3
    assert "3 events were not recorded" in [note.message for note in kept.notes]
    assert kept.meta["losses"] == {"event-not-written": 3}
    assert kept.meta["complete"] is True


def test_a_disk_full_at_the_end_leaves_the_journal_and_the_programs_own_error(tmp_path: Path) -> None:
    path, journal = tmp_path / "run.json", tmp_path / "run.json.journal"

    def run() -> None:
        with ExitStack() as disk, Recorder(path=path, redact=None) as tape:
            tape.call("tool", "x", lambda: "kept")
            disk.enter_context(full_disk(journal))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), pytest.warns(RecordingLossWarning, match="journal"):
        run()
    kept = open_recording(journal)
    assert kept.blobs.tree(kept.events[0].ref) == "kept"
    assert not kept.complete
    assert os.listdir(tmp_path) == ["run.json.journal"]


@pytest.mark.parametrize("clock", [lambda: 1 / 0, lambda: "noon", lambda: float("nan"), lambda: float("inf")])
def test_a_broken_clock_costs_the_times(make: Any, read: Any, clock: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingLossWarning)
        tape = make(clock=clock)
        assert tape.call("tool", "x", lambda: 1) == 1
    assert read(tape).events[0].at is None


def test_a_program_that_turns_warnings_into_errors_is_not_stopped(make: Any) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("error")
        lock = threading.Lock()
        assert make().call("tool", "x", lambda: lock) is lock
    assert [warning.category for warning in said] == [RecordingLossWarning]


def test_strict_raises_at_once_what_is_otherwise_counted(make: Any) -> None:
    tape = make(strict=True)
    with pytest.raises(StashError, match="cannot be stored") as caught:
        tape.call("tool", "x", threading.Lock)
    assert caught.value.details["loss"] == "unstorable-value"


def test_strict_names_a_full_disk(tmp_path: Path) -> None:
    tape = Recorder(path=tmp_path / "run.json", redact=None, strict=True)
    with full_disk(tmp_path / "run.json.journal"), pytest.raises(StashError, match=os.strerror(errno.EFBIG)):
        tape.call("tool", "x", lambda: 1)


def test_max_events_keeps_the_first_and_counts_the_rest(make: Any, read: Any) -> None:
    tape = make(max_events=2)
    with pytest.warns(RecordingLossWarning, match="max_events"):
        assert [tape.call("tool", "x", lambda n=n: n) for n in range(5)] == list(range(5))
    assert list(tape.stream("tool", "s", lambda: [1, 2])) == [1, 2]
    seen = read(tape)
    assert seen.values == [0, 1]
    assert seen.recording.meta["droppedEvents"] == 4


def test_max_bytes_bounds_the_tape_and_counts_the_rest(make: Any, read: Any) -> None:
    tape = make(max_bytes=10_000)
    with pytest.warns(RecordingLossWarning, match="max_bytes"):
        assert len([tape.value("tool", "x", f"{number}" + "x" * 900) for number in range(40)]) == 40
    seen = read(tape)
    assert [event.seq for event in seen.events] == list(range(len(seen.events)))
    assert 5 <= len(seen.events) <= 10
    assert seen.recording.meta["droppedEvents"] == 40 - len(seen.events)


def test_max_value_bytes_replaces_a_large_value_by_its_size(make: Any, read: Any) -> None:
    tape, large = make(max_value_bytes=1000), "x" * 2000
    with pytest.warns(RecordingLossWarning, match="max_value_bytes"):
        assert tape.call("tool", "x", lambda: large, input=large) is large
    assert list(tape.stream("tool", "s", lambda: [large, large])) == [large, large]
    seen = read(tape)
    assert seen.trees[0]["$stash"] == "unstorable"
    assert seen.trees[0]["bytes"] == 2002
    assert seen.trees[1]["$stash"] == "unstorable"
    assert "x" * 100 not in str(seen.trees)


@pytest.mark.parametrize("option", ["max_events", "max_bytes", "max_value_bytes"])
@pytest.mark.parametrize("value", [-1, 1.5, "many", True])
def test_a_cap_is_a_count(option: str, value: Any) -> None:
    with pytest.raises(StashError, match=option):
        Recorder(**{option: value})


def test_calls_after_the_end_run_unrecorded_and_are_said(make: Any, read: Any) -> None:
    tape = make()
    late = tape.begin("tool", "late")
    tape.close()
    with pytest.warns(RecordingLossWarning, match="closed"):
        assert tape.call("tool", "x", lambda: 5) == 5
    late.returned(1)
    assert list(tape.stream("tool", "s", lambda: [1])) == [1]


def test_a_redact_function_that_fails_drops_the_value(make: Any, read: Any) -> None:
    def fail(value: Any, context: Any) -> Any:
        raise RuntimeError(f"cannot mask {value}")

    tape = make(redact=fail)
    with pytest.warns(RecordingLossWarning, match="redaction failed") as said:
        assert tape.call("tool", "x", lambda: "my-secret", input={"a": "my-secret"}) == "my-secret"
    seen = read(tape)
    assert seen.trees == [{"$stash": "dropped"}]
    assert seen.inputs == [{"$stash": "dropped"}]
    assert seen.recording.meta["losses"] == {"redaction-failed": 2}
    assert "my-secret" not in str(said[0].message)


def test_calls_in_flight_when_max_events_is_reached_are_stored() -> None:
    recorder = Recorder(max_events=2)

    def outer() -> int:
        recorder.call("tool", "inner", lambda: 1)
        with pytest.warns(RecordingLossWarning):
            recorder.call("tool", "inner", lambda: 2)
        return 3

    recorder.call("tool", "outer", outer)
    recording = recorder.recording()
    assert [event.key for event in recording.events] == ["outer", "inner"]
    assert recording.meta["droppedEvents"] == 1
