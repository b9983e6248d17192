"""Two runs side by side: what is shown, where the next difference is, and both sides swapped."""

from __future__ import annotations

import pytest

from stashdbg_core.diff import diff_recordings
from stashdbg_core.session.comparison import KINDS, Comparison
from stashdbg_core.session.diff_blocks import is_quick, row_blocks, value_blocks
from tests.core.diff.made_runs import Call, recording_of, reread

ONE = [
    Call("load", {"order": 1}, {"id": 1}),
    Call("policy", {"name": "refunds"}, "thirty days\nsixty days for gold\nask a human"),
    Call("chat", {"say": "sixty days for gold"}, "pay 49.9 euros", channel="llm"),
    Call("mail", {"to": "ada"}, {"sent": True}),
    Call("now", None, 1),
]
OTHER = [
    Call("load", {"order": 1}, {"id": 1}),
    Call("policy", {"name": "refunds"}, "thirty days\nninety days for gold\nask a human"),
    Call("chat", {"say": "ninety days for gold"}, "pay 61.9 euros", channel="llm"),
    Call("audit", {"amount": "pay 61.9 euros"}, {"ok": True}, channel="http"),
    Call("now", None, 1),
]


def comparison_of(one=ONE, other=OTHER, *, start=0.0):
    a, b = recording_of(one, id="a"), recording_of(other, id="b", start=start)
    return Comparison(diff_recordings(a, b), ("a.json", "b.json"))


def texts(blocks, kind, side="left"):
    return [line.text for block in blocks if block.kind == kind for line in getattr(block, side)]


def test_it_opens_at_the_first_divergence_and_goes_along_differences():
    seen = comparison_of()
    kinds = [seen.kind(place) for place in range(seen.total)]
    assert sorted(kinds) == sorted(["same", "changed", "changed", "added", "removed", "same"])
    assert seen.kind(seen.cursor) == "changed" and seen.change_number() == 1
    visited = [seen.cursor]
    while seen.next_change(1) is None:
        visited.append(seen.cursor)
    assert [kinds[place] for place in visited] == [kind for kind in kinds if kind != "same"]
    assert seen.next_change(1) == "no later difference; 4 in all"
    assert seen.first_divergence() is None and seen.cursor == visited[0]
    assert seen.next_change(-1) == "no earlier difference; 4 in all"


def test_a_move_that_cannot_be_made_stays_and_says_why():
    seen = comparison_of()
    assert seen.edge(last=False) is None
    assert seen.step(-1) == "this is the first row" and seen.cursor == 0
    assert seen.edge(last=True) is None and seen.step(5) == "this is the last row"


@pytest.mark.parametrize("shown", ["changed", "added", "removed", "differences"])
def test_a_filter_shows_its_kind_and_keeps_the_cursor_near(shown):
    seen = comparison_of()
    assert seen.show(shown) is None
    kinds = {seen.kind(seen.place_of(line)) for line in range(len(seen))}
    assert kinds == ({"changed", "added", "removed"} if shown == "differences" else {shown})
    assert seen.place_of(seen.line_of(seen.cursor)) == seen.cursor


def test_a_filter_that_would_hide_all_is_refused():
    seen = comparison_of()
    assert seen.show("moved") == "no event moved"
    assert (seen.shown, len(seen)) == ("all", seen.total)


def test_going_to_a_hidden_row_brings_all_back():
    seen = comparison_of()
    seen.show("added")
    seen.go(0)
    assert seen.shown == "all" and seen.cursor == 0


def test_swapping_mirrors_everything_and_swapping_again_is_none():
    seen = comparison_of()
    before = [(seen.kind(at), seen.event(at, 0), seen.event(at, 1)) for at in range(seen.total)]
    counts = seen.counts
    seen.show("added")
    seen.swap()
    assert seen.shown == "removed" and seen.name(0) == "b.json"
    assert (seen.counts["added"], seen.counts["removed"]) == (counts["removed"], counts["added"])
    mirrored = {"added": "removed", "removed": "added"}
    after = [
        (mirrored.get(seen.kind(at), seen.kind(at)), seen.event(at, 1), seen.event(at, 0)) for at in range(seen.total)
    ]
    assert after == before
    blocks = row_blocks(seen.result, seen.row(seen.result.rows.index(seen.result.changed[0])), swapped=True)
    assert "ninety days for gold" in texts(blocks, "replaced") and "sixty days for gold" in texts(
        blocks, "replaced", "right"
    )
    seen.swap()
    assert [(seen.kind(at), seen.event(at, 0), seen.event(at, 1)) for at in range(seen.total)] == before


def test_only_times_differ():
    seen = comparison_of(ONE, ONE, start=99.0)
    assert seen.same and seen.counts["timing"] == len(ONE) and seen.first_divergence() == "nothing differs"
    assert seen.show("differences") == "no event differs"


def test_each_difference_says_where_it_comes_from():
    seen = comparison_of()
    assert seen.cause_lines(seen.cursor) == []
    seen.explain()
    assert "the earliest difference" in seen.cause_lines(seen.cursor)[0].text
    seen.next_change(1)
    assert seen.cause_lines(seen.cursor)[0].text.startswith("flows from event 1 tool policy: ")
    assert seen.source_of(seen.cursor) == seen.cause_lines(seen.cursor)[0].target == 1


def test_the_strip_has_the_weightiest_kind_of_each_stretch():
    seen = comparison_of()
    assert seen.densities(seen.total) == [seen.kind(place) for place in range(seen.total)]
    assert seen.densities(1) == ["changed"] and set(seen.densities(40)) <= set(KINDS)


def test_empty_recordings_can_be_looked_at():
    seen = comparison_of([], [])
    assert seen.same and len(seen) == 0 and seen.step(1) == "nothing to go to"
    seen.explain()


# Blocks


def blocks_at(one, other, **options):
    result = diff_recordings(recording_of([Call("k", 1, one)]), recording_of([Call("k", 1, other)]))
    return row_blocks(result, result.rows[0], **options)


def test_a_text_shows_its_changed_lines_with_context_and_words():
    lines = [f"line {number}" for number in range(40)]
    other = [*lines[:20], "line twenty", *lines[21:]]
    blocks = blocks_at("\n".join(lines), "\n".join(other), context=2)
    assert texts(blocks, "gap") == ["18 equal lines", "17 equal lines"]
    assert texts(blocks, "same") == ["line 18", "line 19", "line 21", "line 22"]
    (replaced,) = [block for block in blocks if block.kind == "replaced"]
    assert (replaced.left[0].number, replaced.left[0].spans, replaced.right[0].spans) == (21, ((5, 7),), ((5, 11),))


def test_equal_lines_are_numbered_by_their_own_side():
    blocks = blocks_at("b\nc", "a\nb\nc")
    same = next(block for block in blocks if block.kind == "same")
    assert [line.number for line in same.left] == [1, 2] and [line.number for line in same.right] == [2, 3]


def test_line_ends_alone_are_said_in_words():
    blocks = blocks_at("a\r\nb\r\n", "a\nb\n")
    assert texts(blocks, "note") == ["only line ends differ: 2 CRLF on the left, 0 on the right"]


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, True), (0.0, -0.0), (None, "null"), ([], {}), ("1", 1)])
def test_what_looks_alike_is_told_apart(one, other):
    blocks = blocks_at(one, other)
    assert texts(blocks, "replaced") != texts(blocks, "replaced", "right")


def test_a_huge_line_is_cut_around_what_differs():
    one = "x" * 3_000_000
    blocks = blocks_at(one + "old" + one, one + "new" + one)
    (left,), (right,) = texts(blocks, "replaced"), texts(blocks, "replaced", "right")
    assert "old" in left and "new" in right and len(left) < 10_000


def test_many_changes_are_counted_and_not_all_listed():
    blocks = blocks_at([{"n": n} for n in range(5000)], [{"n": -n - 1} for n in range(5000)])
    assert any("more changes" in text for text in texts(blocks, "note"))
    assert sum(len(block.left) for block in blocks) < 5000


def test_a_lone_event_shows_its_side_alone():
    seen = comparison_of()
    seen.show("added")
    blocks = row_blocks(seen.result, seen.row(seen.cursor))
    assert texts(blocks, "note") == ["only on the right"]
    assert texts(blocks, "replaced") == [] and '{"amount":"pay 61.9 euros"}' in texts(blocks, "replaced", "right")


def test_a_streamed_answer_is_compared_as_its_message():
    def stream(*pieces):
        chunks = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]
        return {"$stash": "stream", "kind": "sync", "chunks": chunks, "times": [0] * len(chunks), "ending": "exhausted"}

    blocks = blocks_at(stream("I ", "paid ", "10"), stream("I ", "paid ", "20", " now"))
    assert texts(blocks, "head") == ["value, the message streamed in 3 → 4 chunks"]
    assert texts(blocks, "replaced") == ["I paid 10"] and texts(blocks, "replaced", "right") == ["I paid 20 now"]
    blocks = blocks_at(stream("I ", "paid"), stream("I pa", "id"))
    assert any(text.startswith("value /chunks/0") for text in texts(blocks, "head"))


def test_deep_values_and_bytes_in_a_file_are_compared_too():
    deep = 1
    for _ in range(900):
        deep = [deep]
    a, b = reread(recording_of([Call("k", 1, [deep, 1])])), reread(recording_of([Call("k", 1, [deep, 2])]))
    result = diff_recordings(a, b)
    blocks = row_blocks(result, result.rows[0])
    assert texts(blocks, "head") == ["value /1"] and texts(blocks, "replaced") == ["1"]
    assert is_quick(result, result.rows[0]) and not is_quick(result, result.rows[0], most=10)


def test_two_values_as_a_whole():
    blocks = value_blocks({"a": [1, 2], "b": "x"}, {"a": [1, 3], "b": "x"})
    assert texts(blocks, "replaced") == ["    2"] and texts(blocks, "replaced", "right") == ["    3"]


def clocked(start, say):
    reads = [Call("now", None, start + at, "clock") for at in range(3)]
    return [reads[0], Call("chat", {"q": 1}, say, "llm"), reads[1], reads[2]]


def test_measured_values_are_folded_until_they_are_asked_for():
    seen = comparison_of(clocked(10, "yes"), clocked(70, "no"))
    assert seen.folded and seen.measured_words == "3 clock values differ: same places, other values"
    assert [seen.kind(seen.place_of(line)) for line in range(len(seen))] == ["changed"]
    assert (seen.change_count, seen.next_change(1)) == (1, "no later difference; 1 in all")
    assert seen.toggle_measured() is None and len(seen) == seen.change_count == 4
    assert seen.kind(seen.cursor) == "changed" and seen.change_number() == 2
    assert seen.next_change(1) is None and seen.kind(seen.cursor) == "measured"
    assert [line.text for line in seen.cause_lines(seen.cursor)] == [
        "a value that is read has no input: same place, another value"
    ]
    seen.toggle_measured()
    assert seen.kind(seen.cursor) == "changed"
    seen.go(0)
    assert not seen.folded and seen.cursor == 0
    assert seen.first_divergence() is None and seen.cursor == 1


def test_measured_values_are_shown_where_nothing_else_differs():
    seen = comparison_of(clocked(10, "yes"), clocked(70, "yes"))
    assert not seen.same and not seen.folded and (len(seen), seen.change_count) == (4, 3)
    assert seen.toggle_measured() == "nothing else differs"
    assert comparison_of(clocked(10, "yes"), clocked(10, "yes")).toggle_measured() == "no measured value differs"
    assert comparison_of().toggle_measured() == "dates and ids of calls that differ are shown"
