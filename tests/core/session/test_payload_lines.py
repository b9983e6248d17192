"""JSON text laid out for reading: what a person sees, for any text, at any size."""

from __future__ import annotations

import base64
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.session.payload_lines import PIECE, PayloadLines


def shown(text: str) -> list[str]:
    lines = PayloadLines(text)
    lines.extend(10**9)
    assert lines.complete
    marks = {"": "", "line": "| ", "more": "> "}
    out = []
    for index in range(lines.count):
        line = lines.line(index)
        out.append("  " * line.depth + marks[line.gutter] + "".join(token for token, _ in line.tokens))
    return out


def test_objects_read_without_noise():
    value = {
        "role": "assistant",
        "content": None,
        "calls": [{"id": "a", "long enough": "x" * 80}],
        "empty": [],
        "odd key!": True,
    }
    assert shown(json.dumps(value)) == [
        "{",
        '  role: "assistant"',
        "  content: null",
        "  calls: [",
        "    {",
        '      id: "a"',
        f'      "long enough": "{"x" * 80}"',
        "    }",
        "  ]",
        "  empty: []",
        '  "odd key!": true',
        "}",
    ]


def test_a_text_stands_as_its_lines_and_crlf_is_a_line_end():
    text = json.dumps({"t": "one\ntwo\r\n\nfour\rfive"})
    assert shown(text) == ["{", "  t: ", "    | one", "    | two", "    | ", "    | four\rfive", "}"]
    lines = PayloadLines(text)
    lines.extend(100)
    assert lines.has_crlf


def test_short_flat_values_share_a_line_and_numbers_are_packed():
    assert shown('{"a":1,"b":[true,null]}') == ["{", "  a: 1", "  b: [true, null]", "}"]
    assert shown('[{"a": 1, "b": "x"}, {}]') == ["[", '  {a: 1, b: "x"}', "  {}", "]"]
    assert shown('{"a": {"b": 1}}') == ["{", "  a: {b: 1}", "}"]
    embedding = shown(json.dumps([0.125] * 1000))
    assert len(embedding) < 110
    assert "".join(embedding).count("0.125") == 1000


def test_numbers_stay_as_spelled_and_escapes_are_read():
    assert shown("[1.0, 1e400, -0.0, 12345678901234567890123]") == ["[1.0, 1e400, -0.0, 12345678901234567890123]"]
    assert shown(r'"\u00e9\ud83d\ude00\\n\t"') == ['"é😀\\n\t"']


def test_tags_are_told_apart():
    lines = PayloadLines('{"$stash":"tuple","items":[]}')
    lines.extend(2)
    assert ('"$stash"', "tag") in lines.line(1).tokens
    assert ('"tuple"', "tag") in lines.line(1).tokens


def test_a_tagged_value_without_parts_is_read_as_what_it_stands_for():
    tree = {
        "id": {"$stash": "uuid", "value": "00000000-0000-0000-0000-000000000005"},
        "items": [{"$stash": "bytes", "base64": "aGVsbG8KaGVsbG8="}, {"$stash": "decimal", "value": "1.50"}, 3],
    }
    assert shown(json.dumps(tree)) == [
        "{",
        "  id: 00000000-0000-0000-0000-000000000005  uuid",
        "  items: [",
        "    11 B  bytes",
        "      0000  68 65 6c 6c 6f 0a 68 65  hello·he",
        "      0008  6c 6c 6f                 llo",
        "    1.50  decimal",
        "    3",
        "  ]",
        "}",
    ]


def test_every_line_of_a_tagged_value_belongs_to_its_field():
    lines = PayloadLines('{"a":[1,{"$stash":"bytes","base64":"aGVsbG8KaGVsbG8="},{"$stash":"uuid","value":"u"}],"b":0}')
    lines.extend(20)
    pointers = [lines.pointer(line) for line in range(lines.count)]
    assert pointers == ["", "/a", "/a/0", "/a/1", "/a/1", "/a/1", "/a/2", "/a", "/b", ""]


def test_many_bytes_show_their_head_and_bytes_cut_off_what_there_is():
    whole = shown(json.dumps({"$stash": "bytes", "base64": base64.b64encode(bytes(5000)).decode()}))
    assert (whole[0], len(whole), whole[-1].strip()) == ("5.0 kB  bytes", 18, "… 4.9 kB more")
    cut = PayloadLines('{"$stash":"bytes","base64":"' + "QUJD" * 100 + "QU", omitted=9000)
    cut.extend(50)
    assert cut.complete
    assert cut.line(0).tokens[0] == ("300 B and more", "number")
    assert "saves all of it" in cut.line(cut.count - 1).tokens[0][0]


@pytest.mark.parametrize(
    "tree",
    [
        {"$stash": "uuid"},
        {"$stash": "uuid", "value": 5},
        {"$stash": "uuid", "value": "u", "other": 1},
        {"$stash": "bytes", "base64": "a"},
        {"$stash": "bytes", "base64": "äöü="},
        {"$stash": "timedelta", "days": 1e300, "seconds": 0, "microseconds": 0},
        {"$stash": "of-tomorrow", "value": "u"},
    ],
)
def test_what_is_not_what_its_tag_says_is_the_object_it_is(tree):
    assert shown(json.dumps(tree, ensure_ascii=False))[1].strip() == f'"$stash": "{tree["$stash"]}"'


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "[",
        '"',
        '"\\',
        '"\\u12',
        '{"a',
        '{"a"',
        '{"a":',
        '{"a":1,',
        "]]]",
        "}{",
        ":",
        ",,,",
        "nul",
        "\\",
        '{"a":NaN}',
        "\x00",
    ],
)
def test_a_cut_or_broken_text_reads_as_far_as_it_goes(text):
    assert "".join(shown(text)).strip() or not text.strip(' ,"')


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet='{}[]",:\\nu01ad \n\t"é😀x', max_size=200))
def test_no_text_loops_or_breaks_and_nothing_is_lost(text):
    kept = "".join(shown(text))
    for sign in "é😀":
        assert kept.count(sign) == text.count(sign)


trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=200),
    lambda t: st.lists(t) | st.dictionaries(st.text(), t),
    max_leaves=20,
)


@settings(max_examples=100, deadline=None)
@given(trees)
def test_every_text_of_a_value_is_shown_whole(tree):
    leaves = []

    def walk(node):
        if isinstance(node, str):
            leaves.append(node)
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            walk(child)

    walk(tree)
    seen = "\n".join(shown(json.dumps(tree, ensure_ascii=False)))
    for leaf in leaves:
        assert all(part in seen for part in leaf.replace("\r\n", "\n").split("\n"))


@pytest.mark.parametrize(
    "text",
    [
        '"' + "A" * 4_000_000 + '"',
        json.dumps([f"line {n}" for n in range(200_000)]),
        '{"a":' * 800_000,
        "9" * 4_000_000,
        json.dumps("short\n" * 600_000),
        '"' + "\\" * 3_999_999,
        '{"' + "k" * 4_000_000 + '":1}',
    ],
    ids=["one-string", "many-lines", "deep", "digits", "text", "backslashes", "key"],
)
def test_the_first_screen_of_megabytes_is_quick_and_every_line_is_bounded(text):
    start = time.process_time()
    lines = PayloadLines(text)
    lines.extend(200)
    for index in range(min(lines.count, 60)):
        assert sum(len(token) for token, _ in lines.line(index).tokens) <= 4 * PIECE
    assert time.process_time() - start < 3


def test_what_is_left_out_is_named():
    lines = PayloadLines('"abc', omitted=30_000_000)
    lines.extend(100)
    assert lines.line(lines.count - 1).tokens[0][0] == "… 30 MB more, :write FILE saves all of it"


def test_deep_nesting_costs_no_stack():
    text = "[" * 100_000 + "]" * 100_000
    lines = PayloadLines(text)
    lines.extend(10**9)
    assert max(lines.line(index).depth for index in range(0, lines.count, 500)) > 90_000


def test_every_line_knows_its_field():
    tree = {"a": {"b": [1, 2, {"x y": "line\nline2"}, "t\nu", "v\nw", [["deep " * 20]]], "c/d": "~"}, "e": "x\ny"}
    lines = PayloadLines(json.dumps(tree))
    lines.extend(100)
    found = {lines.pointer(index) for index in range(lines.count)}
    assert {"", "/a/b", "/a/b/2/x y", "/a/b/3", "/a/b/4", "/a/b/5/0", "/a/c~1d", "/e"} <= found
    assert lines.pointer(lines.count - 1) == ""


def test_the_rest_of_a_cut_value_has_no_field():
    lines = PayloadLines('{"a": [1, 2', omitted=100)
    lines.extend(100)
    assert lines.pointer(lines.count - 1) is None
