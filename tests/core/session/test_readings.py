"""An event read as a chat, as a change, as a place, and as it stands in the file."""

from __future__ import annotations

from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session.inspection import inspect_part
from stashdbg_core.session.raw_lines import RawLines
from stashdbg_core.session.readings import read_part
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList


def run_of(*calls: tuple[str, object, object]) -> Recording:
    blobs = BlobStore()
    events = [
        RecordedEvent(seq, "state" if key == "desk" else "llm", key, seq, "return", blobs.put(value),
                      input_ref=blobs.put(given), site="agent.py:2 ask")
        for seq, (key, value, given) in enumerate(calls)
    ]  # fmt: skip
    return Recording("r", EventList(events), blobs)


def texts(lines) -> list[str]:
    return ["".join(text for text, _ in line.tokens) for line in lines]


def test_raw_text_is_cut_into_lines_and_nothing_is_lost():
    text = "a\n" + "b" * 10_000 + "\n\nlast"
    lines = RawLines(text, omitted=7)
    lines.extend(1000)
    shown = [lines.line(index) for index in range(lines.count)]
    assert "".join(texts(shown)[:-1]) == text.replace("\n", "")
    assert "7 B more" in texts(shown)[-1]
    assert max(len(line) for line in texts(shown)) <= 4096
    assert [line.gutter for line in shown[:4]] == ["", "", "more", "more"]


def test_a_change_names_what_was_read_and_written():
    recording = run_of(("m", {"a": 1, "gone": 2}, {"q": "x"}), ("m", {"a": 3, "new": [1]}, {"q": "y"}))
    lines, words = read_part(recording, recording.events[1], 1, "change")
    said = texts(lines)
    assert words == "since event 0"
    assert "read  input: 1 change" in said and "wrote  value: 3 changes" in said
    assert {"~ /a", "- 1", "+ 3", "+ /new", "- /gone"} <= set(said)
    first, words = read_part(recording, recording.events[0], 0, "change")
    assert words == "first call" and "nothing to compare with" in texts(first)[0]


def test_what_is_no_chat_and_has_no_source_says_so(tmp_path):
    recording = run_of(("m", 1, 2))
    assert texts(read_part(recording, recording.events[0], 0, "chat")[0]) == [
        "not a model call; 1 shows what it returned, 2 what it was given"
    ]
    assert ":source FOLDER" in texts(read_part(recording, recording.events[0], 0, "source")[0])[0]
    assert "no source for agent.py" in texts(read_part(recording, recording.events[0], 0, "source", [tmp_path])[0])[0]
    (tmp_path / "agent.py").write_text("one\ntwo\nthree\n")
    lines, words = read_part(recording, recording.events[0], 0, "source", [tmp_path])
    assert texts(lines) == ["  1  one", "▶ 2  two", "  3  three"] and words.endswith("agent.py:2")


def test_the_state_is_what_was_last_said_of_each_name():
    recording = run_of(("desk", {"closed": 0}, None), ("m", 1, None), ("desk", {"closed": 1}, None), ("m", 2, None))
    early = inspect_part(recording, recording.events[1], "state", position=1)
    late = inspect_part(recording, recording.events[3], "state", position=3)
    assert (early.words, late.words) == ("from event 0", "from event 2")
    late.lines.extend(100)
    assert "desk: {closed: 1}" in texts(late.lines.line(index) for index in range(late.lines.count))
