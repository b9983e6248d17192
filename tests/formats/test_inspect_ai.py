"""Inspect logs: archives packed in every way and JSON give the same runs; old, cut and hostile ones open or say why."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import zstandard

from stashdbg_core.errors import StashError
from stashdbg_core.formats.opening import explain, read_foreign, run_summaries
from stashdbg_core.model import Recording
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.session.usage import usage_of_event
from stashdbg_core.store.limits import Limits
from tests.formats.conftest import counts, imported

PICTURE = "data:image/png;base64," + "iVBORw0KGgo" * 20
SYSTEM = {"id": "m0", "role": "system", "content": "attachment://a1"}
PROMPT = {
    "id": "m1",
    "role": "user",
    "content": [{"type": "image", "image": "attachment://a2"}, {"type": "text", "text": "Fix it"}],
}
CALL = {"id": "c1", "function": "read_file", "arguments": {"path": "a.py"}, "type": "function"}
ASKED = {"id": "m2", "role": "assistant", "content": "Looking.", "tool_calls": [CALL]}
FOUND = {
    "id": "m3",
    "role": "tool",
    "tool_call_id": "c1",
    "content": "",
    "error": {"type": "unknown", "message": "no such file"},
}
DONE = {"id": "m4", "role": "assistant", "content": "Done."}


def at(seconds: float) -> str:
    return f"2026-11-30T07:37:{seconds:06.3f}+00:00"


def begin(identity: str, kind: str, name: str, parent: str | None, seconds: float) -> dict[str, Any]:
    return {"event": "span_begin", "id": identity, "span_id": identity, "parent_id": parent, "type": kind, "name": name,
            "timestamp": at(seconds)}  # fmt: skip


def end(identity: str, seconds: float) -> dict[str, Any]:
    return {"event": "span_end", "id": identity, "span_id": identity, "timestamp": at(seconds)}


def model(span: str, refs: list[list[int]], message: dict[str, Any], seconds: float, **more: Any) -> dict[str, Any]:
    output = {"model": "m-2", "choices": [{"message": message, "stop_reason": "stop"}],
              "usage": {"input_tokens": 5, "output_tokens": 2, "input_tokens_cache_read": 3}}  # fmt: skip
    return {"event": "model", "span_id": span, "timestamp": at(seconds), "completed": at(seconds + 0.5), "model": "m",
            "input": [], "input_refs": refs, "output": output, "config": {"temperature": 0}, **more}  # fmt: skip


def tool(span: str, seconds: float, **more: Any) -> dict[str, Any]:
    return {"event": "tool", "span_id": span, "timestamp": at(seconds), "completed": at(seconds + 0.25), "id": "c1",
            "function": "read_file", "arguments": {"path": "a.py"}, "result": "", "events": [], **more}  # fmt: skip


def sample(identity: str = "fix", epoch: int = 1, **more: Any) -> dict[str, Any]:
    events = [
        {"event": "sample_init", "timestamp": at(0), "sample": {"input": "Fix it"}},
        begin("s", "solver", "react", None, 0.1), begin("a", "agent", "react", "s", 0.2),
        model("a", [[0, 2]], ASKED, 1), begin("t", "tool", "read_file", "a", 2),
        tool("a", 2, error={"type": "unknown", "message": "no such file"}),
        {"event": "sandbox", "span_id": "t", "timestamp": at(2.1), "action": "exec", "cmd": "cat a.py", "result": 1},
        end("t", 2.3), model("a", [[0, 4]], DONE, 3), end("a", 4), end("s", 4),
        {"event": "score", "timestamp": at(5), "scorer": "includes", "score": {"value": "C"}, "target": "x"},
    ]  # fmt: skip
    return {"id": identity, "epoch": epoch, "input": "Fix it", "messages": [], "events": events,
            "uuid": f"{identity}-{epoch}",
            "attachments": {"a1": "You are careful.", "a2": PICTURE}, "scores": {"includes": {"value": "C"}},
            "events_data": {"messages": [SYSTEM, PROMPT, ASKED, FOUND], "calls": []}, **more}  # fmt: skip


HEADER = {"version": 2, "status": "success", "plan": {}, "eval": {
    "task": "fixit", "model": "m", "created": at(0), "dataset": {"sample_ids": ["fix", "b"]}}}  # fmt: skip


def summary(one: dict[str, Any]) -> dict[str, Any]:
    return {key: one[key] for key in ("id", "epoch", "input", "scores", "error", "limit") if key in one}


def members(*samples: dict[str, Any], header: bool = True) -> dict[str, bytes]:
    held: dict[str, Any] = {"_journal/start.json": {"version": 2, "eval": HEADER["eval"]}}
    held |= {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples}
    held["_journal/summaries/1.json"] = list(map(summary, samples))
    if header:
        held |= {"summaries.json": list(map(summary, samples)), "header.json": HEADER}
    return {name: json.dumps(value).encode() for name, value in held.items()}


def archive(held: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED, *, directory: bool = True) -> bytes:
    """Return a zip archive; by hand, for ``zipfile`` writes no Zstandard (method 93)."""
    out, central = io.BytesIO(), b""
    for name, data in held.items():
        deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = {
            zipfile.ZIP_STORED: lambda data=data: data,
            zipfile.ZIP_DEFLATED: lambda data=data, deflater=deflater: deflater.compress(data) + deflater.flush(),
            93: lambda data=data: zstandard.ZstdCompressor().compress(data),
        }[method]()
        fields = struct.pack("<5H3L2H", 20, 0, method, 0, 0, zlib.crc32(data), len(packed), len(data), len(name), 0)
        central += (
            b"PK\x01\x02"
            + struct.pack("<H", 20)
            + fields
            + struct.pack("<3H2L", 0, 0, 0, 0, out.tell())
            + name.encode()
        )
        out.write(b"PK\x03\x04" + fields + name.encode() + packed)
    if directory:
        start = out.tell()
        out.write(central + b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, len(held), len(held), len(central), start, 0))
    return out.getvalue()


def document(*samples: dict[str, Any]) -> bytes:
    return json.dumps({**HEADER, "samples": samples}).encode()


def told(recording: Recording) -> list[Any]:
    found = []
    for event in recording.events:
        talk = conversation_of(recording, event) if event.channel == "llm" else None
        said = None if talk is None else [(m.role, m.text, m.tool_calls) for m in talk.messages]
        found.append((event.channel, event.key, event.outcome, event.thread, event.parent, event.call_id, said))
    return found


def test_a_sample_is_a_run_with_its_agents_tools_and_sandbox() -> None:
    recording = read_foreign(archive(members(sample()), 93))
    assert recording.id == "inspect-ai-fix-1" and recording.notes == ()
    assert [(e.channel, e.key, e.outcome, e.thread, e.parent, e.ms) for e in recording.events] == [
        ("user", "prompt", "return", None, None, None), ("span", "solver react", "return", None, None, 3900),
        ("agent", "react", "return", None, 1, 3800), ("llm", "m-2", "return", "react", 2, 500),
        ("tool", "read_file", "throw", "react", 2, 250), ("sandbox", "exec", "return", "react", 4, None),
        ("llm", "m-2", "return", "react", 2, 500), ("score", "includes", "return", None, None, None),
    ]  # fmt: skip
    talk, usage = conversation_of(recording, recording.events[6]), usage_of_event(recording, recording.events[6])
    assert talk is not None and usage is not None
    assert [(m.role, m.text) for m in talk.messages] == [
        ("system", "You are careful."), ("user", "[image]\nFix it"), ("assistant", "Looking."), ("assistant", "Done."),
    ]  # fmt: skip
    result = talk.messages[2].tool_calls[0].result
    assert result is not None and result.is_error and result.text == "no such file"
    assert (usage.input, usage.output, usage.cached) == (8, 2, 3)


def test_every_packing_and_json_give_the_same_runs() -> None:
    samples = (sample("b", 1), sample("fix", 2), sample("fix", 1))
    carriers = [archive(members(*samples), method) for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93)]
    carriers.append(document(*samples))
    for data in carriers:
        runs = run_summaries(data)
        assert [(run.title, run.detail) for run in runs] == [
            ("fix, epoch 1: Fix it", "score includes: C"),
            ("fix, epoch 2: Fix it", "score includes: C"),
            ("b, epoch 1: Fix it", "score includes: C"),
        ]
        for run in range(3):
            assert told(read_foreign(data, run=run)) == told(read_foreign(carriers[0], run=run))


def test_a_log_that_was_cut_off_opens_from_its_journal() -> None:
    running, torn = archive(members(sample(), header=False)), archive(members(sample(), header=False), directory=False)
    for data in (running, torn + b"PK\x03\x04torn"):
        assert [run.title for run in run_summaries(data)] == ["fix, epoch 1: Fix it"]
        recording = read_foreign(data)
        assert len(recording.events) == 8 and [note.kind for note in recording.notes] == ["unfinished"]


def test_a_crash_is_the_tools_failure_and_a_limit_is_one_of_the_run() -> None:
    crash = [
        tool("a", 1, failed=True),
        {"event": "error", "timestamp": at(2), "error": {"message": "boom", "traceback": "T"}},
    ]
    recording = read_foreign(document(sample(events=crash, error={"message": "boom"})))
    assert [(e.channel, e.key, e.outcome) for e in recording.events] == [
        ("tool", "read_file", "throw"),
        ("note", "error", "throw"),
    ]
    assert recording.blobs.tree(recording.events[0].ref) == {"message": "boom", "traceback": "T"}
    assert recording.events[0].ms == 250
    stopped = read_foreign(document(sample(events=[tool("a", 1, failed=True)], limit={"type": "message", "limit": 40})))
    assert [(e.channel, e.key, e.outcome) for e in stopped.events] == [
        ("tool", "read_file", "throw"),
        ("note", "limit", "throw"),
    ]


def test_calls_that_wait_are_pending_and_unknown_events_are_kept() -> None:
    waiting = {**model("a", [[0, 1]], DONE, 1), "pending": True, "completed": None}
    recording = read_foreign(document(sample(events=[waiting, {"event": "novel", "what": 1, "timestamp": at(1)}, 7])))
    assert counts(recording)["pending"] == 1
    assert recording.events[1].key == "novel" and recording.blobs.tree(recording.events[1].ref) == {"what": 1}
    assert explain(recording).unknown == {"event novel": 1, "an event that is no object": 1}


def test_old_logs_nest_events_and_have_steps() -> None:
    inner = [{"event": "sandbox", "timestamp": at(1), "action": "read_file", "file": "a"}]
    events = [
        {"event": "step", "action": "begin", "type": "solver", "name": "generate", "timestamp": at(0)},
        {**model("", [], DONE, 1, input=[{"role": "user", "content": "tc://h"}]), "input_refs": None},
        tool("", 2, events=inner),
        {"event": "step", "action": "end", "type": "solver", "name": "generate", "timestamp": at(3)},
    ]
    old = sample(events=None, transcript={"events": events, "content": {"h": "hello"}})
    recording = read_foreign(document(old))
    assert [(e.channel, e.parent) for e in recording.events] == [
        ("span", None),
        ("llm", 0),
        ("tool", 0),
        ("sandbox", 2),
    ]
    talk = conversation_of(recording, recording.events[1])
    assert talk is not None and talk.messages[0].text == "hello"


def test_a_log_without_events_is_the_conversation_it_holds() -> None:
    orphan = {"role": "tool", "tool_call_id": "c9", "function": "bash", "content": "ok"}
    recording = read_foreign(document(sample(events=[], messages=[SYSTEM, PROMPT, ASKED, FOUND, DONE, orphan])))
    assert [(e.channel, e.outcome) for e in recording.events] == [
        ("user", "return"), ("llm", "return"), ("tool", "throw"), ("llm", "return"), ("tool", "return"),
    ]  # fmt: skip
    found = explain(recording)
    assert (found.inferred_events, found.cut_events) == (4, 1)


def test_samples_have_the_counts_they_have(shared_samples: Path | None) -> None:
    if shared_samples is None:
        return
    folder = shared_samples / "inspect-ai"
    expected = {
        "fix-sign": (4, 5, 1),
        "with-image": (4, 5, 1),
        "crash": (1, 1, 2),
        "subagent": (4, 4, 0),
        "loop": (19, 19, 1),
    }
    carriers = sorted((folder / "generated-v0.3.285").iterdir())
    for path in carriers:
        for run, listed in list(enumerate(run_summaries(path)))[::2]:
            found = counts(imported(path, run))
            assert (found["llm"], found["tool"], found["throws"]) == expected[listed.title.partition(",")[0]], listed
    shapes = [
        [(e.channel, e.key, e.outcome, e.thread) for e in imported(path, run).events]
        for run in (0, 6)
        for path in carriers
    ]
    assert shapes[::2] == shapes[1::2]
    assert Counter(e.channel for e in imported(folder / "real-2025-05-browser-tools-406KB.json").events)["tool"] == 4
    for path in sorted(folder.glob("real-*")):
        for run in range(len(run_summaries(path))):
            assert len(imported(path, run).events) > 0, path


@pytest.mark.parametrize(
    ("held", "problem"),
    [
        ({"samples/fix_epoch_1.json": b"{"}, "JSON"),
        ({"samples/fix_epoch_1.json": b"[1]"}, "no object"),
    ],
)
def test_hostile_members_are_refused(held: dict[str, bytes], problem: str) -> None:
    with pytest.raises(StashError, match=problem):
        read_foreign(archive({**members(sample()), **held}))


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, 93])
def test_a_member_unpacks_to_a_bounded_size(tmp_path: Path, method: int) -> None:
    path = tmp_path / "log.eval"
    bomb = archive({**members(sample()), "samples/fix_epoch_1.json": b" " * 5_000_000}, method)
    path.write_bytes(bomb)
    with pytest.raises(StashError, match="5000000 bytes, the limit is 1000000"):
        read_foreign(path, limits=Limits(line=1_000_000))
    path.write_bytes(bomb.replace(struct.pack("<L", 5_000_000), struct.pack("<L", 10)))
    with pytest.raises(StashError, match=r"more|damaged"):
        read_foreign(path, limits=Limits(line=1_000_000))


def test_names_in_an_archive_are_only_names(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(archive(members(sample("../../../etc/passwd"))))
    assert run_summaries(path)[0].title == "../../../etc/passwd, epoch 1: Fix it"
    assert len(imported(path).events) == 8 and list(tmp_path.iterdir()) == [path]
    lying = archive(members(sample())).replace(
        b"PK\x01\x02\x14\x00\x14\x00\x00\x00\x08", b"PK\x01\x02\x14\x00\x14\x00\x00\x00\x63"
    )
    with pytest.raises(StashError, match="method 99"):
        read_foreign(lying)
