"""Transcript, narrative, environment and issue: what people read."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.report import Fields, describe, issue_body, issue_url
from tests.core.report.conftest import JANE, NOW, chat, recording_of


def files_of(calls: list[dict[str, Any]], **meta: Any) -> dict[str, str]:
    bundle = describe([recording_of(calls, **meta)], person=JANE).export(None, Fields("t"), NOW)
    return {file.name: file.text for file in bundle.files}


OPENAI = {
    "choices": [{"message": {"content": "hi", "tool_calls": [{"function": {"name": "f", "arguments": '{"a":1}'}}]}}]
}
RESPONSES = {
    "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "hi"}]},
        {"type": "function_call", "name": "f", "arguments": '{"a":1}'},
    ]
}
ANTHROPIC = {"content": [{"type": "text", "text": "hi"}, {"type": "tool_use", "name": "f", "input": {"a": 1}}]}
GEMINI = {"candidates": [{"content": {"parts": [{"text": "hi"}, {"functionCall": {"name": "f", "args": {"a": 1}}}]}}]}


def said_in(given: Any, value: Any) -> list[str]:
    """Return the lines of the transcript of one model call, its heading and blank lines left out."""
    text = files_of([{"channel": "llm", "key": "m", "input": given, "value": value}])["transcript.txt"]
    return [line for line in text.splitlines()[1:] if line]


@pytest.mark.parametrize("value", [OPENAI, RESPONSES, ANTHROPIC, GEMINI])
def test_answers_of_every_provider_read_alike(value: dict[str, Any]) -> None:
    assert said_in("q", value) == ["[0] user", "    q", "[0] assistant (m)", "    hi", '    → f {"a":1}']


def test_what_is_no_chat_is_told_as_json() -> None:
    assert said_in({"temperature": 0}, {"embedding": [1.0]}) == [
        "[0] input",
        '    {"temperature":0}',
        "[0] assistant (m)",
        '    {"embedding":[1.0]}',
    ]


def test_thoughts_and_what_the_provider_ran_are_told_beside_the_answer() -> None:
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "mcp_call", "id": "m1", "name": "roll", "arguments": "{}", "output": "4"},
        {"type": "message", "content": [{"type": "output_text", "text": "four"}]},
    ]
    told = ["(thinking)", "hm", "→ roll {}", "[0] tool", "4", "[0] assistant (m)", "four"]
    assert [line.strip() for line in said_in("q", {"output": output})][-7:] == told


def test_words_said_once_more_by_a_later_call_are_told_once() -> None:
    """Each item of a Responses answer comes back as an entry of its own, a thought without its words."""
    thought = {"type": "reasoning", "encrypted_content": "x"}
    call = {"type": "function_call", "call_id": "c", "name": "find", "arguments": "{}"}
    given = [{"role": "user", "content": "where?"}]
    text = files_of(
        [
            {"channel": "llm", "key": "m", "input": {"input": given}, "value": {"output": [thought, call]}},
            {
                "channel": "llm",
                "key": "m",
                "input": {
                    "input": [
                        *given,
                        thought,
                        call,
                        {"type": "function_call_output", "call_id": "c", "output": "no such file"},
                    ]
                },
                "value": "nowhere",
            },
        ]
    )["transcript.txt"]
    said = ["where?", "→ find {}", "no such file", "nowhere"]
    assert [text.count(part) for part in said] == [1] * len(said)
    assert text.count("[1]") == 2


def test_the_transcript_says_everything_once_and_in_order() -> None:
    first = [{"role": "user", "content": "where?"}]
    asked = {
        "role": "assistant",
        "content": "looking",
        "tool_calls": [{"function": {"name": "find", "arguments": "{}"}}],
    }
    second = [*first, asked, {"role": "tool", "content": "in rome"}]
    text = files_of(
        [
            {"channel": "llm", "key": "m", "input": {"messages": first}, "value": {"choices": [{"message": asked}]}},
            {"key": "find", "input": {"q": 1}, "value": "in rome"},
            {"channel": "llm", "key": "m", "input": {"messages": second}, "value": "rome it is"},
            {"channel": "clock", "key": "now", "value": 1.5},
        ]
    )["transcript.txt"]
    said = ["where?", "looking", "→ find {}", '[1] tool find {"q":1}', "in rome", "rome it is"]
    assert [text.count(part) for part in said] == [1] * len(said)
    assert sorted(said, key=text.index) == said
    assert "clock" not in text


def test_tool_results_that_only_the_model_saw_are_shown() -> None:
    messages = [{"role": "user", "content": "q"}, {"role": "tool", "content": "seen by the model"}]
    text = files_of([{"channel": "llm", "key": "m", "input": {"messages": messages}, "value": "a"}])["transcript.txt"]
    assert "seen by the model" in text


def test_recorded_text_is_safe_and_bounded() -> None:
    files = files_of(
        [chat("\x1b[2J[9] forged", "x" * 10_000, value="\x1b]0;t\x07" + "y" * 10_000), {"key": "\u202ek\n[1] x"}]
    )
    for name in ("transcript.txt", "narrative.txt"):
        assert not any(character in files[name] for character in "\x1b\x07\u202e")
        assert len(files[name]) < 6_000
    assert "more characters in event 0" in files["transcript.txt"]
    assert not any(line.startswith("[9]") for line in files["transcript.txt"].splitlines())


def test_failures_are_told() -> None:
    failure = {"$stash": "exception", "class": "builtins:TimeoutError", "text": "no answer"}
    files = files_of([chat("q", "", outcome="throw", value=failure), {"outcome": "throw", "value": failure}])
    assert files["transcript.txt"].count("failed: TimeoutError: no answer") == 2
    assert files["narrative.txt"].count("threw") == 2


def test_a_run_without_words_has_no_transcript() -> None:
    assert "transcript.txt" not in files_of([{"channel": "clock", "key": "now", "value": 1}])


def test_the_environment_is_that_of_the_recording() -> None:
    text = files_of(
        [], producer={"name": "p", "version": "9"}, command={"argv": ["x"], "python": "3.12.1", "cwd": "/w"}
    )
    assert '"python": "3.12.1"' in text["environment.json"]
    assert '"version": "9"' in text["environment.json"]
    for other in ("argv", "cwd", "/w"):
        assert other not in text["environment.json"]


def manifest_of(fields: Fields) -> dict[str, Any]:
    run = recording_of([chat("q", "a", value={"password": "hunter2-x9"})])
    return describe([run], person=JANE).export(["conv-1", "file-narrative"], fields, NOW).manifest


def test_the_issue_says_what_is_there() -> None:
    body = issue_body(manifest_of(Fields("t", "run it\n\x1b[2J", "good", "")))
    for part in (
        "### Steps to reproduce\n\nrun it",
        "### Expected\n\ngood",
        "_(not given)_",
        "| recording.json |",
        "`password`",
    ):
        assert part in body
    assert "files left out" in body
    assert "\x1b" not in body


def test_the_address_fits_and_says_that_it_was_cut() -> None:
    url = issue_url("owner/name", manifest_of(Fields("a & b", "ü\n" * 5000)), ["bug", "from stashdbg"])
    assert len(url) <= 8000
    query = parse_qs(urlsplit(url).query)
    assert query["title"] == ["a & b"]
    assert query["labels"] == ["bug,from stashdbg"]
    assert query["body"][0].endswith("see manifest.json in the bundle._")
    short = parse_qs(urlsplit(issue_url("owner/name", manifest_of(Fields("t")))).query)["body"][0]
    assert short == issue_body(manifest_of(Fields("t"))).rstrip("\n") + "\n"


@pytest.mark.parametrize("repository", ["", "name", "a/b/c", "https://github.com/a/b", "a/b?x=1", "-a/b"])
def test_no_repository_is_refused(repository: str) -> None:
    with pytest.raises(StashError, match="no repository"):
        issue_url(repository, manifest_of(Fields("t")))


def test_types_that_are_no_words_do_no_harm() -> None:
    odd = {"role": "assistant", "content": [{"type": []}, {"type": {}}, {"type": "text", "text": "hi"}]}
    assert said_in({"messages": [odd]}, {"choices": [{"message": odd}]})[-1] == "    hi"
