"""What a file is, told from its content: the head that readers see, and which format is found in it."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from stashdbg_core.errors import StashError
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.opening import detect
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.opening.files import held_in

ONE = {"type": "user", "message": "x"}


def head(data: bytes, name: str = "f") -> Head:
    return Head(ForeignSource(data, name=name))


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (lines(ONE, ONE), 2),
        (b"\xef\xbb\xbf" + lines(ONE, ONE).replace(b"\n", b"\r\n"), 2),
        (b"garbage\n\0\0\0\n" + lines(ONE, ONE), 2),
        (lines(*[ONE] * 50), 20),
        (lines(ONE)[:-1], 1),
        (lines(ONE, ONE) + b'{"cut', 2),
        (lines({"big": "x" * 200_000}, ONE), 2),
        (json.dumps([ONE, ONE], indent=1).encode(), 0),
        (json.dumps({"a": [ONE] * 5, "b": {"c": 1}}, indent=1).encode(), 0),
        (b"a: 1\nb: {}\n- x\n", 0),
        (b"", 0),
        (b"\xff\xfe{\0}\0", 0),
    ],
)
def test_the_first_lines_are_seen_where_a_file_is_json_lines(data: bytes, found: int) -> None:
    assert len(head(data).lines) == found


def test_the_keys_of_one_object_are_seen_large_values_unread() -> None:
    big = {"version": 1, "log": {"version": "1.2", "entries": ["x" * 100] * 100}, "after": "y"}
    for text in (json.dumps(big), json.dumps(big, indent=2), json.dumps(big).replace('"y"', "NaN")):
        seen = head(text.encode())
        assert seen.top is not None
        assert (seen.top["version"], seen.top["log"], list(seen.top)) == (1, ..., list(big))
        assert seen.inside("log") == {"version": "1.2", "entries": ...}
    assert head(b'{"a": 1, "b": [1, 2').top == {"a": 1, "b": ...}
    assert head(lines(ONE, ONE)).top is None
    assert head(b"[1]").top is None
    assert head(b'[ {"role": "user"}, 2').first == {"role": "user"}
    assert head(b"[[1]]").first is None


def test_archives_databases_and_compressed_files_are_seen_through(tmp_path: Path) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("header.json", "{}")
    (tmp_path / "x.eval").write_bytes(held.getvalue())
    assert head(held.getvalue()).members == Head(ForeignSource(tmp_path / "x.eval")).members == {"header.json"}
    assert head(b"PK\x03\x04 no archive").members == frozenset()
    assert head(b"SQLite format 3\0" + b"\0" * 100).is_sqlite
    packed = zstandard.compress(lines(ONE, ONE)[:20]) + zstandard.compress(lines(ONE, ONE)[20:])
    assert len(head(packed).lines) == 2
    assert ForeignSource(packed).data() == lines(ONE, ONE)
    assert [line.raw for line in ForeignSource(packed[:-9]).lines()]
    with pytest.raises(StashError, match="damaged"):
        ForeignSource(packed[:30] + b"\xff" * 30).data()


def test_what_is_ours_is_tried_first_and_the_name_decides_nothing(tmp_path: Path) -> None:
    ours = {"version": 1, "id": "x", "events": [], "blobs": {}, "messages": [], "interactions": [], "log": {}}
    for name in ("a.har", "b.jsonl", "c.yaml"):
        (tmp_path / name).write_text(json.dumps(ours))
        assert held_in(tmp_path / name).kind == "recording"


def test_every_file_of_ours_in_a_foreign_format_is_found_under_any_name(formats_data: Path) -> None:
    files = [path for path in sorted(formats_data.rglob("*")) if path.is_file()]
    found = [(path, detect(ForeignSource(path.read_bytes(), name="unnamed"))) for path in files]
    known = [path for path, known in found if known is not None]
    assert files
    assert len(known) >= len(files) // 2  # side files and broken ones lie among them


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b"null", b"{", b"\0" * 500, b"%PDF-1.4", b'{"a":1}\n{"b":2}\n', b"a: [1, 2]\n", b"# text\n",
     b"[" * 3000, b'{"a":' * 3000, b'"' + b"x" * 70_000, b"\x28\xb5\x2f\xfd", b"<html>", b'{"events":[]}'],
    ids=lambda data: ascii(data[:12]),
)  # fmt: skip
def test_what_is_nothing_that_is_known_is_no_format(data: bytes) -> None:
    try:
        assert detect(ForeignSource(data)) is None
    except StashError:
        assert data.startswith(b"\x28\xb5")  # compressed, and damaged


def test_detection_reads_the_head_of_a_large_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        file.write(lines({"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "x"}}))
        file.truncate(3_000_000_000)
    known = held_in(path).format
    assert known is not None
    assert known.name == "claude-code"


TOOLS = {
    "agent-rewind": {"agent-rewind"},
    "agentfootprint": {"agentfootprint"},
    "atif": {"atif"},
    "claude-code": {"claude-code", "claude-stream-json"},
    "codex": {"codex", "codex-exec"},
    "copilot-cli": {"copilot-cli"},
    "gemini-cli": {"gemini-cli", "gemini-stream-json"},
    "har": {"har"},
    "inspect-ai": {"inspect-ai"},
    "langfuse": {"langfuse"},
    "langgraph": {"langgraph"},
    "langsmith": {"langsmith"},
    "mcp": {"mcp-log"},
    "mini-swe-agent": {"mini-swe-agent"},
    "openai-agents": {"openai-agents"},
    "openai-chat": {"chat-messages", "request-lines"},
    "otel-genai": {"otel"},
    "pi": {"pi"},
    "swe-agent": {"swe-agent"},
    "vcrpy": {"vcrpy"},
}


def test_samples_of_other_tools_are_told_apart(shared_samples: Path | None) -> None:
    folders = [] if shared_samples is None else [(shared_samples / name, names) for name, names in TOOLS.items()]
    wrong = []
    for folder, names in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != "SOURCES.md" and not path.name.endswith(".meta.json"):
                known = detect(ForeignSource(path))
                if known is None or known.name not in names:
                    wrong.append((path.name, known and known.name))
    assert wrong == []
