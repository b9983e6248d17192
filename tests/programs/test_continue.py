"""A program run on from a fork: served up to the point, live from there, all of it recorded, and said beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.fork import fork
from stashdbg_core.model import Recording
from stashdbg_core.programs.process.command import Command
from stashdbg_core.programs.runs.preview import preview
from stashdbg_core.programs.runs.rerunning import rerun_of
from stashdbg_core.programs.tapes.secrets import secrets_of
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import write_recording
from tests.programs.speaking import Speaker, continuing, events, recorded, serving

CHAT = "http://api.example.com/v1/chat/completions"
PASSWORD = "correct-horse-battery"


def chat(text: str) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": text}]}


def agent(speaker: Speaker, live: dict[str, Any]) -> list[Any]:
    """Read the clock, ask a model, use a tool with what it said, ask again with what the tool gave."""
    got: list[Any] = []

    def text_of(answer: Any) -> Any:
        return live["reply"] if answer.get("run") else answer["response"]["chunks"][0]

    got.append(speaker.value("clock", "time", live["time"], site="agent.py:1 main"))
    first = speaker.post(CHAT, chat("use a tool"), live["reply"])
    got.append(text_of(first))
    tool = speaker.call("tool", "price", live["price"], input={"sku": "A-1"})
    price = live["price"] if tool.get("run") else tool["value"]
    got.append(price)
    last = speaker.post(CHAT, chat(f"it costs {price}"), live["reply"])
    got.append(text_of(last))
    got.append(speaker.value("clock", "time", live["time"], site="agent.py:9 main"))
    return got


RECORDED = {"time": 100.0, "reply": {"said": "recorded"}, "price": 42}
LIVE = {"time": 900.0, "reply": {"said": "live"}, "price": -1}


@pytest.fixture
def taped(tmp_path: Path) -> Recording:
    with recorded(tmp_path / "run.json") as server:
        agent(Speaker(server), RECORDED)
    return open_recording(tmp_path / "run.json")


def forked(recording: Recording, path: Path, at: int, **change: Any) -> Recording:
    return open_recording(write_recording(fork(recording, at, **change), path))


def test_the_prefix_is_served_the_override_counts_and_the_rest_is_live(taped: Recording, tmp_path: Path) -> None:
    branch = forked(taped, tmp_path / "fork.json", 2, override=99)
    run = continuing(branch, tmp_path / "new.json")
    with serving(run) as server:
        speaker = Speaker(server)
        assert speaker.welcome["mode"] == "continue" and speaker.welcome["offline"] is False
        got = agent(speaker, LIVE)
    assert got == [{"value": 100.0}, '{"said": "recorded"}', 99, {"said": "live"}, {"live": 900.0}]
    new = open_recording(tmp_path / "new.json")
    kinds = [(channel, key, ordinal) for channel, key, ordinal, *_ in events(tmp_path / "new.json")]
    assert kinds == [(e.channel, e.key, e.ordinal) for e in taped.events]
    assert new.blobs.tree(new.events[2].ref) == 99
    assert new.blobs.tree(new.events[3].input_ref or "") == chat("it costs 99")
    assert new.blobs.tree(new.events[3].ref)["body"] == {"said": "live"}
    assert new.meta["fork"] == branch.meta["fork"]
    assert new.meta["continued"] == {"from": branch.id, "served": 3, "live": 2}
    assert new.complete and new.id not in (branch.id, taped.id)
    report = run.report()
    assert report.ok and (report.matched, report.live) == (3, 2)


def test_calls_and_values_that_are_live_are_counted_apart_and_a_fork_never_reached_is_told(
    taped: Recording, tmp_path: Path
) -> None:
    branch = forked(taped, tmp_path / "fork.json", 2, override=99)
    run = continuing(branch, tmp_path / "new.json")
    with serving(run) as server:
        agent(Speaker(server), LIVE)
    assert (run.report().live_words, run.unreached()) == ("1 call and 1 value live", None)
    run = continuing(branch, tmp_path / "none.json")
    with serving(run) as server:
        Speaker(server).value("clock", "time", 900.0, site="agent.py:1 main")
    assert (run.report().live_words, run.unreached()) == ("0 live", 2)


def test_no_old_answer_is_served_past_the_point(taped: Recording, tmp_path: Path) -> None:
    branch = forked(taped, tmp_path / "fork.json", 1)  # nothing in its place: the first model call is live
    run = continuing(branch, tmp_path / "new.json")
    with serving(run) as server:
        got = agent(Speaker(server), LIVE)
    assert got == [{"value": 100.0}, {"said": "live"}, -1, {"said": "live"}, {"live": 900.0}]


def test_a_program_that_parts_before_the_point_stops_and_runs_nothing(taped: Recording, tmp_path: Path) -> None:
    branch = forked(taped, tmp_path / "fork.json", 2, override=99)
    run = continuing(branch, tmp_path / "new.json")
    with serving(run) as server:
        speaker = Speaker(server)
        answer = speaker.ask(op="http", method="POST", url=CHAT, body='{"model":"gpt-4o","messages":["other"]}')
        again = speaker.ask(op="call", channel="tool", key="rm")
    assert answer["stop"] is True and again == answer
    assert "no recorded call has this input" in answer["error"]["message"]
    assert "/messages/0" in answer["error"]["message"]
    assert events(tmp_path / "new.json") == []


def test_another_lane_goes_live_while_one_has_recorded_calls_left(tmp_path: Path) -> None:
    with recorded(tmp_path / "run.json") as server:
        for lane in ("a", "b", "a"):
            Speaker(server).call("tool", "t", f"recorded {lane}", input=lane, thread=lane)
    with serving(continuing(open_recording(tmp_path / "run.json"), tmp_path / "new.json")) as server:
        speaker = Speaker(server)
        assert speaker.call("tool", "t", input="b", thread="b")["value"] == "recorded b"
        assert speaker.call("tool", "t", "live", input="b2", thread="b")["run"] is True
        assert speaker.call("tool", "t", input="a", thread="a")["value"] == "recorded a"
        assert speaker.call("tool", "t", input="other", thread="a")["stop"] is True


def test_rerun_really_runs_those(taped: Recording, tmp_path: Path) -> None:
    branch = forked(taped, tmp_path / "fork.json", 4)
    run = continuing(branch, tmp_path / "new.json", rerun=rerun_of(["tool/price"]))
    with serving(run) as server:
        got = agent(Speaker(server), {**LIVE, "price": 42})
    assert got[1:3] == ['{"said": "recorded"}', 42]
    assert got[3] == '{"said": "recorded"}'  # the same price: the same question
    assert run.report().live == 2
    with pytest.raises(StashError, match="tool/prize: the recording has no such call") as caught:
        continuing(branch, tmp_path / "other.json", rerun=rerun_of(["tool/prize"]))
    assert caught.value.hint == "did you mean tool/price?"
    with pytest.raises(StashError, match="tool/prize: the recording has no such call"):
        preview(branch, Command(("python",), tmp_path), rerun=rerun_of(["tool/prize"]))
    with pytest.raises(StashError, match="CHANNEL/KEY"):
        rerun_of(["tool"])


def test_an_unfinished_call_runs_again(tmp_path: Path) -> None:
    with recorded(tmp_path / "run.json") as server:
        Speaker(server).call("tool", "t", 1)
        Speaker(server).ask(op="call", channel="tool", key="cut")
    with serving(continuing(open_recording(tmp_path / "run.json"), tmp_path / "new.json")) as server:
        speaker = Speaker(server)
        assert speaker.call("tool", "t")["value"] == 1
        assert speaker.call("tool", "cut", 2)["run"] is True
    assert events(tmp_path / "new.json")[1] == ("tool", "cut", 0, "return", 2)


def test_a_value_put_in_by_hand_is_the_body_of_a_response(taped: Recording, tmp_path: Path) -> None:
    for change, expected in (({"override": {"said": "hand"}}, '{"said":"hand"}'), ({"override": "text"}, "text")):
        branch = forked(taped, tmp_path / "fork.json", 1, **change)
        with serving(continuing(branch, tmp_path / "new.json")) as server:
            answer = Speaker(server).post(CHAT, chat("use a tool"))
        assert answer["response"]["chunks"] == [expected] and answer["response"]["status"] == 200
    branch = forked(taped, tmp_path / "fork.json", 1, error=TimeoutError("slow"))
    with serving(continuing(branch, tmp_path / "new.json")) as server:
        answer = Speaker(server).post(CHAT, chat("use a tool"))
    assert answer["outcome"] == "throw" and answer["value"]["text"] == "slow"


def test_secrets_are_filled_in_and_masked_again(tmp_path: Path) -> None:
    with recorded(tmp_path / "run.json") as server:
        Speaker(server).call("tool", "vault", {"password": PASSWORD}, input="db")
    recording = open_recording(tmp_path / "run.json")
    placeholder = recording.blobs.tree(recording.events[0].ref)["password"]
    assert placeholder == "[REDACTED:password#1]"
    secrets = secrets_of(["password#1=env:DB"], {"DB": PASSWORD})
    with serving(continuing(recording, tmp_path / "new.json", secrets)) as server:
        speaker = Speaker(server)
        given = speaker.call("tool", "vault", input="db")["value"]["password"]
        assert given == PASSWORD
        speaker.call("tool", "connect", f"as {given}", input=[f"x{given}y"])
        speaker.post("http://db.example.com/?q=" + given, {"note": given}, {"echo": given})
    text = (tmp_path / "new.json").read_text()
    assert PASSWORD not in text
    assert f"x{placeholder}y" in text
    other = secrets_of(["token#7=env:DB"], {"DB": PASSWORD})
    for refused in (
        lambda: continuing(recording, tmp_path / "other.json", other),
        lambda: preview(recording, Command(("python",), tmp_path), filled=other.placeholders),
    ):
        with pytest.raises(StashError, match="--secret token#7: the recording holds no such") as caught:
            refused()
        assert caught.value.hint == "it holds password#1"


@pytest.mark.parametrize(
    ("setting", "part"),
    [
        ("x", "no placeholder"),
        ("password=env:DB", "no placeholder of one secret"),
        ("password#1=DB", "does not say where"),
        ("password#1=file:/etc/passwd", "does not say where"),
        ("[REDACTED:password#1]=env:NOPE", "is not set"),
        ("password#1=env:SHORT", "fewer than 6"),
    ],
)
def test_a_malformed_secret_is_refused(setting: str, part: str) -> None:
    with pytest.raises(StashError, match=part):
        secrets_of([setting], {"DB": PASSWORD, "SHORT": "abc"})


def test_the_preview_says_what_is_served_what_goes_live_and_what_is_not_redone(tmp_path: Path) -> None:
    with recorded(tmp_path / "run.json") as server:
        speaker = Speaker(server)
        agent(speaker, RECORDED)
        speaker.call("tool", "vault", {"password": PASSWORD})
        speaker.post("http://mail.example.com/send", {}, {})
        speaker.call("tool", "rm", 0)
        speaker.post(CHAT, chat("end"), {})
    taped = open_recording(tmp_path / "run.json")
    branch = forked(taped, tmp_path / "fork.json", 6, override={"status": 200, "headers": {}, "body": {}})
    command = Command(("python", "agent.py", "a b"), tmp_path)
    assert preview(branch, command).lines() == [
        "runs: python agent.py 'a b'",
        "served from the recording: 2 clock, 2 llm, 2 tool, 1 http",
        "  the value of event 6 is the one put in by hand",
        "live after that, if the program does as in the parent:",
        "  tool  rm",
        "  llm  gpt-4o",
        "  hosts: api.example.com",
        "done before, and not done again (--rerun CHANNEL/KEY does it again):",
        "  tool  price",
        "  tool  vault",
        "  http  POST mail.example.com/send",
        "placeholders it may send out (--secret PLACEHOLDER=env:NAME fills one):",
        "  [REDACTED:password#1]  from event 5",
    ]
    tree = preview(branch, command, rerun=rerun_of(["tool/vault"])).to_json()
    assert tree["liveFrom"] == "parent" and tree["rerun"] == ["tool/vault"] and tree["placeholders"] == []
    (tmp_path / "run.json").unlink()
    lonely = preview(branch, command, filled={"[REDACTED:password#1]"}).to_json()
    assert lonely["liveFrom"] == "prefix" and lonely["placeholders"] == []
    assert lonely["hosts"] == ["api.example.com", "mail.example.com"]


def test_a_call_of_a_new_kind_before_the_point_is_no_live_call(taped: Recording, tmp_path: Path) -> None:
    branch = forked(taped, tmp_path / "fork.json", 2, override=99)
    run = continuing(branch, tmp_path / "new.json")
    with serving(run) as server:
        speaker = Speaker(server)
        speaker.value("clock", "time", 900.0, site="agent.py:1 main")
        answer = speaker.ask(op="call", channel="mail", key="send", input="all", site="agent.py:2 main")
    assert answer["stop"] is True and "unknown channel" in answer["error"]["message"]
    assert "seq 1" in answer["error"]["hint"] and "llm gpt-4o comes next" in answer["error"]["hint"]
    assert [row[0] for row in events(tmp_path / "new.json")] == ["clock"]
    (found,) = [one for one in run.report().divergences if one.kind == "extra-call"]
    assert (found.channel, found.nearest[0].seq, found.site) == ("mail", 1, "agent.py:2 main")


def test_calls_before_the_point_run_if_that_is_wished_and_are_reported(taped: Recording, tmp_path: Path) -> None:
    branch = forked(taped, tmp_path / "fork.json", 2, override=99)
    run = continuing(branch, tmp_path / "new.json", on_divergence="live")
    with serving(run) as server:
        speaker = Speaker(server)
        assert speaker.call("mail", "send", 1, input="all")["run"] is True
        assert speaker.call("tool", "price", -1, input="another")["run"] is True
        got = agent(speaker, LIVE)
    assert got == [{"value": 100.0}, '{"said": "recorded"}', -1, {"said": "live"}, {"live": 900.0}]
    report = run.report()
    found = [(one.kind, one.channel) for one in report.divergences]
    assert found == [("extra-call", "mail"), ("input-mismatch", "tool")]
    assert (report.matched, report.live) == (2, 5)


def test_a_program_that_loops_is_ended_after_so_many_live_calls(taped: Recording, tmp_path: Path) -> None:
    said: list[str] = []
    run = continuing(forked(taped, tmp_path / "fork.json", 1), tmp_path / "new.json", max_calls=3, said=said)
    with serving(run) as server:
        speaker = Speaker(server)
        agent(speaker, LIVE)
        answers = [speaker.call("tool", "again", 1, input=number) for number in range(3)]
    assert [answer.get("stop") for answer in answers] == [True, True, True]
    assert answers[0]["error"]["kind"] == "limit" and "--max-calls" in answers[0]["error"]["hint"]
    assert said == ["ended after 3 live calls, as many as --max-calls allows"] == list(run.report().notes)
    new = open_recording(tmp_path / "new.json")
    assert new.meta["continued"]["maxCalls"] == 3 and len(new.events) == 5
