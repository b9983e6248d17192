"""Every wrong input: one clear line, the right exit code, the same as JSON, and the file untouched."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stashdbg.cli.exit_codes import exit_code_of
from stashdbg_core.errors import ErrorCode, StashError

WRONG = {
    "a script": b"import os\nprint('hello')\n",
    "an archive": b"PK\x03\x04\x14\x00\x00\x00\x08\x00",
    "nothing": b"",
    "white space": b" \n\n",
    "an array": b"[]",
    "an empty object": b"{}",
    "a text": b'"text"',
    "a trace": b'{"type":"user","message":1}\n{"type":"assistant","message":2}\n',
    "a newer version": b'{"version":2,"id":"x","events":[],"blobs":{},"meta":{}}',
    "a version in quotes": b'{"version":"1","id":"x","events":[],"blobs":{}}',
    "a version true": b'{"version":true,"id":"x","events":[],"blobs":{}}',
    "UTF-16": '{"version":1}'.encode("utf-16"),
}


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_error_has_an_exit_code(code: ErrorCode) -> None:
    assert exit_code_of(StashError("x", code=code)) in {1, 64, 65, 66}


@pytest.mark.parametrize("command", ["show", "stats", "open", "convert"])
@pytest.mark.parametrize("what", list(WRONG))
def test_a_wrong_file_is_refused_in_one_line(what: str, command: str, tmp_path: Path, stashdbg: Callable) -> None:
    path = tmp_path / "wrong.json"
    path.write_bytes(WRONG[what])
    out = ["-o", tmp_path / "out.json"] if command == "convert" else []
    ran = stashdbg(command, path, *out)
    assert (ran.code, ran.out) == (65, "")
    assert ran.err.startswith("stashdbg: ")
    assert ran.err.count("\n") == 1
    assert len(ran.err) < 400
    as_json = stashdbg(command, path, "--json", *out)
    error = json.loads(as_json.err)["error"]
    assert (as_json.code, as_json.out, error["code"]) == (65, "", "ERR_INVALID_RECORDING")
    assert error["message"] in ran.err
    assert path.read_bytes() == WRONG[what]
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_read_is_66(tmp_path: Path, stashdbg: Callable, process: Callable) -> None:
    for path in (tmp_path, tmp_path / "none.json", Path("/dev/null"), tmp_path / "a.json" / "b.json"):
        ran = stashdbg("show", path)
        assert (ran.code, ran.out, ran.err.count("\n")) == (66, "", 1)
    odd = process("show", os.fsencode(tmp_path) + b"/\xff\x1b[2J.json")
    assert (odd.returncode, odd.stdout, odd.stderr.count(b"\n")) == (66, b"", 1)
    assert b"\x1b" not in odd.stderr
    assert process("show", os.fsencode(tmp_path) + b"/\xff.json", "--json").returncode == 66


@pytest.mark.parametrize(
    "words",
    [
        ["show"],
        ["show", "--bad", "x"],
        ["show", "x", "y"],
        ["--theme"],
        ["--frobnicate", "run.json"],
        ["convert", "x"],
        ["export", "x"],
        ["keys", "extra"],
        ["show", "x", "--limit", "depth"],
        ["show", "x", "--limit", "deepness=3"],
    ],
)
def test_wrong_use_is_64_and_one_line(words: list[str], stashdbg: Callable) -> None:
    ran = stashdbg(*words)
    assert (ran.code, ran.out, ran.err.count("\n")) == (64, "", 1)
    as_json = stashdbg("--json", *words)
    assert as_json.code == 64
    assert set(json.loads(as_json.err)["error"]) == {"code", "message", "hint"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show", "FILE", "--run", "x"], "--run takes a whole number, not 'x'"),
        (["show", "FILE", "--head", "-1"], "--head takes 0 or more, not '-1'"),
        (["why", "FILE", "--at", "0", "--part", "both"], "--part takes value or input, not 'both'"),
        (["diff", "FILE", "FILE", "--align", "name"], "--align takes content or identity, not 'name'"),
        (["replay", "FILE", "--on-divergence", "go"], "--on-divergence takes stop or collect, not 'go'"),
        (["fork", "FILE", "--at", "0", "--edit"], "there is no terminal to edit on; give --set or --set-file"),
        (["show", "FILE", "--columns", "n=size(value)"], "JMESPath has no function size(); it has abs,"),
        (["why", "FILE", "--at", "0", "--text", ""], "there is no text to look for"),
        (["why", "FILE", "--at", "3", "--part", "input"], "event 3 has no input"),
        (["show", ""], "the name of the file is empty"),
        (["-", "-"], "standard input holds one recording; name a file for the other"),
        (["export", "FILE", "--flat", "--json"], "--json names the file that was written"),
        (["fork", "FILE", "--at", "0", "--set", "[" * 2100 + "]" * 2100], "nested deeper than the limit depth=2000"),
    ],
)
def test_a_wrong_word_is_named_with_what_would_do(
    words: list[str], said: str, recording: Path, stashdbg: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    ran = stashdbg(*[recording if word == "FILE" else word for word in words])
    assert (ran.code, ran.out) == (64, "")
    assert said in ran.err
    assert list(recording.parent.iterdir()) == [recording]


@pytest.mark.parametrize(
    "words",
    [
        ["redact", "FILE"],
        ["fork", "FILE", "--at", "0"],
        ["convert", "FILE"],
        ["report", "FILE", "--title", "x"],
        ["continue", "FILE"],
        ["record"],
    ],
)
@pytest.mark.parametrize("name", ["-", ""])
def test_nothing_is_written_to_a_file_called_like_a_stream(
    words: list[str], name: str, recording: Path, stashdbg: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(recording.parent)
    program = ["--", "python", "x.py"] if words[0] == "record" else []
    ran = stashdbg(*[recording if word == "FILE" else word for word in words], "-o", name, *program)
    assert (ran.code, ran.out) == (64, "")
    assert "-o takes a file to write" in ran.err
    assert list(recording.parent.iterdir()) == [recording]


def test_compressed_files_and_addresses_say_what_to_do_first(tmp_path: Path, stashdbg: Callable) -> None:
    for magic, unpacker in ((b"\x1f\x8b", "gunzip"), (b"\xfd7zXZ\0", "unxz"), (b"BZh9", "bunzip2")):
        packed = tmp_path / "run.json.packed"
        packed.write_bytes(magic + bytes(range(200)))
        ran = stashdbg("show", packed)
        assert ran.code == 65 and f"unpack it first, with {unpacker}" in ran.err
    assert "download it first" in stashdbg("show", "https://example.com/run.json").err


def test_a_limit_is_named_and_can_be_raised(make: Callable[..., Path], stashdbg: Callable) -> None:
    deep: object = 1
    for _ in range(60):
        deep = [deep]
    path = make([{"value": deep}])
    refused = stashdbg("show", path, "--limit", "size=100")
    assert refused.code == 65
    assert "size" in refused.err
    assert stashdbg("--limit", "size=1MB", "show", path).code == 0
