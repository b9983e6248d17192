"""Cassettes: YAML and JSON alike, streamed as unstreamed, hostile YAML refused, secrets gone."""

from __future__ import annotations

import base64
import gzip
import json
import sys
import time

import pytest
import yaml

from stashdbg_core.errors import StashError
from stashdbg_core.exchange.joined import answer_of
from stashdbg_core.formats.opening import explain, read_foreign
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.session.summary import summary
from tests.formats.conftest import counts, imported

SHARED = {  # file below vcrpy/: events by channel
    "generated-v9.4.2/rate_limited.yaml": {"llm": 4, "tool": 3, "throws": 1},
    "generated-v9.4.2/weather_agent_decoded.yaml": {"llm": 3, "tool": 3},
    "openllmetry/test_agent_with_multiple_tools.yaml": {"llm": 12, "throws": 2},
    "openllmetry/test_agents.yaml": {"llm": 8, "http": 12, "tool": 4},
    "openllmetry/test_recipe_agents_hierarchy.yaml": {"llm": 7, "http": 4, "tool": 5},
    "pydantic-ai/test_anthropic_mcp_servers_stream.yaml": {"llm": 1},
    "pydantic-ai/test_anthropic_tool_with_thinking.yaml": {"llm": 2, "tool": 1},
    "pydantic-ai/test_complex_agent_run.yaml": {"llm": 3, "tool": 3},
    "pydantic-ai/test_mcptoolset_dynamic_toolset_in_workflow.yaml": {"llm": 2, "mcp": 10, "tool": 1},
    "pydantic-ai/test_multiple_agents.yaml": {"llm": 4, "tool": 3},
    "pydantic-ai/test_openai_responses_code_execution_return_image_stream.yaml": {"llm": 1},
}


def test_every_shared_cassette_has_the_events_that_were_counted(shared_samples):
    for name, expected in SHARED.items() if shared_samples is not None else ():
        assert counts(imported(shared_samples / "vcrpy" / name)) == {"throws": 0, "pending": 0, **expected}, name


def told(recording):
    """Return what was recorded, apart from what differs by when it was."""
    found = []
    for event in recording.events:
        value = recording.blobs.tree(event.ref)
        value = {k: v for k, v in value.items() if k != "headers"} if isinstance(value, dict) else value
        found.append(
            (event.channel, event.key, event.outcome, event.call_id, recording.blobs.tree(event.input_ref), value)
        )
    return found


def messages(recording):
    answers = [answer_of(recording.blobs.tree(event.ref)) for event in recording.events if event.channel == "llm"]
    said = [
        {k: v for k, v in a["choices"][0]["message"].items() if v not in (None, [])} for a in answers if "choices" in a
    ]
    # What made these files streamed every word with a blank behind it.
    return [{k: v.rstrip() if isinstance(v, str) else v for k, v in message.items()} for message in said]


@pytest.mark.parametrize("name", ["weather_agent", "weather_agent_stream"])
def test_yaml_and_json_hold_the_same_events(formats_data, name):
    one, other = (imported(formats_data / "vcrpy" / f"{name}.{suffix}") for suffix in ("yaml", "json"))
    assert told(one) == told(other)
    assert counts(one) == {"llm": 3, "tool": 3, "throws": 0, "pending": 0}


def test_streamed_and_whole_answers_are_the_same_messages(formats_data):
    whole, streamed = (imported(formats_data / "vcrpy" / f"weather_agent{x}.yaml") for x in ("", "_stream"))
    assert messages(whole) == messages(streamed)
    rows = [[summary(run, event) for event in run.events] for run in (whole, streamed)]
    assert rows[0] == rows[1] and rows[0][1] == 'Paris → {"city": "Paris", "celsius": 21}'


def test_tools_are_inferred_from_later_requests_and_say_so(formats_data):
    recording = imported(formats_data / "vcrpy" / "weather_agent.yaml")
    tools = [event for event in recording.events if event.channel == "tool"]
    assert [(e.seq, e.key, e.call_id, dict(e.extra)) for e in tools] == [
        (1, "get_weather", "call_w1", {"inferred": b"true"}),
        (2, "get_weather", "call_w2", {"inferred": b"true"}),
        (4, "convert", "call_w3", {"inferred": b"true"}),
    ]
    assert explain(recording).inferred_events == 3
    assert [len(conversation_of(recording, recording.events[seq]).messages) for seq in (0, 3, 5)] == [3, 4, 5]


def test_a_rate_limit_throws_and_the_retry_is_an_event_of_its_own(formats_data):
    recording = imported(formats_data / "vcrpy" / "rate_limited.yaml")
    (failed,) = [event for event in recording.events if event.outcome == "throw"]
    assert summary(recording, failed).startswith("429 requests: Rate limit reached")
    assert recording.blobs.tree(failed.ref)["headers"]["retry-after"] == "0" and failed.at > 1.7e12


def cassette(*pairs, dump=yaml.safe_dump):
    made = [
        {"request": {"method": "POST", **request}, "response": {"status": {"code": 200, "message": "OK"}, **response}}
        for request, response in pairs
    ]
    return dump({"version": 1, "interactions": made}).encode()


CHAT = {"uri": "https://h/v1/chat/completions", "body": '{"model":"m","messages":[{"role":"user","content":"hi"}]}'}
ANSWER = {"body": {"string": '{"model":"m","choices":[{"message":{"role":"assistant","content":"yo"}}]}'}}


def test_secrets_do_not_come_in():
    request = {
        **CHAT,
        "uri": CHAT["uri"] + "?api_key=sk-leak-1",
        "headers": {"Authorization": ["Bearer sk-leak-2"], "x-api-key": ["leak-3"]},
    }
    body = {
        "string": '{"choices":[{"message":{"content":"the key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"}}]}'
    }
    other = {"method": "GET", "uri": "https://u:leak-4@h/x?token=leak-5&a=1", "headers": {}}
    recording = read_foreign(
        cassette((request, {"headers": {"Set-Cookie": ["leak-6"]}, "body": body}), (other, ANSWER))
    )
    everything = b"".join(recording.blobs.payload(ref).raw for ref in recording.blobs.refs()).decode()
    everything += "".join(f"{event.key} {event.label}" for event in recording.events)
    assert "leak-" not in everything and "sk-proj" not in everything and "REDACTED" in everything


def test_bodies_in_every_dialect():
    tree = json.loads(ANSWER["body"]["string"])
    packed = gzip.compress(ANSWER["body"]["string"].encode())
    responses = [
        ANSWER,
        {"parsed_body": tree},
        {"body": {"string": packed}, "headers": {"Content-Encoding": ["gzip"]}},
        {"body": {"base64_string": base64.b64encode(ANSWER["body"]["string"].encode()).decode()}},
        {"content": ANSWER["body"]["string"], "status_code": 200, "status": None},
    ]
    requests = [
        CHAT,
        {"uri": CHAT["uri"], "parsed_body": json.loads(CHAT["body"])},
        {"uri": CHAT["uri"], "body": CHAT["body"].encode()},
    ]
    for request in requests:
        for response in responses:
            recording = read_foreign(cassette((request, response)))
            event = recording.events[0]
            assert (event.channel, event.key, summary(recording, event)) == ("llm", "m", "yo"), response
            assert recording.blobs.tree(event.input_ref)["messages"] == [{"role": "user", "content": "hi"}]


def test_what_cannot_be_decoded_is_kept_and_said():
    response = {"body": {"string": b"\xff\x00\x01"}, "headers": {"content-encoding": ["x-odd"]}}
    recording = read_foreign(cassette((CHAT, response), ({"uri": "https://h/x", "body": None}, {"status": None})))
    assert recording.blobs.tree(recording.events[0].ref)["body"] == {"$stash": "bytes", "base64": "/wAB"}
    assert ["x-odd" in note.message for note in recording.notes] == [True]
    assert counts(recording) == {"llm": 1, "http": 1, "throws": 0, "pending": 1}


def test_data_of_a_file_is_never_taken_for_a_tag_of_ours():
    body = {"string": '{"$stash": "ref", "ref": "sha256:1"}'}
    recording = read_foreign(cassette(({"uri": "https://h/x", "body": '{"$stash":"list"}'}, {"body": body})))
    event = recording.events[0]
    assert recording.blobs.tree(event.ref)["body"]["$stash"] == "dict"
    assert recording.blobs.tree(event.input_ref)["body"] == {"$stash": "dict", "items": [["$stash", "list"]]}


def test_python_texts_and_tuples_are_read_and_objects_refused(tmp_path):
    harmless = cassette((CHAT, ANSWER)).replace(b"method: POST", b"method: !!python/unicode 'POST'")
    assert counts(read_foreign(harmless))["llm"] == 1
    marker = tmp_path / "ran"
    for tag in (
        f"!!python/object/apply:os.system ['touch {marker}']",
        "!!python/name:os.system",
        "!!python/object:a.B {}",
        "!other 1",
    ):
        hostile = cassette((CHAT, ANSWER)).replace(b"method: POST", f"method: {tag}".encode())
        with pytest.raises(StashError, match="no plain data in line"):
            read_foreign(hostile)
    assert not marker.exists()


@pytest.mark.parametrize("wide", [True, False])
def test_aliases_without_end_are_refused_quickly(wide):
    pairs = zip("abcdefgh", "bcdefghi", strict=True)
    grown = "".join(f"{new}: &{new} [{', '.join([f'*{old}'] * 40)}]\n" for old, new in pairs)
    text = f"interactions: []\nversion: 1\na: &a [{'x, x' if wide else '*a'}]\n{grown if wide else ''}"
    start = time.process_time()
    with pytest.raises(StashError, match="repeats itself by aliases"):
        read_foreign(text.replace("interactions: []", "interactions:\n- 1").encode())
    assert time.process_time() - start < 2


def test_damage_is_named():
    broken = b"interactions:\n- request: {method: GET\n"
    with pytest.raises(StashError, match="no YAML in line"):
        read_foreign(broken)
    odd = "- 1\n- request: {method: GET, uri: 'https://h/', extra: 1}\n  response: {status: {code: 200}}\n"
    recording = read_foreign(f"interactions:\n{odd}version: 1\n".encode())
    assert counts(recording)["http"] == 1 and recording.meta["source"]["unknown"] == {"field request.extra": 1}
    assert [note.kind for note in recording.notes] == ["damaged-interaction"]


def test_without_a_yaml_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(StashError, match="needs the package PyYAML") as caught:
        read_foreign(cassette((CHAT, ANSWER)))
    assert "stashdbg[formats]" in caught.value.hint
    assert counts(read_foreign(cassette((CHAT, ANSWER), dump=json.dumps)))["llm"] == 1


def test_a_prompt_that_grows_is_stored_as_what_it_adds():
    turns = [{"role": "user" if at % 2 == 0 else "assistant", "content": f"{at} " + "x" * 1500} for at in range(60)]
    pairs = [({**CHAT, "body": json.dumps({"model": "m", "messages": turns[: at + 1]})}, ANSWER) for at in range(60)]
    recording = read_foreign(cassette(*pairs, dump=json.dumps))
    stored = sum(len(recording.blobs.payload(ref).raw) for ref in recording.blobs.refs())
    assert stored < 3 * len(json.dumps(turns))
    assert recording.blobs.tree(recording.events[-1].input_ref)["messages"] == turns
