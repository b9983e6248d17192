"""Which events a query finds."""

from __future__ import annotations

import json
import re

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.session.expressions import parse_columns
from stashdbg_core.session.predicate import Predicate
from stashdbg_core.session.query_operators import FLAGS, OPERATORS
from stashdbg_core.session.tasks import Task
from stashdbg_core.session.view import view_steps
from stashdbg_core.store.stats import recording_stats

ERROR = {"$stash": "exception", "class": "builtins:ValueError", "text": "bad Amount"}


@pytest.fixture
def rows(pending):
    hi = {"text": 'Say "hi"\n\\ to Zoë'}
    stream = {"$stash": "stream", "kind": "sync", "chunks": ["a", "b"]}
    search = {"channel": "tool", "key": "search", "value": [1.5, 250, True, None], "input": "paris, texas"}
    failed = {"channel": "tool", "key": "search-more", "value": ERROR, "outcome": "throw"}
    return [
        {"channel": "llm", "key": "chat", "value": hi, "input": {"q": "Paris"}, "ms": 5.0, "at": 1e12},
        {**search, "ms": 1500.0, "at": 1e12 + 2000},
        {**failed, "thread": "lane (1)", "site": "agent.py:42 plan"},
        {"channel": "tool", "key": "slow", "value": pending, "label": "second try"},
        {"channel": "state", "key": "desk", "value": stream},
        search,
    ]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [0, 1, 2, 3, 4, 5]),
        ("channel:llm", [0]),
        ("channel:LLM", []),
        ("key:search", [1, 5]),
        ("key:search*", [1, 2, 5]),
        ("key:*more", [2]),
        ("-channel:tool", [0, 4]),
        ("not not channel:llm", [0]),
        ("outcome:throw", [2, 3]),
        ("outcome:threw", [2, 3]),
        ("is:error", [2]),
        ("is:pending", [3]),
        ("is:stream", [4]),
        ("is:damaged", []),
        ("is:marked", []),
        ("seq:1-3", [1, 2, 3]),
        ("seq:2", [2]),
        ("seq:>3", [4, 5]),
        ("seq:<=1", [0, 1]),
        ("ms:>5", [1]),
        ("ms:>=5", [0, 1]),
        ("ms:1s-2s", [1]),
        ("at:>+1s", [1]),
        ("at:<=+00:02", [0, 1]),
        ("at:2001-09-09", [0, 1]),
        ("at:2001-09-09T01:46:42", [1]),
        ('thread:"lane (1)"', [2]),
        ('thread:""', [0, 1, 3, 4, 5]),
        ("label:second", [3]),
        ("site:agent.py:42", [2]),
        ("paris", [0, 1, 5]),
        ("Paris", [0]),
        ("input:paris value:250", [1, 5]),
        ("value:250 seq:<3", [1]),
        ("value:amount", [2]),
        ("value:/^bad A/", [2]),
        ("value:/BAD/i", [2]),
        ("input:par*texas", [1, 5]),
        ('"Say \\"hi\\""', [0]),
        ("value:\\", [0]),
        ("zoë", [0]),
        ("value:ZOË", []),
        ("value:true", [1, 5]),
        ('"250,true"', []),
        ("channel:llm or channel:state", [0, 4]),
        ("tool (seq:1 or seq:2)", [1, 2]),
        ("search -is:error", [1, 5]),
        ("stash", [2, 3, 4]),
    ],
)
def test_a_query_finds_its_events(make_run, rows, query, found):
    recording = make_run(rows)
    predicate = Predicate(query, recording)
    assert list(predicate.positions()) == found
    assert [index for index in range(len(rows)) if predicate.matches(index)] == found


@pytest.mark.parametrize(
    "example", [operator.example for operator in OPERATORS] + [f"is:{flag.name}" for flag in FLAGS]
)
def test_every_example_of_the_table_is_answered(make_run, rows, example):
    predicate = Predicate(example, make_run(rows))
    assert list(predicate.positions()) == [index for index in range(len(rows)) if predicate.matches(index)]


def test_a_text_in_a_shared_piece_is_found_in_every_value_that_uses_it(make_run):
    messages = [{"role": "user", "content": f"message {n} " + "x" * 1500} for n in range(8)]
    rows = [{"channel": "llm", "value": n, "input": {"messages": messages[: n + 1]}} for n in range(8)]
    recording = make_run(rows)
    assert list(Predicate("input:/message 3/", recording).positions()) == [3, 4, 5, 6, 7]
    assert list(Predicate('"message 3"', recording).positions()) == [3, 4, 5, 6, 7]
    assert list(Predicate("sha256", recording).positions()) == []
    assert list(Predicate("parts", recording).positions()) == []


def test_escapes_of_another_writer_do_not_hide_a_text():
    text = (
        '{"version":1,"id":"x","events":[{"seq":0,"channel":"a","key":"k","ordinal":0,"outcome":"return","ref":"r"}],'
        '"blobs":{"r":{"t":"caf\\u00e9 a\\/b"}},"meta":{}}'
    )
    recording = read_recording_of(text)
    assert list(Predicate("café", recording).positions()) == [0]
    assert list(Predicate('"a/b"', recording).positions()) == [0]


def read_recording_of(text):
    from stashdbg_core.store.open import read_recording

    return read_recording(text.encode())


@pytest.mark.parametrize(
    "respell",
    [
        lambda text: json.dumps(json.loads(text), indent=1),
        lambda text: json.dumps(json.loads(text), separators=(" , ", " : ")),
        lambda text: re.sub(r'"\$stash":"(ref|list|stream)"', r'"\\u0024stash":"\1"', text),
        lambda text: text.replace('"$stash":"ref"', '"$stash":"r\\u0065f"'),
        lambda text: re.sub(r'{"\$stash":"ref",("ref":"[^"]*")}', r'{\1,"$stash":"ref"}', text),
    ],
    ids=["indented", "blanks", "escaped", "escaped letter", "another order"],
)
def test_another_spelling_does_not_hide_shared_pieces_and_streams(respell):
    content = "n" * 1500
    first = [{"c": {"$stash": "ref", "ref": "piece"}}]
    blobs = {
        "piece": content,
        "first": first,
        "second": {"$stash": "list", "parts": ["first"], "items": [{"c": "later"}]},
        "stream": {"$stash": "stream", "kind": "sync", "chunks": [1], "times": [1], "ending": "exhausted"},
    }
    calls = [("first", "stream"), ("second", "first")]
    events = [
        {"seq": seq, "channel": "c", "key": "k", "ordinal": seq, "outcome": "return", "ref": ref, "inputRef": given}
        for seq, (given, ref) in enumerate(calls)
    ]
    tree = {"version": 1, "id": "x", "events": events, "blobs": blobs, "meta": {}}
    recording = read_recording_of(respell(json.dumps(tree, separators=(",", ":"))))
    found = {
        query: list(Predicate(query, recording).positions()) for query in ("input:nnn", "input:later", "is:stream")
    }
    assert found == {"input:nnn": [0, 1], "input:later": [1], "is:stream": [0]}
    assert recording_stats(recording).whole_bytes > 3 * 1500


def test_the_tags_of_shared_pieces_say_nothing(make_run):
    messages = [{"content": f"{n}" + "x" * 1500} for n in range(3)]
    recording = make_run([{"channel": "llm", "value": n, "input": messages[: n + 1]} for n in range(3)])
    for word in ("null", "items", "list", "parts", "/ref/", "stash"):
        assert list(Predicate(word, recording).positions()) == [], word


def test_a_number_is_found_as_it_is_stored_and_shown(make_run):
    recording = make_run([{"value": 1e22}, {"value": 2.5e-7}])
    for query in ("1e22", "/^1e22$/", "value:2.5e-7"):
        assert len(list(Predicate(query, recording).positions())) == 1, query


def test_a_piece_within_itself_ends():
    tag = '{"$stash":"ref","ref":"%s"}'
    text = (
        '{"version":1,"id":"x","events":[{"seq":0,"channel":"c","key":"k","ordinal":0,"outcome":"return","ref":"r"}],'
        f'"blobs":{{"r":[{tag % "q"}],"q":[{tag % "r"},"needle"]}},"meta":{{}}}}'
    )
    recording = read_recording_of(text)
    assert list(Predicate("needle", recording).positions()) == [0]
    assert list(Predicate("other", recording).positions()) == []


def test_a_catastrophic_pattern_is_given_up_with_a_message(make_run):
    recording = make_run([{"value": "a" * 1_000_000}])
    with pytest.raises(StashError, match=r"given up after .* s on one text of 1,000,000 characters"):
        list(Predicate("value:/(a+)+$x/", recording).positions())


def test_a_large_file_gives_the_same_whether_swept_or_not(make_run):
    rows = [{"channel": f"c{n % 3}", "key": "k", "value": {"n": n, "text": f"Value {n} of many"}} for n in range(9000)]
    recording = make_run(rows)
    wanted = [n for n in range(9000) if "77" in str(n)]
    assert list(Predicate("value:77", recording).positions()) == wanted
    assert list(Predicate("value:77 channel:c0", recording).positions()) == [n for n in wanted if n % 3 == 0]
    assert len(list(Predicate("value:value -value:Value", recording).positions())) == 0


def test_a_view_maps_rows_and_events_both_ways(make_run, rows):
    view = Task(view_steps(make_run(rows), "channel:tool")).run()
    assert list(view.positions) == [1, 2, 3, 5]
    assert (view.hidden, view.shows(4), view.shows(5)) == (2, False, True)


def test_a_view_inverts_and_hides_repeats(make_run):
    rows = [{"key": "poll", "value": "wait"}] * 3 + [{"key": "poll", "value": "done"}, {"key": "poll", "value": "wait"}]
    recording = make_run(rows)
    assert list(Task(view_steps(recording, "", hides_repeats=True)).run().positions) == [0, 3, 4]
    assert list(Task(view_steps(recording, "wait", inverted=True)).run().positions) == [3]
    assert list(Task(view_steps(recording, "", inverted=True)).run().positions) == []


def test_columns_are_named_expressions_that_never_fail_on_data(make_run, rows):
    recording = make_run(rows)
    names, length, whole = parse_columns(["n=event.channel", "many=length(value)", "value[1]"])
    assert [names.of(recording, event) for event in recording.events[:2]] == ["llm", "tool"]
    assert [length.of(recording, event) for event in recording.events[:2]] == [1, 4]
    assert (whole.name, whole.of(recording, recording.events[1]), whole.of(recording, recording.events[0])) == (
        "value[1]",
        250,
        None,
    )


@pytest.mark.parametrize("expression", ["a[", "", "n=", "[" * 3000, "value.(", "n==="])
def test_an_expression_that_is_none_is_refused(expression):
    with pytest.raises(StashError) as caught:
        parse_columns([expression])
    assert caught.value.code == "ERR_INVALID_INPUT"
