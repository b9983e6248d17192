"""What a reader tells becomes a recording: whole prompts stored once, secrets masked, marks, oddities counted."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.formats.images import binary, data_url, image
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import MAX_LINE, ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.model import Recording
from stashdbg_core.record.ledger import JournalLedger
from stashdbg_core.store.open import open_recording

KEY = "sk-ant-api03-" + "a1B2" * 24


def sink_of(data: bytes = b"{}", **options: Any) -> RunSink:
    return RunSink("made-up", ForeignSource(data, name="x.jsonl"), **options)


def taken(sink: RunSink) -> Recording:
    sink.end()
    return sink.ledger.recording(sink.recording_id, sink.meta_tree(), ())


def value(recording: Recording, seq: int) -> Any:
    return recording.blobs.tree(recording.events[seq].ref)


def given(recording: Recording, seq: int) -> Any:
    return recording.blobs.tree(recording.events[seq].input_ref or "")


def test_a_chat_that_grows_is_whole_at_every_call_and_stored_in_space_linear_in_its_text() -> None:
    sink, tools = sink_of(), [{"name": f"tool {number}", "description": "d" * 300} for number in range(20)]
    chat, messages = sink.chat(), []
    for turn in range(300):
        messages.append({"role": "user", "content": f"turn {turn} " + "x" * (1500 if turn % 3 else 40)})
        chat.append(messages[-1])
        sink.finish(sink.start("llm", "m", input=chat.input(tools=tools)), {"text": str(turn)})
    recording = taken(sink)
    assert [len(given(recording, seq)["messages"]) for seq in range(300)] == list(range(1, 301))
    assert given(recording, 299) == {"messages": messages, "tools": tools}
    unique = len(json.dumps(messages)) + len(json.dumps(tools))
    assert sum(len(recording.blobs.payload(ref).raw) for ref in recording.blobs.refs()) < 2 * unique


def test_prompts_repeated_whole_are_shared_by_content_and_may_go_back() -> None:
    sink, messages = sink_of(), [{"n": number, "text": "y" * 1200} for number in range(60)]
    chat, lengths = sink.chat(), [3, 10, 10, 7, 30, 2, 60, 0]
    other = [*messages[:5], {"n": "other"}]
    for length in lengths:
        chat.extend_to(messages[:length])
        sink.event("llm", "m", value=1, input=chat.input())
    chat.extend_to(other)
    fork = chat.fork()
    fork.append({"n": "side"})
    sink.event("llm", "m", value=1, input=chat.input())
    sink.event("llm", "m", value=1, input=fork.input())
    recording = taken(sink)
    assert [given(recording, seq)["messages"] for seq in range(8)] == [messages[:length] for length in lengths]
    assert given(recording, 8)["messages"] == other
    assert given(recording, 9)["messages"] == [*other, {"n": "side"}]
    assert recording.blobs.stored_bytes < 1.3 * len(json.dumps(messages))  # type: ignore[attr-defined]


def test_secrets_are_masked_wherever_a_reader_puts_them() -> None:
    sink = sink_of()
    sink.identify(f"run {KEY}")
    chat = sink.chat()
    chat.append({"role": "user", "content": f"use {KEY}"})
    sink.event("tool", f"get {KEY}", value={"out": KEY}, input={"password": "hunter2"}, label=f"l {KEY}", thread=KEY,
               call_id=KEY, extra={"note": KEY})  # fmt: skip
    sink.event("llm", "m", value="ok", input=chat.input(api_key="whatever it is"))
    sink.note("odd", f"saw {KEY}")
    sink.meta(key=KEY)
    sink.title(KEY)
    recording = taken(sink)
    texts = [recording.blobs.payload(ref).raw.decode() for ref in recording.blobs.refs()]
    texts += [repr(list(recording.events)), repr(dict(recording.meta)), recording.id]
    assert [text for text in texts if KEY in text or "hunter2" in text or "whatever it is" in text] == []
    assert given(recording, 0)["password"].startswith("[REDACTED:")
    assert recording.meta["redaction"]["counts"]["anthropic-key"] >= 6


def test_images_are_kept_once_and_what_looks_like_our_tags_is_data() -> None:
    sink, picture = sink_of(), base64.b64encode(bytes(range(256)) * 40).decode()
    forged = {"$stash": "ref", "ref": "sha256:0"}
    for _ in range(3):
        sink.event("tool", "t", value={"shown": image("image/png", picture), "said": forged})
    recording = taken(sink)
    found = value(recording, 2)
    assert found["shown"]["data"] == {"$stash": "bytes", "base64": picture}
    assert (found["shown"]["mime"], found["shown"]["bytes"]) == ("image/png", 10240)
    assert found["said"] == {"$stash": "dict", "items": [["$stash", "ref"], ["ref", "sha256:0"]]}
    held = [ref for ref in recording.blobs.refs() if picture.encode() in recording.blobs.payload(ref).raw]
    assert len(held) == 1


def test_what_yaml_and_lenient_json_hold_can_be_stored() -> None:
    sink = sink_of()
    sink.event("http", "x", value={1: b"ab", None: (1, 2), "n": float("nan"), "s": "\ud83d", "big": 10**400})
    found = value(taken(sink), 0)
    assert found["1"] == {"$stash": "bytes", "base64": "YWI="}
    assert (found["null"], found["s"], found["big"]) == ([1, 2], "\ud83d", 10**400)
    assert found["n"] == {"$stash": "float", "value": "nan"}


def test_calls_are_numbered_by_their_start_and_one_without_an_end_is_pending() -> None:
    sink = sink_of()
    first, second = sink.start("tool", "a", at=5.0), sink.start("tool", "a")
    sink.finish(second, "late", at=7.0, ms=2.0, label="two\nlines")
    sink.inferred(second)
    sink.cut(first, "the tool kept 10 lines")
    sink.finish(second, "again")
    recording = taken(sink)
    one, two = recording.events
    assert (one.outcome, value(recording, 0), one.extra["cut"]) == (
        "throw", {"$stash": "pending"}, b'"the tool kept 10 lines"'
    )  # fmt: skip
    assert (two.ordinal, two.at, two.ms, two.label, two.extra) == (1, 7.0, 2.0, "two lines", {"inferred": b"true"})
    assert value(recording, 1) == "late"
    assert recording.meta["source"]["pending"] == 1
    assert recording.meta["source"]["notes"][0]["kind"] == "second-result"


def test_what_is_not_known_is_counted_and_never_without_an_end() -> None:
    sink = sink_of()
    for number in range(1000):
        sink.unknown(f"field {number % 500}")
        sink.note("odd", f"number {number}")
    sink.skipped("progress lines")
    source = taken(sink).meta["source"]
    assert sum(source["unknown"].values()) == 1000
    assert (len(source["unknown"]), source["skipped"]) == (201, {"progress lines": 1})
    assert len(source["notes"]) + source["notesLeftOut"] == 1000


def test_a_journal_holds_what_memory_holds(tmp_path: Path) -> None:
    def told(sink: RunSink) -> RunSink:
        sink.identify("7")
        chat = sink.chat()
        for turn in range(1100):
            chat.append({"turn": turn})
            call = sink.start("llm", "m", input=chat.input(), at=float(turn))
            sink.finish(call, {"turn": turn, "text": "z" * 40}, ms=1.0)
            sink.inferred(call)
        sink.start("tool", "never")
        sink.end()
        return sink

    in_memory = told(sink_of())
    out = tmp_path / "out.json"
    on_disk = told(sink_of(open_ledger=lambda name: JournalLedger(out, name, {}, force=True)))
    on_disk.ledger.finish(on_disk.meta_tree, ())
    one, other = taken(in_memory), open_recording(out)
    assert (one.id, list(one.events)) == (other.id, list(other.events))
    assert given(other, 1099) == given(one, 1099)
    assert dict(one.meta) == dict(other.meta)
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_a_file_without_an_id_of_its_own_has_one_by_its_beginning() -> None:
    assert sink_of(b"a").recording_id == sink_of(b"a").recording_id != sink_of(b"b").recording_id
    assert sink_of(b"a", run=1).recording_id == sink_of(b"a").recording_id + "-2"


def test_lines_are_read_whatever_is_between_and_in_them() -> None:
    long = b'{"x":"' + b"y" * MAX_LINE + b'"}'
    data = b'\xef\xbb\xbf{"a":1}\r\n\n\0\0\0\nno json\n[1]\n' + long + b'\n{"u":"\\ud83d \xff"}\n{"cut":'
    sink = sink_of(data)
    source = ForeignSource(data, name="x")
    found = [(line.number, record) for line, record in source.records(sink)]
    assert found == [(1, {"a": 1}), (7, {"u": "\ud83d �"})]
    assert sink.findings.damaged_lines == 3
    assert all(source.data()[line.offset :].startswith(line.raw[:3]) for line in source.lines() if line.offset)
    assert [line.size for line in source.lines() if not line.raw] == [len(long)]
    assert not list(source.lines())[-1].ends


def test_a_name_in_a_file_leads_nowhere_else(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "secret.txt"
    (inside / "sub").mkdir(parents=True)
    outside.write_text("x")
    for name in ("run.jsonl", "sub/a.jsonl", "sub/b.jsonl"):
        (inside / name).write_text("{}\n")
    (inside / "sub" / "link.jsonl").symlink_to(outside)
    source = ForeignSource(inside / "run.jsonl")
    assert [source.beside(*name) for name in (("..", "secret.txt"), (str(outside),), ("sub", "link.jsonl"))] == [
        None
    ] * 3
    assert source.beside("sub", "a.jsonl") is not None
    assert source.names_beside("sub", "*.jsonl") == ["a.jsonl", "b.jsonl", "link.jsonl"]
    assert source.names_beside("..", "*") == []
    assert ForeignSource(b"{}").beside("a") is None


@pytest.mark.parametrize(
    ("written", "ms"),
    [
        ("2026-11-30T07:34:44.123Z", 1796024084123.0),
        ("2026-11-30T09:34:44.123456789+02:00", 1796024084123.456),
        ("2026-11-30T07:34:44", 1796024084000.0),
        (1796024084, 1796024084000.0),
        (1796024084.5, 1796024084500.0),
        (1796024084123, 1796024084123.0),
        ("1796024084123456", 1796024084123.456),
        (1796024084123456789, 1796024084123.457),
        ("yesterday", None),
        (True, None),
        (float("nan"), None),
        (10**400, None),
        (None, None),
    ],
)
def test_times_are_told_by_their_spelling(written: Any, ms: float | None) -> None:
    assert epoch_ms(written) == ms


def test_labels_are_one_clean_line() -> None:
    assert label_of("\x1b[31mred\x1b[0m \x1b]0;title\x07and\n\tmore\u2028x") == "red and more x"
    assert label_of("word " * 100).endswith("…")
    assert len(label_of("x" * 1_000_000)) == 80


def test_data_urls_of_every_spelling_and_nothing_else() -> None:
    assert data_url("data:image/png;base64,aGk=") == image("image/png", "aGk=") == binary("image/png", b"hi")
    assert data_url("data:text/plain;charset=utf-8,a%20b") == binary("text/plain", b"a b")
    assert data_url("data: not one") is None
    assert data_url("https://example.com/a.png") is None
