"""Which command is meant: files, names, options in any place, and words that are neither."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stashdbg.cli.commands import COMMANDS, VALUE_OPTIONS
from stashdbg.cli.first_word import command_first
from stashdbg.cli.group import load


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["run.json"], ["open", "run.json"]),
        (["a.json", "b.json"], ["open", "a.json", "b.json"]),
        (["show", "run.json"], ["show", "run.json"]),
        (["./show"], ["open", "./show"]),
        (["--json", "run.json"], ["open", "--json", "run.json"]),
        (["--theme", "light", "run.json"], ["open", "--theme", "light", "run.json"]),
        (["--theme", "show", "run.json"], ["open", "--theme", "show", "run.json"]),
        (["--theme=light", "run.json"], ["open", "--theme=light", "run.json"]),
        (["--json", "stats", "run.json"], ["stats", "--json", "run.json"]),
        (["--limit", "depth=9", "show", "x"], ["show", "--limit", "depth=9", "x"]),
        (["--", "show"], ["open", "--", "show"]),
        (["-"], ["open", "-"]),
    ],
)
def test_a_command_is_found_wherever_its_options_stand(given: list[str], meant: list[str]) -> None:
    assert command_first(given) == meant


def test_every_option_with_a_value_is_known_before_its_command_is() -> None:
    taking = {
        name
        for command in COMMANDS
        for param in load(command).params
        if param.param_type_name == "option" and not param.is_flag
        for name in param.opts
    }
    assert taking - {"--help"} == VALUE_OPTIONS


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_has_help(command: str, stashdbg: Callable) -> None:
    ran = stashdbg(command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert COMMANDS[command].help in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("command", "usage"),
    [("show", "FILE"), ("open", "[FILE...]"), ("diff", "A B"), ("forks", "[FOLDER]"), ("search", "FILE TEXT")],
)
def test_a_usage_line_names_arguments_plainly(command: str, usage: str, stashdbg: Callable) -> None:
    out = stashdbg(command, "--help").out
    assert out.splitlines()[0] == f"Usage: stashdbg {command} [OPTIONS] {usage}"
    assert not any(odd in out for odd in ("{", "<", "[["))


def test_help_lists_every_command_uncut(stashdbg: Callable) -> None:
    ran = stashdbg("--help")
    assert ran.code == 0
    for name, entry in COMMANDS.items():
        assert any(line.split() == [name, *entry.help.split()] for line in ran.out.splitlines())


def test_help_imports_no_command() -> None:
    program = (
        "import sys; from stashdbg.cli.app import run; run(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert [entry.module for entry in COMMANDS.values() if f"'{entry.module}'" in done.stderr] == []
    assert not any(f"'{heavy}'" in done.stderr for heavy in ("rich", "textual", "msgspec", "pydantic"))


def test_files_alone_are_opened_without_the_parser(recording: Path) -> None:
    program = (
        "import sys; from stashdbg.cli.app import run; run(sys.argv[1:]); print(sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, recording], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("run-1")
    assert not any(f"'{heavy}'" in done.stderr for heavy in ("rich", "textual", "typer", "pydantic"))


def test_a_mistyped_command_is_asked_about(stashdbg: Callable) -> None:
    ran = stashdbg("shwo", "x.json")
    assert (ran.code, ran.out) == (64, "")
    assert ran.err == "stashdbg: no file or command named 'shwo'; did you mean show?\n"


@pytest.mark.parametrize(
    ("word", "meant"),
    [("run", "run.json"), ("run.jsn", "run.json"), ("help", "--help"), ("version", "--version or verify")],
)
def test_what_may_have_been_meant_is_named(
    word: str, meant: str, recording: Path, stashdbg: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(recording.parent)
    assert recording.name == "run.json"
    assert stashdbg(word).err.endswith(f"; did you mean {meant}?\n")


def test_a_file_like_the_one_named_is_told_with_its_folder(recording: Path, stashdbg: Callable) -> None:
    ran = stashdbg("stats", recording.with_suffix(".jso"))
    assert (ran.code, f"did you mean {recording}?" in ran.err) == (66, True)


def test_short_help_is_help(stashdbg: Callable) -> None:
    assert stashdbg("-h").out == stashdbg("--help").out
    assert stashdbg("show", "-h").out == stashdbg("show", "--help").out


@pytest.mark.parametrize("name", list(COMMANDS))
def test_the_examples_of_help_are_command_lines(name: str, stashdbg: Callable) -> None:
    out = stashdbg(name, "--help").out
    for example in COMMANDS[name].examples:
        program, *words = shlex.split(example)
        assert (program, f"  {example}" in out.splitlines()) == ("stashdbg", True)
        command, *arguments = command_first(words)
        assert command == name
        assert load(name).make_context(name, arguments).params


def test_a_word_like_nothing_points_to_the_help(stashdbg: Callable) -> None:
    ran = stashdbg("zzzzzz")
    assert ran.code == 64
    assert ran.err.count("\n") == 1
    assert "--help" in ran.err


def test_a_word_is_named_without_its_escapes_and_not_at_length(stashdbg: Callable) -> None:
    ran = stashdbg("\x1b]0;owned\x07" + "a" * 5000)
    assert ran.code == 64
    assert "\x1b" not in ran.err
    assert len(ran.err) < 300


@pytest.mark.parametrize("word", ["nope.json", "no/such/run", "./shwo"])
def test_a_missing_file_is_a_missing_file(word: str, stashdbg: Callable) -> None:
    ran = stashdbg(word)
    assert ran.code == 66
    assert Path(word).name in ran.err
    assert ran.err.count("\n") == 1


def test_a_command_wins_over_a_file_of_its_name(
    recording: Path, stashdbg: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording.rename(recording.with_name("stats"))
    monkeypatch.chdir(recording.parent)
    assert stashdbg("stats").code == 64
    assert "run-1" in stashdbg("./stats").out
    assert "run-1" in stashdbg("--", "stats").out


def test_a_file_without_a_suffix_opens(recording: Path, stashdbg: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    recording.rename(recording.with_name("run"))
    monkeypatch.chdir(recording.parent)
    assert "run-1" in stashdbg("run").out


def test_options_before_the_file_count(recording: Path, stashdbg: Callable) -> None:
    assert json.loads(stashdbg("--json", recording).out) == json.loads(stashdbg("show", "--json", recording).out)


def test_nothing_to_do_is_a_usage_error_that_helps(stashdbg: Callable) -> None:
    ran = stashdbg()
    assert (ran.code, ran.out) == (64, "")
    assert all(entry.group in ran.err for entry in COMMANDS.values())


def test_the_version(stashdbg: Callable) -> None:
    import stashdbg as package

    assert stashdbg("--version").out == f"stashdbg {package.__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str, process: Callable) -> None:
    done = process("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert done.returncode == 0
    assert b"_STASHDBG_COMPLETE" in done.stdout


@pytest.mark.parametrize(
    ("words", "offered"), [("stashdbg s", b"show"), ("stashdbg show --j", b"--json"), ("stashdbg conv", b"convert")]
)
def test_completion_offers_commands_and_options(words: str, offered: bytes, process: Callable) -> None:
    place = str(len(words.split()) - 1)
    done = process(_STASHDBG_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=place)
    assert done.returncode == 0, done.stderr
    assert offered in done.stdout.split()
