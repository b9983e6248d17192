"""``stashdbg fork`` and ``forks``: branches from the command line."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.session.fork_edit import start_edit
from stashdbg_core.store.open import open_recording
from stashdbg_tui.drafts import Drafts

Command = Callable[..., Any]
SECRET = "sk-proj-" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA" * 2


def value(path: Path, at: int = -1) -> Any:
    recording = open_recording(path)
    return recording.blobs.tree(recording.events[at].ref)


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set an editor that runs this Python code; ``path`` is the file, ``text`` what it holds."""

    def choose(body: str) -> None:
        script = tmp_path / "my editor.py"
        script.write_text(f"import os, sys\npath = sys.argv[-1]\ntext = open(path).read()\n{body}\n")
        monkeypatch.setenv("VISUAL", f"{sys.executable} '{script}'")
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    return choose


def test_it_writes_beside_and_never_over(stashdbg: Command, recording: Path) -> None:
    before = recording.read_bytes()
    names = []
    for number in range(3):
        ran = stashdbg("fork", recording, "--at", "1", "--set", f"[{number}]")
        assert ran.code == 0
        names.append(Path(ran.out.strip()).name)
    assert names == ["run-fork.json", "run-fork-2.json", "run-fork-3.json"]
    assert [value(recording.with_name(name)) for name in names] == [[0], [1], [2]]
    assert recording.read_bytes() == before
    assert len({open_recording(recording.with_name(name)).id for name in names}) == 3


def test_it_says_what_is_served_and_what_runs_live(stashdbg: Command, recording: Path) -> None:
    ran = stashdbg("fork", recording, "--at", "tool:search:0", "--set", '"rain"', "--dry-run")
    assert ran.code == 0
    for line in (
        "event 1, tool search #0",
        '- ["sunny", "mild"]',
        '+ "rain"',
        "1 llm, 1 tool",
        "live, if the program does as before: 1 tool, 1 clock",
    ):
        assert line in ran.out
    assert [path.name for path in recording.parent.iterdir()] == ["run.json"]


def test_json_names_the_file_and_the_plan(stashdbg: Command, recording: Path) -> None:
    found = json.loads(stashdbg("fork", recording, "--at", "1", "--throw", "TimeoutError:no", "--json").out)
    assert found["at"] == 1
    assert found["served"] == {"llm": 1, "tool": 1}
    assert found["override"]["outcome"] == "throw"
    assert value(Path(found["file"]))["class"] == "builtins:TimeoutError"
    dry = json.loads(stashdbg("fork", recording, "--at", "1", "--dry-run", "--json").out)
    assert dry["file"] is None


def test_a_value_may_come_from_a_file(stashdbg: Command, recording: Path, tmp_path: Path) -> None:
    (tmp_path / "v.json").write_text('{"a": [1.50]}\n')
    (tmp_path / "v.txt").write_text("plain text\n")
    for name, expected in (("v.json", {"a": [1.5]}), ("v.txt", "plain text")):
        out = stashdbg("fork", recording, "--at", "1", "--set-file", tmp_path / name).out
        assert value(Path(out.strip())) == expected
    assert stashdbg("fork", recording, "--at", "1", "--set-file", tmp_path / "none").code == 66


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--at", "9"], "events 0 to 3"),
        (["--at", "-1"], "events 0 to 3"),
        (["--at", "x"], "channel:key:ordinal"),
        (["--at", "1", "--set", "{"], "not JSON"),
        (["--at", "1", "--set", "rain"], "quotes"),
        (["--at", "1", "--set", '{"a":1,"a":2}'], "twice"),
        (["--at", "1", "--set", "1", "--throw", "X:y"], "exclude each other"),
        (["--at", "1", "--throw", ":y"], "TYPE:MESSAGE"),
        (["--at", "1", "--throw", "UnicodeDecodeError:y"], "another type"),
        ([], "--at"),
    ],
)
def test_what_makes_no_sense_is_refused_and_writes_nothing(
    stashdbg: Command, recording: Path, words: list[str], said: str
) -> None:
    ran = stashdbg("fork", recording, *words)
    assert (ran.code, ran.out) == (64, "")
    assert said in ran.err
    assert [path.name for path in recording.parent.iterdir()] == ["run.json"]


def test_secrets_that_are_typed_in_are_masked_everywhere(stashdbg: Command, recording: Path, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(f"token {SECRET}")
    for words in (
        ["--set", f'"{SECRET}"'],
        ["--throw", f"ValueError:{SECRET}"],
        ["--set-file", str(tmp_path / "v.txt")],
    ):
        for flag in ([], ["--json"], ["--dry-run"]):
            ran = stashdbg("fork", recording, "--at", "1", *words, *flag)
            assert ran.code == 0
            assert SECRET not in ran.out + ran.err
    (tmp_path / "v.txt").unlink()
    assert len(list(tmp_path.glob("run-fork*.json"))) == 6
    assert all(SECRET.encode() not in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ["--throw", f"ghp_{'aB3dE5gH7j' * 4}"],
        ["--throw", f"ghp_{'aB3dE5gH7j' * 4}:late"],
        ["--set", json.dumps({"a": [{"$stash": "uuid", "value": f"ghp_{'aB3dE5gH7j' * 4}"}]})],
    ],
)
def test_a_secret_where_none_can_be_masked_is_refused(stashdbg: Command, recording: Path, words: list[str]) -> None:
    for flag in ([], ["--json"], ["--dry-run"]):
        ran = stashdbg("fork", recording, "--at", "1", *words, *flag)
        assert (ran.code, ran.out) == (64, "")
        assert "secret" in ran.err and "ghp_" not in ran.err
    assert [path.name for path in recording.parent.iterdir()] == ["run.json"]


def test_a_secret_in_a_message_given_for_a_stream_is_masked_across_its_chunks(
    stashdbg: Command, streamed: Path, editor: Callable[[str], None], tmp_path: Path
) -> None:
    editor(f"open(path, 'w').write('It is {SECRET} sunny')")
    for words in (["--set", f'"It is {SECRET} sunny"'], ["--edit"]):
        ran = stashdbg("fork", streamed, "--at", "0", *words)
        assert ran.code == 0, ran.err
        assert "1 secret masked" in ran.err
        assert "".join(spoken(Path(ran.out.strip()))) == "It is [REDACTED:openai-key#1] sunny"
    (tmp_path / "my editor.py").unlink()
    assert all(SECRET[:20].encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_an_edit_is_taken_over(
    stashdbg: Command, recording: Path, editor: Callable[[str], None], tmp_path: Path
) -> None:
    editor("open(path, 'w').write(text.replace('sunny', 'rainy'))")
    ran = stashdbg("fork", recording, "--at", "1", "--edit")
    assert value(Path(ran.out.strip())) == ["rainy", "mild"]
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("open(path, 'w').write('[1]'); sys.exit(1)", "code 1"),
        ("open(path, 'w').write('[1'); ", "not JSON"),
        ("", "returned at once"),
    ],
)
def test_an_edit_that_is_not_taken_is_kept_in_a_named_file(
    stashdbg: Command, recording: Path, editor: Callable[[str], None], body: str, said: str
) -> None:
    editor(body)
    ran = stashdbg("fork", recording, "--at", "1", "--edit")
    assert (ran.code, ran.out) == (64, "")
    assert said in ran.err
    kept = Path(ran.err.partition("--set-file ")[2].split(",")[0].strip())
    assert kept.name == "value.json"
    kept.write_text("[1]")
    assert value(Path(stashdbg("fork", recording, "--at", "1", "--set-file", kept).out.strip())) == [1]


@pytest.fixture
def streamed(make: Callable[..., Path]) -> Path:
    """A recording whose one answer came as OpenAI chunks."""
    chunks = [{"id": n, "choices": [{"delta": {"content": word}}]} for n, word in enumerate(["It ", "is ", "sunny"])]
    stream = {"$stash": "stream", "kind": "async", "chunks": chunks, "times": [0.0, 1.0, 2.0], "ending": "exhausted"}
    return make([{"channel": "llm", "key": "chat", "value": stream}])


def spoken(path: Path) -> list[Any]:
    chunks = value(path)["chunks"]
    assert [chunk["id"] for chunk in chunks] == [0, 1, 2]
    return [chunk["choices"][0]["delta"]["content"] for chunk in chunks]


def test_a_streamed_answer_is_edited_as_its_joined_message(
    stashdbg: Command, streamed: Path, editor: Callable[[str], None]
) -> None:
    editor("assert text == 'It is sunny\\n'\nopen(path, 'w').write(text.replace('is sunny', 'will rain'))")
    ran = stashdbg("fork", streamed, "--at", "0", "--edit")
    assert ran.code == 0, ran.err
    assert spoken(Path(ran.out.strip())) == ["It ", "will rain", ""]


def test_a_message_given_for_a_streamed_answer_is_spelled_over_its_chunks(stashdbg: Command, streamed: Path) -> None:
    ran = stashdbg("fork", streamed, "--at", "0", "--set", '"It is wet"')
    assert spoken(Path(ran.out.strip())) == ["It ", "is ", "wet"]
    ran = stashdbg("fork", streamed, "--at", "0", "--set", '[{"id": 9}]')
    assert value(Path(ran.out.strip()))["chunks"] == [{"id": 9}]
    ran = stashdbg("fork", streamed, "--at", "0", "--set", "7")
    assert (ran.code, ran.out) == (64, "")
    assert "the message is a text" in ran.err and "whole list of chunks" in ran.err


def test_the_line_that_names_a_left_draft_runs(stashdbg: Command, streamed: Path, tmp_path: Path) -> None:
    drafts = Drafts()
    edit = start_edit(open_recording(streamed), 0)
    draft = edit.draft(tmp_path)
    draft.path.write_text("It is not sunny\n")
    drafts.keep(edit, draft)
    said = drafts.farewell()
    assert said is not None
    line = shlex.split(said.plain.splitlines()[-1])
    assert line[0] == "stashdbg"
    ran = stashdbg(*line[1:])
    assert ran.code == 0, ran.err
    assert "".join(spoken(Path(ran.out.strip()))) == "It is not sunny"


def test_an_edit_that_only_spells_the_value_otherwise_makes_no_fork(
    stashdbg: Command, recording: Path, editor: Callable[[str], None], tmp_path: Path
) -> None:
    editor("import json\nopen(path, 'w').write(json.dumps(json.loads(text)))")
    ran = stashdbg("fork", recording, "--at", "1", "--edit")
    assert (ran.code, ran.out, ran.err) == (0, "", "no change, no fork\n")
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_no_change_makes_no_fork(
    stashdbg: Command, recording: Path, editor: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    editor("")
    monkeypatch.setattr("stashdbg_core.session.editing._AT_ONCE_SECONDS", 0.0)
    ran = stashdbg("fork", recording, "--at", "1", "--edit")
    assert (ran.code, ran.out, ran.err) == (0, "", "no change, no fork\n")


def test_a_deleted_draft_and_a_missing_editor_are_said(
    stashdbg: Command, recording: Path, editor: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    editor("os.unlink(path)")
    assert "deleted" in stashdbg("fork", recording, "--at", "1", "--edit").err
    monkeypatch.setenv("VISUAL", "/none/such --x")
    ran = stashdbg("fork", recording, "--at", "1", "--edit")
    assert ran.code == 64
    assert "/none/such --x" in ran.err


def test_the_tree_is_printed(stashdbg: Command, recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Path(stashdbg("fork", recording, "--at", "2", "--set", "1").out.strip())
    stashdbg("fork", one, "--at", "1")
    out = stashdbg("forks", recording.parent).out.splitlines()
    assert [line.split()[0] for line in out] == ["run.json", "└─", "└─"]
    assert "run-fork.json" in out[1]
    assert "forked at event 2 with another value" in out[1]
    assert out[2].startswith("   └─ run-fork-fork.json")
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, stashdbg("forks", recording.parent).out.splitlines())) <= 80
    found = json.loads(stashdbg("forks", recording.parent, "--json").out)
    assert [set(branch) >= {"id", "file", "parent", "at", "events"} for branch in found["recordings"]] == [True] * 3
    assert [branch["events"] for branch in found["recordings"]] == [4, 3, 1]


def test_a_missing_parent_and_a_missing_folder(stashdbg: Command, recording: Path) -> None:
    stashdbg("fork", recording, "--at", "2")
    recording.unlink()
    out = stashdbg("forks", recording.parent).out
    assert "not in this folder" in out
    assert "run-fork.json" in out
    assert stashdbg("forks", recording.parent / "none").code == 66


def test_standard_input_needs_a_name_for_the_fork(process: Command, recording: Path, tmp_path: Path) -> None:
    assert process("fork", "-", "--at", "1", given=recording.read_bytes()).returncode == 64
    done = process("fork", "-", "--at", "1", "-o", str(tmp_path / "out.json"), given=recording.read_bytes())
    assert done.returncode == 0
    assert len(open_recording(tmp_path / "out.json").events) == 1


def test_what_a_long_value_becomes_is_told_by_the_places_that_differ(stashdbg: Command, recording: Path) -> None:
    long = {"text": "word " * 60, "price": {"eur": 41, "shop": "s"}}
    parent = stashdbg("fork", recording, "--at", "1", "--set", json.dumps(long)).out.strip()
    long["price"] = {"eur": 99, "shop": "s"}
    said = stashdbg("fork", parent, "--at", "1", "--set", json.dumps(long), "--dry-run").out
    assert "returns the same but for\n  /price/eur\n    - 41\n    + 99\n" in said
    assert "word" not in said
