"""Branches: what they keep, what they say about their parent, and what they leave alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.canonical import Json
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.fork import fork, fork_with, override_of_tree, plan_fork, recording_digest
from stashdbg_core.fork.override import override_of_text
from stashdbg_core.model import Recording
from stashdbg_core.stash import Stash, create_stash
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import decode_recording, encode_recording, write_recording

SECRET = "sk-proj-" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA" * 2


def agent(stash: Stash, live: Callable[[str], Any]) -> list[Any]:
    said = [stash.intercept("llm", "chat", lambda: live("chat0"), input="hi")]
    said += [stash.intercept("tool", "price", lambda: live("price"), input={"turn": turn}) for turn in range(2)]
    said.append(stash.intercept("llm", "chat", lambda: live(f"says {said[-1]}"), input=said[1:]))
    return said


@pytest.fixture
def parent() -> Recording:
    stash = create_stash(id="run-1")
    answers = iter(["use tool", 41, 42, "42"])
    agent(stash, lambda _: next(answers))
    return decode_recording(encode_recording(stash.recording()))


def values(recording: Recording) -> list[Json]:
    return [recording.blobs.tree(event.ref) for event in recording.events]


def test_it_keeps_what_was_before_puts_in_the_override_and_drops_the_tail(parent: Recording) -> None:
    branch = fork(parent, 2, override=99)
    assert values(branch) == ["use tool", 41, 99]
    assert [(event.seq, event.ordinal) for event in branch.events] == [(0, 0), (1, 0), (2, 1)]
    assert values(decode_recording(encode_recording(branch))) == ["use tool", 41, 99]
    assert values(parent) == ["use tool", 41, 42, "42"]


def test_without_an_override_the_event_itself_runs_live(parent: Recording) -> None:
    assert values(fork(parent, 2)) == ["use tool", 41]
    assert values(fork(parent, 0)) == []


def test_nothing_of_the_tail_is_in_the_file(parent: Recording) -> None:
    text = encode_recording(fork(parent, 1, override="put in"))
    assert "put in" in text
    assert len(decode_recording(text).blobs) == 4  # two inputs, one value, one override
    assert '"42"' not in text


def test_a_replay_serves_the_prefix_then_runs_live(parent: Recording) -> None:
    asked: list[str] = []

    def live(what: str) -> str:
        asked.append(what)
        return what

    stash = create_stash(replay=fork(parent, 2, override=99), live_tail=True)
    assert agent(stash, live) == ["use tool", 41, 99, "says 99"]
    assert asked == ["says 99"]


def test_an_error_is_raised_where_the_value_was(parent: Recording) -> None:
    stash = create_stash(replay=fork(parent, 1, error=TimeoutError("no answer")), live_tail=True)
    with pytest.raises(TimeoutError, match="no answer"):
        agent(stash, str)


@pytest.mark.parametrize(
    ("spelled", "caught"), [("TimeoutError: slow", TimeoutError), ("openai.RateLimitError:429", Exception)]
)
def test_errors_are_spelled_by_type_and_message(parent: Recording, spelled: str, caught: type[Exception]) -> None:
    branch = fork_with(parent, plan_fork(parent, 1, overridden=True), override_of_text(spelled))
    with pytest.raises(caught) as raised:
        agent(create_stash(replay=branch, live_tail=True), str)
    assert str(raised.value) == spelled.partition(":")[2].strip()
    assert raised.value.__class__.__name__ in spelled or "RateLimitError" in repr(raised.value)


def test_a_type_behind_its_module_is_refused_with_what_to_write() -> None:
    with pytest.raises(StashError, match=r"'my\.mod' is a module") as caught:
        override_of_text("my.mod:Err:text")
    assert caught.value.hint == "write my.mod.Err:MESSAGE"
    assert "my.mod:Err" in str(override_of_text("my.mod.Err:Late:text").tree)


@pytest.mark.parametrize("at", [1.0, None, True])
def test_an_event_is_named_by_a_whole_number_or_a_text(parent: Recording, at: Any) -> None:
    with pytest.raises(StashError, match=f"not a {type(at).__name__}") as caught:
        fork(parent, at)
    assert "channel:key:ordinal" in (caught.value.hint or "")


@pytest.mark.parametrize("at", ["tool:price:1", "2", 2])
def test_the_event_is_named_by_seq_or_by_call(parent: Recording, at: int | str) -> None:
    assert values(fork(parent, at, override=7))[2] == 7


@pytest.mark.parametrize("at", [4, -1, 10**30, "-1", "9", "tool:price:2", "tool:price:x", "nothing", "llm:price:0", ""])
def test_what_names_no_event_is_refused_with_what_there_is(parent: Recording, at: int | str) -> None:
    with pytest.raises(StashError) as caught:
        fork(parent, at)
    assert caught.value.code is ErrorCode.INVALID_INPUT
    assert caught.value.hint


def test_the_range_is_in_the_hint(parent: Recording) -> None:
    with pytest.raises(StashError) as caught:
        fork(parent, 4)
    assert "events 0 to 3" in (caught.value.hint or "")


def test_value_and_error_exclude_each_other(parent: Recording) -> None:
    with pytest.raises(StashError, match="value or with an error"):
        fork(parent, 1, override=1, error=ValueError())


def test_it_says_who_its_parent_is(parent: Recording) -> None:
    one, two = fork(parent, 1, override=1), fork(parent, 1, override=1)
    assert len({parent.id, one.id, two.id}) == 3
    about = one.meta["fork"]
    assert about["parent"] == "run-1"
    assert about["parentDigest"] == recording_digest(parent)
    assert about["at"] == 1
    assert about["call"] == {"channel": "tool", "key": "price", "ordinal": 0}
    assert about["override"] == "value"
    grandchild = fork(one, 0)
    assert grandchild.meta["fork"]["parent"] == one.id
    assert re.fullmatch(r"run-1-fork-[0-9a-f]{8}", grandchild.id)
    assert recording_digest(one) != recording_digest(parent)


def test_the_digest_does_not_depend_on_the_layout(parent: Recording) -> None:
    assert recording_digest(parent) == recording_digest(decode_recording(encode_recording(parent)))


def test_it_does_not_carry_how_its_parent_ended(parent: Recording) -> None:
    from dataclasses import replace

    ended = replace(
        parent,
        meta=parent.meta.replaced(complete=False, exception={"class": "x", "text": "y"}, mine=1),
        extra=parent.extra.replaced(seal={"root": "x"}),
    )
    branch = fork(ended, 1)
    assert {"complete", "exception"}.isdisjoint(branch.meta)
    assert branch.meta["mine"] == 1
    assert "seal" not in branch.extra


def test_its_own_id_may_be_given_and_is_not_its_parents(parent: Recording) -> None:
    assert fork(parent, 1, id="mine").id == "mine"
    with pytest.raises(StashError, match="id of its own"):
        fork(parent, 1, id="run-1")


def test_writing_replaces_nothing(parent: Recording, tmp_path: Path) -> None:
    path = write_recording(parent, tmp_path / "run.json")
    before = path.read_bytes()
    opened = open_recording(path)
    written = [write_recording(fork(opened, 1, override=n), path) for n in range(2)]
    assert [file.name for file in written] == ["run-2.json", "run-3.json"]
    assert path.read_bytes() == before
    assert [values(open_recording(file))[1] for file in written] == [0, 1]


def test_what_is_typed_in_is_masked_like_what_is_recorded(parent: Recording) -> None:
    for override in (SECRET, {"api_key": "hunter2hunter2"}):
        text = encode_recording(fork(parent, 1, override=override))
        assert SECRET not in text
        assert "hunter2" not in text
    assert SECRET not in encode_recording(fork(parent, 1, error=ValueError(f"key {SECRET}")))


def test_a_recording_without_redaction_stays_so() -> None:
    stash = create_stash(id="clear", redact=None)
    stash.value("tool", "k", 1)
    assert SECRET in encode_recording(fork(stash.recording(), 0, override=SECRET))


def test_calls_around_the_event_run_live() -> None:
    stash = create_stash(id="nested")

    def outer(tape: Stash) -> Any:
        return tape.intercept("tool", "outer", lambda: [tape.intercept("llm", "inner", lambda: "old")])

    assert outer(stash) == ["old"]
    nested = decode_recording(encode_recording(stash.recording()))
    inner = next(event for event in nested.events if event.key == "inner")
    plan = plan_fork(nested, inner.seq, overridden=True)
    assert plan.enclosing == (inner.parent,)
    assert plan.live == {"tool": 1}
    branch = fork(nested, inner.seq, override="new")
    assert [event.key for event in branch.events] == ["inner"]
    assert outer(create_stash(replay=branch, live_tail=True)) == ["new"]


def test_the_plan_says_what_is_served_and_what_runs_live(parent: Recording) -> None:
    plan = plan_fork(parent, 2, overridden=True)
    assert (plan.served, plan.live) == ({"llm": 1, "tool": 2}, {"llm": 1})
    plan = plan_fork(parent, 2, overridden=False)
    assert (plan.served, plan.live) == ({"llm": 1, "tool": 1}, {"tool": 1, "llm": 1})


def test_a_stream_is_overridden_by_its_chunks_or_by_one() -> None:
    stash = create_stash(id="streamed")
    list(stash.intercept("llm", "chat", lambda: iter_of("a", "b")))
    recorded = decode_recording(encode_recording(stash.recording()))
    old = recorded.blobs.tree(recorded.events[0].ref)
    for given, chunks in ((["x", "y", "z"], ["x", "y", "z"]), ("one", ["one"])):
        branch = fork_with(recorded, plan_fork(recorded, 0, overridden=True), override_of_tree(given, old))
        replayed = create_stash(replay=branch).intercept("llm", "chat", lambda: iter_of("live"))
        assert list(replayed) == chunks


def iter_of(*chunks: str) -> Any:
    yield from chunks


def test_events_are_found_by_position_and_by_seq(parent: Recording) -> None:
    branch = fork(parent, 2, override=9)
    assert [branch.events.position_of(seq) for seq in range(4)] == [0, 1, 2, None]
    assert branch.events[-1].seq == 2
    assert [event.seq for event in branch.events[1:]] == [1, 2]
    with pytest.raises(IndexError):
        branch.events[3]


def test_an_http_answer_is_overridden_by_its_body_or_whole() -> None:
    recorded = {"status": 200, "headers": {"content-type": "application/json"}, "body": {"a": 1}, "spelling": "spaced"}
    override = override_of_tree({"a": 2}, recorded)
    assert (override.outcome, override.tree) == ("return", {**recorded, "body": {"a": 2}})
    refused = {**recorded, "status": 429, "body": "slow down"}
    override = override_of_tree(refused, recorded)
    assert (override.outcome, override.tree) == ("throw", refused)
    assert override_of_tree({"a": 3}, refused).outcome == "throw"
