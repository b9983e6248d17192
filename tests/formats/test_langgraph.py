"""Checkpoints of LangGraph: threads as runs, nodes and their calls, branches, and values that are never executed."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.formats.converted import conversion_key
from stashdbg_core.formats.opening import explain, read_foreign, run_summaries
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.store.source import FileSource
from tests.formats.conftest import counts, imported

TABLES = """
CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, parent_checkpoint_id TEXT,
    type TEXT, checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
CREATE TABLE writes (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, task_id TEXT, task_path TEXT, idx INTEGER,
    channel TEXT, type TEXT, value BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
"""
FIRST, SECOND, THIRD = (f"1f1ec918-15d3-671f-8000-00000000000{n}" for n in (1, 2, 3))


def packed(value: Any) -> bytes:
    return msgspec.msgpack.encode(value)


def extension(code: int, *parts: Any) -> msgspec.msgpack.Ext:
    return msgspec.msgpack.Ext(code, packed(list(parts)))


def message(kind: str, **fields: Any) -> msgspec.msgpack.Ext:
    return extension(5, f"langchain_core.messages.{kind}", f"{kind.title()}Message", {"type": kind, **fields}, "m")


def state(**channels: Any) -> bytes:
    return packed({"v": 4, "channel_values": channels})


def checkpoint(name: str, parent: str | None, source: str = "loop", **channels: Any) -> tuple[Any, ...]:
    return "t", "", name, parent, "msgpack", state(**channels), json.dumps({"source": source, "step": 1})


def write(name: str, node: str, channel: str, value: Any, kind: str = "msgpack", index: int = 0) -> tuple[Any, ...]:
    data = value if isinstance(value, bytes) else packed(value)
    return "t", "", name, f"task-{node}", f"~__pregel_pull, {node}", index, channel, kind, data


def store(path: Path, checkpoints: list[tuple[Any, ...]], writes: list[tuple[Any, ...]], tables: str = TABLES) -> Path:
    with sqlite3.connect(path) as made:
        made.executescript(tables)
        for table, rows in (("checkpoints", checkpoints), ("writes", writes)):
            for row in rows:
                made.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    made.close()
    return path


def values(recording: Recording, channel: str) -> list[Any]:
    return [recording.blobs.tree(event.ref) for event in recording.events if event.channel == channel]


def abandoned(events: list[RecordedEvent]) -> list[int]:
    return [event.seq for event in events if "abandoned" in event.extra]


def test_a_thread_is_its_states_its_nodes_and_the_calls_that_they_made(formats_data: Path) -> None:
    path = formats_data / "langgraph" / "shop.sqlite"
    shop = imported(path, 0)
    told = [(e.channel, e.key, e.thread, e.parent, e.label) for e in shop.events]
    assert told[:4] == [
        ("state", "graph", None, None, "step -1: input"),
        ("user", "prompt", None, None, "how many bikes?"),
        ("state", "graph", None, None, "step 0: after __start__"),
        ("span", "research", None, None, "research: messages → note"),
    ]
    assert told[6:14] == [
        ("span", "search", "research", 3, "search: messages → look"),
        ("llm", "mock-1", "research", 6, "→ look"),
        ("state", "research", "research", 3, "step 1: after search"),
        ("span", "look", "research", 3, "look: messages → say"),
        ("tool", "look", "research", 9, "look: bikes"),
        ("state", "research", "research", 3, "step 2: after look"),
        ("span", "say", "research", 3, "say: messages"),
        ("llm", "mock-1", "research", 12, "There are 3 bikes."),
    ]
    assert [(e.key, shop.blobs.tree(e.input_ref)) for e in shop.events[16:18] if e.input_ref] == [
        ("note", {"word": "red"}), ("note", {"word": "blue"}),
    ]  # fmt: skip
    assert counts(shop) == {
        "state": 12,
        "user": 1,
        "span": 9,
        "llm": 2,
        "tool": 1,
        "note": 3,
        "throws": 0,
        "pending": 1,
    }
    assert [e.label for e in shop.events if e.channel == "note"] == [
        "interrupt: buy a bike?", "resume: yes", "interrupt: buy a bike?",
    ]  # fmt: skip
    assert abandoned(list(shop.events)) == [19, 20, 21, 22, 23, 24]
    assert [run.title for run in run_summaries(path)] == ["shop", "broken"]
    assert "how many bikes?" in run_summaries(path)[0].detail
    found = explain(shop)
    assert (found.inferred_events, found.pending, found.unknown) == (3, 1, {})


def test_the_prompt_of_a_model_call_is_the_conversation_in_the_state(formats_data: Path) -> None:
    shop = imported(formats_data / "langgraph" / "shop.sqlite", 0)
    last = [event for event in shop.events if event.channel == "llm"][-1]
    held = conversation_of(shop, last)
    assert held is not None
    assert [(said.role, said.text) for said in held.messages] == [
        ("user", "how many bikes?"), ("assistant", ""), ("assistant", "There are 3 bikes."),
    ]  # fmt: skip
    (asked,) = held.messages[1].tool_calls
    assert asked.result is not None
    assert asked.result.text == "3 bikes"
    state_before = shop.blobs.tree(shop.events[11].ref)
    assert [said["$lc"].rpartition(".")[2] for said in state_before["messages"]] == [
        "HumanMessage", "AIMessage", "ToolMessage",
    ]  # fmt: skip


def test_what_a_node_raised_is_a_throw(formats_data: Path) -> None:
    broken = imported(formats_data / "langgraph" / "shop.sqlite", 1)
    failed = broken.events[-1]
    assert (failed.key, failed.outcome) == ("fail", "throw")
    assert broken.blobs.tree(failed.ref) == {"error": "ValueError('no bikes left')"}


def test_shared_threads_have_the_calls_that_were_counted(shared_samples: Path | None) -> None:
    path = shared_samples / "langgraph" / "checkpoints.sqlite" if shared_samples is not None else None
    for run, expected in enumerate((
        {"state": 15, "user": 2, "span": 10, "llm": 6, "tool": 6, "throws": 2, "pending": 0},
        {"state": 2, "user": 1, "span": 1, "throws": 1, "pending": 0},
    )):  # fmt: skip
        assert path is None or counts(imported(path, run)) == expected


@pytest.mark.parametrize(
    ("kind", "data", "shown"),
    [
        ("null", b"", None),
        ("bytes", b"\x01", {"$stash": "bytes", "base64": "AQ=="}),
        ("json", b'{"a": [1]}', {"a": [1]}),
        ("msgpack", packed({1: 2, None: [1.5]}), {"1": 2, "null": [1.5]}),
        ("msgpack", packed(extension(0, "os", "system", "touch x")), {"$lc": "os.system", "args": "touch x"}),
        ("msgpack", packed(extension(3, "datetime", "datetime", "2026-11-30", "fromisoformat")),
         {"$lc": "datetime.datetime", "args": "2026-11-30"}),
        ("msgpack", packed(extension(2, "evil_module", "Made", {"a": extension(1, "re", "compile", ["x", 0])})),
         {"$lc": "evil_module.Made", "args": {"a": {"$lc": "re.compile", "args": ["x", 0]}}}),
        ("msgpack", packed(extension(6, "<f4", [2], "C", "xx")),
         {"$lc": "numpy.ndarray", "args": {"dtype": "<f4", "shape": [2], "order": "C", "data": "xx"}}),
        ("msgpack", packed(msgspec.msgpack.Ext(7, packed([1]))), [1]),
    ],
)  # fmt: skip
def test_values_are_data_and_nothing_is_imported(tmp_path: Path, kind: str, data: bytes, shown: Any) -> None:
    path = store(tmp_path / "x", [checkpoint(FIRST, None)], [write(FIRST, "n", "out", data, kind)])
    assert values(read_foreign(path), "span") == [{"out": shown}]
    assert "evil_module" not in sys.modules


def _nested(depth: int) -> bytes:
    data = b"\xc0"
    for _ in range(depth):
        data = b"\xc8" + len(data).to_bytes(2, "big") + b"\0" + data
    return data


@pytest.mark.parametrize(
    ("kind", "data", "why"),
    [
        ("pickle", b"\x80\x04cos\nsystem\n.", "pickled values would run code"),
        ("msgpack+aes", b"x", "encrypted"),
        ("yaml", b"x", "kind yaml"),
        ("json", b"{", ""),
        ("msgpack", b"\xdd\xff\xff\xff\xff", "truncated"),
        ("msgpack", b"\x91" * 50_000 + b"\xc0", "recursion"),
    ],
    ids=["pickle", "encrypted", "kind", "json", "cut", "deep"],
)
def test_a_value_that_is_not_read_stays_as_it_is_and_is_named(tmp_path: Path, kind: str, data: bytes, why: str) -> None:
    path = store(tmp_path / "x", [checkpoint(FIRST, None)], [write(FIRST, "n", "out", data, kind)])
    recording = read_foreign(path)
    (held,) = values(recording, "span")
    assert held["out"]["$stash"] == "bytes"
    assert explain(recording).unknown == {"write to out that stays as it is stored": 1}
    assert any(why in note.message for note in recording.notes)


def test_objects_within_objects_are_followed_only_so_far(tmp_path: Path) -> None:
    path = store(tmp_path / "x", [checkpoint(FIRST, None)], [write(FIRST, "n", "out", _nested(300))])
    assert values(read_foreign(path), "span")[0]["out"]["$lc"] == "extension 0"


def test_messages_that_a_program_put_together_are_no_calls_and_none_counts_twice(tmp_path: Path) -> None:
    made_up = message("ai", content="hello", id="00000000-0000-4000-8000-000000000001")
    answer = message("ai", content="sunny", id="run-1", tool_calls=[])
    asked = [message("human", content="weather?"), "and wind?", ["user", "and rain?"]]
    path = store(
        tmp_path / "x",
        [checkpoint(FIRST, None, messages=asked), checkpoint(SECOND, FIRST, messages=asked)],
        [write(FIRST, "a", "messages", [made_up, answer]), write(SECOND, "b", "messages", [answer]),
         write(SECOND, "b", "answer", {"role": "assistant", "content": "no message"}, index=1)],
    )  # fmt: skip
    recording = read_foreign(path)
    (call,) = [event for event in recording.events if event.channel == "llm"]
    assert call.label == "sunny"
    held = conversation_of(recording, call)
    assert held is not None
    assert [said.text for said in held.messages] == ["weather?", "and wind?", "and rain?", "sunny"]


def test_of_two_branches_the_one_that_the_newest_checkpoint_comes_from_lives(tmp_path: Path) -> None:
    path = store(
        tmp_path / "x",
        [checkpoint(FIRST, None), checkpoint(SECOND, FIRST), checkpoint(THIRD, FIRST, "fork")],
        [write(FIRST, "n", "out", 1), write(THIRD, "n", "out", 2)],
    )
    events = list(read_foreign(path).events)
    assert [(event.channel, "abandoned" in event.extra) for event in events] == [
        ("state", False), ("span", True), ("state", True), ("state", False), ("span", False),
    ]  # fmt: skip


def test_tables_of_the_first_versions_are_read(tmp_path: Path) -> None:
    tables = """CREATE TABLE checkpoints (thread_id, thread_ts, parent_ts, checkpoint BLOB, metadata BLOB);
                CREATE TABLE writes (thread_id, thread_ts, task_id, idx, channel, value BLOB)"""
    said = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"],
            "kwargs": {"content": "hi", "id": "run-1", "type": "ai"}}  # fmt: skip
    days = ["2024-05-04T06:32:42.235444+00:00", "2024-05-04T06:32:43.235444+00:00"]
    meta = json.dumps({"source": "loop", "step": 1, "writes": {"agent": {"messages": []}}})
    content = json.dumps({"v": 1, "channel_values": {"messages": []}})
    path = store(
        tmp_path / "x",
        [("t", days[0], None, content, "{}"), ("t", days[1], days[0], content, meta)],
        [("t", days[0], "a", 0, "messages", json.dumps([said]).encode())],
        tables,
    )
    events = list(read_foreign(path).events)
    assert [(e.channel, e.key, e.label) for e in events][1:3] == [
        ("span", "agent", "agent: messages"),
        ("llm", "unknown", "hi"),
    ]
    assert events[0].at == 1_714_804_362_235.444
    assert events[1].ms == 1000


@pytest.mark.parametrize("ending", ["-wal", "-journal"])
def test_a_database_that_is_in_use_is_read_with_its_log_and_nothing_is_written_beside_it(
    tmp_path: Path, ending: str
) -> None:
    path = store(tmp_path / "a ?#%.db", [checkpoint(FIRST, None)], [])
    writer = sqlite3.connect(path, isolation_level=None)
    if ending == "-wal":
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
    else:
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN IMMEDIATE")
    for number in range(50):
        row = checkpoint(f"{FIRST[:-2]}{number + 10}", FIRST, padding="x" * 2000)
        writer.execute(f"INSERT INTO checkpoints VALUES ({', '.join('?' * len(row))})", row)
    before = {file.name: (file.stat().st_size, file.stat().st_mtime_ns) for file in tmp_path.iterdir()}
    assert path.name + ending in before
    states = counts(read_foreign(path))["state"]
    key = conversion_key(FileSource(path), 0)
    after = {file.name: (file.stat().st_size, file.stat().st_mtime_ns) for file in tmp_path.iterdir()}
    writer.close()
    assert states == (51 if ending == "-wal" else 1)
    assert before == after
    assert conversion_key(FileSource(path), 0) != key


COUNTING = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
NAMES = "thread_id, checkpoint_id, parent_checkpoint_id"


@pytest.mark.parametrize(
    "tables",
    [
        f"CREATE VIEW checkpoints ({NAMES}, checkpoint) AS {COUNTING} SELECT x, x, x, x FROM n",
        f"CREATE VIRTUAL TABLE checkpoints USING fts5({NAMES}, checkpoint)",
        f"CREATE TABLE checkpoints ({NAMES}, checkpoint AS (zeroblob(1000000000)))",
        "CREATE TABLE checkpoints (thread_id)",
    ],
    ids=["view", "virtual", "generated", "columns"],
)
def test_what_only_looks_like_its_tables_is_no_store(tmp_path: Path, tables: str) -> None:
    path = store(tmp_path / "x", [], [], tables)
    with pytest.raises(StashError, match="no format that stashdbg knows"):
        read_foreign(path)
