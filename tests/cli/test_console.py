"""How the process behaves towards pipes, encodings, closed streams and interrupts."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stashdbg.cli import app, console
from stashdbg.cli.json_out import json_text

ODD = "👍 → \u2028 \ud800 \x1b]52;c;eA==\x07 \x9b2J \x7f \u202e"


def test_json_is_printable_ascii_and_reads_back() -> None:
    text = json_text({"odd": ODD, "\ud83d": ["\U0001f44d", -0.0, 10**40]})
    assert text.isascii()
    assert text.isprintable()
    assert json.loads(text) == {"odd": ODD, "\ud83d": ["\U0001f44d", -0.0, 10**40]}


def test_a_line_is_sanitised_whatever_it_holds(capsys: pytest.CaptureFixture[str]) -> None:
    console.line("a", ODD, console.Styled(ODD, "error"), "\n\r\t")
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert not any(character < " " or "\x7f" <= character <= "\x9f" for character in out[:-1])


def test_any_width_is_survived(recording: Path, processes: Callable) -> None:
    widths = ["1", "0", "-5", "abc", "99999999999999999999", "٣"]
    lines = [(words, {"COLUMNS": width}) for words in (["show", recording], ["--help"]) for width in widths]
    for done in processes(lines):
        assert (done.returncode, done.stderr) == (0, b""), done.args


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "ascii:strict"},
        {"PYTHONIOENCODING": "utf-8:strict"},
        {"TERM": "dumb", "NO_COLOR": "1"},
    ],
)
def test_any_text_prints_in_any_encoding(
    locale: dict[str, str], make: Callable[..., Path], processes: Callable
) -> None:
    path = make([{"value": ODD, "input": {ODD: ODD}, "key": ODD, "channel": "→", "label": ODD}])
    lines = (["show"], ["show", "--at", "0"], ["show", "--json"], ["stats"], ["open"])
    for done in processes([([*words, path], {}) for words in lines], **locale):
        assert (done.returncode, done.stderr) == (0, b""), done.args
        text = done.stdout.decode(locale.get("PYTHONIOENCODING", "utf-8").partition(":")[0])
        assert not any(character < " " or "\x7f" <= character <= "\x9f" for character in text.replace("\n", ""))
        if "--json" in done.args:
            assert json.loads(done.stdout.decode("ascii"))["events"][0]["value"] == ODD


def test_a_reader_that_leaves_early_gets_its_lines_and_no_complaint(make: Callable[..., Path], shell: Callable) -> None:
    make([{"value": "x" * 500} for _ in range(3000)])
    for unbuffered in ("", "1"):
        done = shell("$STASHDBG show run.json | head -1; exit ${PIPESTATUS[0]}", PYTHONUNBUFFERED=unbuffered)
        assert done.returncode in (0, 141)
        assert done.stdout.startswith(b"run-1")
        assert done.stderr == b""


@pytest.mark.parametrize(
    "line",
    [
        "$STASHDBG show run.json | true",
        "$STASHDBG show run.json --json | true",
        "$STASHDBG export --flat run.json | true",
        "$STASHDBG --help | true",
        "$STASHDBG --version | true",
        "$STASHDBG --show-completion bash | true",
        "$STASHDBG keys | true",
        "$STASHDBG show run.json >&-",
        "$STASHDBG --help >&-",
        "$STASHDBG show run.json >&- 2>&- <&-",
        "$STASHDBG stats run.json --json | true",
    ],
)
def test_lost_output_is_no_error(line: str, recording: Path, shell: Callable) -> None:
    done = shell(f"{line}; exit ${{PIPESTATUS[0]}}")
    assert done.returncode in (0, 141)
    assert done.stderr == b""


def test_lost_output_hides_no_failure(shell: Callable) -> None:
    assert shell("$STASHDBG show nope.json >&-").returncode == 66
    assert shell("$STASHDBG show nope.json 2>&-").returncode == 66
    assert shell("$STASHDBG show nope.json 2>&1 | true; exit ${PIPESTATUS[0]}").returncode == 66
    done = shell("$STASHDBG show nope.json 2>&1 | head -1")
    assert done.stdout.startswith(b"stashdbg: ")
    assert done.stderr == b""


def test_output_that_cannot_be_written_is_said(make: Callable[..., Path], shell: Callable) -> None:
    make([{"value": "x" * 500} for _ in range(300)])
    done = shell("ulimit -f 8; $STASHDBG show run.json > out")
    assert done.returncode == 66
    assert done.stderr.count(b"\n") == 1
    assert b"File too large" in done.stderr


def test_no_colour_reaches_a_pipe(recording: Path, process: Callable) -> None:
    assert b"\x1b" not in process("show", recording, TERM="xterm-256color", FORCE_COLOR="1").stdout


def test_an_interrupt_is_130_and_one_line(environment: Callable) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "stashdbg", "show", "-"],
        env=environment(),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    assert child.stdin is not None
    child.stdin.write(b" " * 1_000_000)  # more than a pipe holds: when this returns the child is reading
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 130
    assert err.count(b"\n") == 1
    assert b"Traceback" not in err


def test_a_bug_prints_no_recorded_text_and_no_locals(monkeypatch: pytest.MonkeyPatch, stashdbg: Callable) -> None:
    secret = "sk-" + "a1b2" * 8

    def broken(*_: object) -> int:
        value = {"key": secret}
        raise KeyError(value["key"])

    monkeypatch.setattr(app, "_run_command", broken)
    ran = stashdbg("show", "x")
    assert ran.code == 70
    assert ran.err.count("\n") == 1
    assert "KeyError" in ran.err
    assert "STASHDBG_TRACEBACK=1" in ran.err
    assert secret not in ran.err
    as_json = json.loads(stashdbg("show", "x", "--json").err)
    assert as_json["error"]["code"] == "ERR_INTERNAL"
    assert secret not in str(as_json)


def test_a_traceback_on_demand_shows_no_locals(monkeypatch: pytest.MonkeyPatch, stashdbg: Callable) -> None:
    def broken(*_: object) -> int:
        held = "only-a-local"
        raise ValueError(len(held))

    monkeypatch.setattr(app, "_run_command", broken)
    monkeypatch.setenv("STASHDBG_TRACEBACK", "1")
    monkeypatch.setenv("_TYPER_STANDARD_TRACEBACK", "")
    err = stashdbg("show", "x").err
    assert "Traceback" in err
    assert "only-a-local" not in err
