"""Search, origin and last: where a text or a field stands, and where it came from."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stashdbg_core.errors import StashError
from stashdbg_core.session.last_change import last_change_steps
from stashdbg_core.session.pattern_word import required_word
from stashdbg_core.session.payload_match import PayloadMatch, texts_of
from stashdbg_core.session.pointers import ABSENT, pointer_of, resolve
from stashdbg_core.session.search import Search, origin_steps, search_match
from stashdbg_core.session.tasks import Task
from stashdbg_core.store.open import open_recording


def find(recording, text):
    return [(hit.seq, hit.part, hit.pointer) for hit in Task(Search(recording, text).steps()).run()]


def test_hits_come_in_order_with_their_place(make_run):
    recording = make_run(
        [
            {
                "key": "find paris",
                "label": "Paris again",
                "input": {"city": "paris"},
                "value": ["London", "in Paris/France"],
            },
            {"key": "k", "value": {"a/b": {"~paris": 1}}},
        ]
    )
    assert find(recording, "paris") == [
        (0, "key", ""),
        (0, "label", ""),
        (0, "input", "/city"),
        (0, "value", "/1"),
        (1, "value", "/a~1b/~0paris"),
    ]
    hit = Search(recording, "France")
    first = Task(hit.steps()).run()[0]
    assert first.text[first.start : first.start + first.length] == "France"
    assert first.to_json() == {"seq": 0, "part": "value", "pointer": "/1", "text": "in Paris/France"}


@pytest.mark.parametrize(
    "text", ["(", "[", "\\", "*", "a{999999}", '"', "'", "😀", "[/INST]", "\x1b[2J", "-", "a or b", "x:y"]
)
def test_every_character_stands_for_itself(make_run, text):
    recording = make_run([{"value": f"before {text} after"}, {"value": "other words"}])
    assert find(recording, text)[0] == (0, "value", "")


@pytest.mark.parametrize("text", ["/(/", "", "/[/", "x" * 1_000_000])
def test_what_cannot_be_looked_for_is_refused_in_words(make_run, text):
    with pytest.raises(StashError) as caught:
        Search(make_run([{"value": 1}]), text)
    assert caught.value.code == "ERR_INVALID_INPUT"
    assert len(caught.value.message) < 300


def test_a_search_works_in_slices_and_can_be_cancelled(make_run):
    recording = make_run([{"value": f"text {n}"} for n in range(3000)])
    search = Search(recording, "text")
    task = Task(search.steps())
    assert not task.work(0)
    assert 0 < search.scanned < 3000
    assert len(search.hits) == search.scanned
    task.cancel()
    assert task.work(1000)
    assert len(search.hits) < 3000


def test_a_search_stops_at_its_most_and_says_so(make_run):
    search = Search(make_run([{"value": "x y"}] * 10), "x y")
    assert len(Task(search.steps(3)).run()) == 3
    assert search.truncated


def test_a_catastrophic_pattern_ends_the_search_with_a_message(make_run):
    search = Search(make_run([{"value": "ab"}, {"value": "a" * 1_000_000}]), "/(a+)+b?$x|ab/")
    with pytest.raises(StashError, match="given up"):
        Task(search.steps()).run()
    assert [hit.seq for hit in search.hits] == [0]


def test_the_origin_is_the_first_place_and_inputs_come_before_values(make_run):
    recording = make_run([{"value": "none"}, {"input": "the secret", "value": "secret"}, {"value": "secret"}])
    origin = Task(origin_steps(recording, "secret")).run()
    assert (origin.seq, origin.part) == (1, "input")
    assert Task(origin_steps(recording, "nowhere")).run() is None
    spelled = make_run([{"value": "secret"}, {"value": "match /sec.*/ here"}])
    assert Task(origin_steps(spelled, "/sec.*/")).run().seq == 1


def last(recording, position, pointer, part="value"):
    return Task(last_change_steps(recording, position, part, pointer)).run()


def test_last_is_the_call_that_gave_a_field_its_value(make_run):
    recording = make_run(
        [
            {"channel": "state", "key": "s", "value": {"n": 1, "same": [1]}},
            {"channel": "state", "key": "s", "value": {"n": 2, "same": [1]}},
            {"channel": "state", "key": "other", "value": {"n": 9}},
            {"channel": "state", "key": "s", "value": {"n": 2, "same": [1], "new": None}},
        ]
    )
    n = last(recording, 3, "/n")
    assert (n.seq, n.before, n.after, n.previous, n.unchanged) == (1, 1, 2, 0, 1)
    same = last(recording, 3, "/same")
    assert (same.seq, same.before, same.previous) == (0, ABSENT, None)
    new = last(recording, 3, "/new")
    assert (new.seq, new.before, new.after, new.previous) == (3, ABSENT, None, 1)
    assert n.words(moved=True) == "/n changed from 1 to 2, in event 1"
    assert same.words(moved=True) == "/same is [1] from the first call on, in event 0"
    assert new.words(moved=False) == "/new was set, to null, by this very call"
    assert last(recording, 3, "/missing").after is ABSENT
    assert last(recording, 3, "", part="input") is None


def test_equal_numbers_of_another_type_are_a_change(make_run):
    recording = make_run([{"value": {"n": 1}}, {"value": {"n": 1.0}}, {"value": {"n": True}}])
    assert [last(recording, position, "/n").seq for position in (2, 1, 0)] == [2, 1, 0]


def test_a_call_that_threw_says_nothing_about_the_value(make_run):
    error = {"$stash": "exception", "class": "builtins:ValueError", "text": "no"}
    recording = make_run([{"value": {"n": 1}}, {"value": error, "outcome": "throw"}, {"value": {"n": 1}}])
    assert last(recording, 2, "/n").seq == 0


def test_a_pointer_that_is_none_is_refused(make_run):
    with pytest.raises(StashError, match="not a JSON pointer"):
        last(make_run([{"value": 1}]), 0, "n")


def test_pointers_resolve_what_they_name():
    tree = {"a/b": [{"~": 1}], "": {"01": 2}}
    assert pointer_of(["a/b", 0, "~"]) == "/a~1b/0/~0"
    assert (resolve(tree, "/a~1b/0/~0"), resolve(tree, "//01"), resolve(tree, "")) == (1, 2, tree)
    for wrong in ("/a~1b/00", "/a~1b/1", "/a~1b/-1", "/a~1b/²", "/x", "/a~1b/0/~0/x"):
        assert resolve(tree, wrong) is ABSENT


WORDS = ["needle", "Needle", "Nee", "dle", "\n", "\\", '"', "/", "é", "\u212a", "\x1b", "0", "b", ",", ":", " "]


def spelled(text: str, how: str) -> bytes:
    """JSON text of a string, with some characters spelled as no writer of ours does."""
    plain = json.dumps(text, ensure_ascii=how == "ascii")
    if how == "escaped":
        plain = '"' + "".join(f"\\u{ord(c):04x}" if ord(c) < 65536 else c for c in text) + '"'
    return plain.replace("/", "\\/").encode() if how == "slashes" else plain.encode()


FILLERS = 3
MANY = FILLERS + 11


def opened_large(tmp_path, texts, hows):
    """A file that is gone through in blocks: a few values behind and between megabytes of others."""
    values = [b"[%b,1]" % spelled(text, how) for text, how in zip(texts, hows, strict=True)]
    for at in range(0, 4 * FILLERS, 4):
        values.insert(at, b'["%b"]' % (b"~" * 2_100_000))
    events = [
        b'{"seq":%d,"channel":"c","key":"k","ordinal":0,"outcome":"return","ref":"v%d"}' % (n, n) for n in range(MANY)
    ]
    blobs = [b'"v%d":%b' % (n, value) for n, value in enumerate(values)]
    path = tmp_path / "run.json"
    parts = [b'{"version":1,"id":"r","events":[\n', b",\n".join(events), b'\n],"blobs":{\n', b",\n".join(blobs)]
    path.write_bytes(b"".join(parts) + b'\n},"meta":{}}\n')
    return open_recording(path)


@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map("".join), min_size=11, max_size=11),
    hows=st.lists(st.sampled_from(["utf-8", "ascii", "escaped", "slashes"]), min_size=11, max_size=11),
    wanted=st.sampled_from(
        ["needle", "Needle", "e", "n", "0", "001b", "/", "é", '"', "\\", "\n", "dle/", "needle\n", ", ", "/Nee.?dle/",
         "/needle/i", "/(?:x|Needle)dle*/", "/needle|x/", "k", "1"]
    ),
)  # fmt: skip
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_large_file_gone_through_in_blocks_gives_what_reading_every_value_does(tmp_path, texts, hows, wanted):
    recording = opened_large(tmp_path, texts, hows)
    match = search_match(wanted)
    trees = [recording.blobs.tree(f"v{n}") for n in range(MANY)]
    expected = [n for n, tree in enumerate(trees) if any(map(match.within, texts_of(tree)))]
    payloads = PayloadMatch(recording, match)
    for _ in range(2):
        for _ in payloads.prepare():
            pass
        mask = payloads.possible("value", 0, b"\1" * MANY)
        assert match.needle is None or not mask[4]
        assert [n for n in range(MANY) if mask[n] and payloads.at(n, "value")] == expected
        payloads = PayloadMatch(recording, match)  # a second one knows from the first what else to look for


@pytest.mark.parametrize(
    ("pattern", "flags", "word"),
    [
        ("Quad[a-z]+tic", "", "Quad"),
        ("colou?r", "", "colo"),
        ("abcd|wxyz", "", None),
        ("(abcd|wxyz)quadr", "", "quadr"),
        ("(?i)quad", "", None),
        ("(?x)quad # c", "", None),
        (r"\x41quad", "", None),
        (r"\bquad\b", "", "quad"),
        ("quad{e<=1}", "", None),
        ("[[:alpha:]]quad", "", None),
        ("(?!quad)(?<=quad)q", "", None),
        ("king of parts", "i", "part"),
        ("true", "", None),
        ("12345", "", None),
        ("(quad)*", "", None),
        (r"\p{Lu}quad", "", None),
    ],
)
def test_the_word_that_a_pattern_needs_is_told_only_where_it_is_plain(pattern, flags, word):
    assert required_word(pattern, "i" in flags) == word


def test_a_search_can_be_stopped_among_many_hits_wherever_they_stand(make_run):
    recording = make_run([{"value": "word" if n % 2 else "other"} for n in range(1000)])
    steps = Search(recording, "word").steps()
    assert sum(1 for _ in steps) > 500 // 32


def test_an_ascii_text_is_found_in_ascii_case_alone_wherever_it_is_looked_for(make_run):
    recording = make_run(
        [{"value": "300 \u212a"}, {"value": "300 K"}, {"value": "é K"}, {"label": "\u212a", "value": 1}]
    )
    assert [seq for seq, part, _ in find(recording, "k") if part != "key"] == [1, 2]
