"""Every verb in both directions, with a reason where it is refused."""

from __future__ import annotations

from typing import get_args

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.session.debugger import Debugger, Verb, quoted
from stashdbg_core.session.last_change import last_change_steps
from stashdbg_core.session.search import origin_steps
from stashdbg_core.session.session import Move
from stashdbg_core.session.tasks import Task
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.open import open_recording

ERROR = {"$stash": "exception", "class": "builtins:ValueError", "text": "no"}


@pytest.fixture
def rows(pending):
    return [
        {"channel": "llm", "key": "chat", "value": "a", "site": "a.py:1 f"},
        {"channel": "tool", "key": "t", "value": ERROR, "outcome": "throw", "site": "a.py:9 g"},
        {"channel": "state", "key": "s", "value": {"n": 1, "m": 1}},
        {"channel": "tool", "key": "inner", "value": 1, "parent": 1, "thread": "w"},
        {"channel": "llm", "key": "chat", "value": "b", "site": "a.py:2 f"},
        {"channel": "state", "key": "s", "value": {"n": 1, "m": 2}},
        {"channel": "tool", "key": "t", "value": 2, "site": "a.py:9 g"},
        {"channel": "state", "key": "s", "value": {"n": 2, "m": 2}},
        {"channel": "tool", "key": "u", "value": pending, "site": "a.py:9 g"},
        {"channel": "tool", "key": "t", "value": ERROR, "outcome": "throw"},
    ]


@pytest.fixture
def debugger(make_run, rows):
    return Debugger(make_run(rows))


def tour(debugger, verb, forward=True):
    """Go on until refused; return where the moves ended and the refusal."""
    places = []
    while True:
        move = debugger.go(verb, forward=forward).run()
        if not move.made:
            return places, move.reason
        places.append(move.position)


@pytest.mark.parametrize(
    ("verb", "start", "places", "reason"),
    [
        ("error", 0, [1, 9], "no later error"),
        ("call", 0, [4], "no later call of this channel and key"),
        ("site", 1, [6, 8], "no later call from this place in the program"),
        ("watch", 0, [2, 7], "no later change of a watched path"),
        ("breakpoint", 0, [1, 6, 9], "no later event at which a breakpoint stops"),
        ("bookmark", 0, [5], "no later bookmark"),
        ("continue", 0, [1, 5, 6, 9], "no later breakpoint or bookmark"),
        ("divergence", 0, [3, 8], "no later divergence"),
        ("note", 0, [4], "no later note"),
    ],
)
def test_a_verb_and_its_reverse_visit_the_same_places(debugger, verb, start, places, reason):
    debugger.toggle_watch("n")
    debugger.toggle_breakpoint("channel:tool key:t")
    debugger.notebook.toggle_bookmark(5)
    debugger.notebook.add_note(4, "look here")
    debugger.divergences = frozenset({3, 8})
    debugger.position = start
    assert tour(debugger, verb) == (places, reason)
    back = [*reversed(places[:-1]), start] if verb in ("call", "site") else [*reversed(places[:-1])]
    assert tour(debugger, verb, forward=False) == (back, reason.replace("later", "earlier"))


@pytest.mark.parametrize("verb", get_args(Verb))
@pytest.mark.parametrize("forward", [True, False])
def test_every_verb_is_refused_in_words_where_there_is_nothing(make_run, verb, forward):
    for rows in ([], [{"value": 1}]):
        debugger = Debugger(make_run(rows))
        move = debugger.go(verb, forward=forward).run()
        assert not move.made
        assert move.position == len(rows) - 1
        assert move.reason and move.reason.isprintable()


def test_stepping_over_stays_in_the_lane_and_leaves_inner_calls_out(make_run):
    rows = [
        {"key": "before", "value": 0},
        {"key": "outer", "value": 0},
        {"key": "inner", "value": 0, "parent": 1},
        {"key": "innermost", "value": 0, "parent": 2},
        {"key": "elsewhere", "value": 0, "thread": "w"},
        {"key": "after", "value": 0},
    ]
    debugger = Debugger(make_run(rows))
    assert tour(debugger, "over") == ([1, 5], "no later event in this lane")
    assert tour(debugger, "over", forward=False) == ([1, 0], "no earlier event in this lane")
    debugger.position = 3
    assert tour(debugger, "over", forward=False)[0] == [2, 1, 0]


def test_moves_are_jumps_that_the_history_takes_back(debugger):
    debugger.go("error").run()
    debugger.go("error").run()
    assert (debugger.back().position, debugger.back().position) == (1, 0)


def test_a_filter_hides_events_from_steps_and_verbs(debugger):
    debugger.position = 2
    rows = debugger.filter_by("channel:tool").run()
    assert (len(rows), rows.view.hidden, debugger.position) == (5, 5, 3)
    assert debugger.first().position == 1 and debugger.last().position == 9 and debugger.at_end
    assert debugger.back().position == 1 and debugger.forward().position == 9
    debugger.jump(3)
    assert [debugger.step().position for _ in range(4)] == [6, 8, 9, 9]
    assert debugger.step().reason == "this is the last event on show"
    assert debugger.step(-100).position == 1
    assert debugger.step(-1).reason == "this is the first event on show"
    assert debugger.go("watch").run().reason == "no path is watched"
    debugger.filter_by("channel:llm").run()
    assert debugger.go("error").run().reason == "no later error, among the events on show"
    debugger.filter_by("").run()
    assert debugger.rows.is_whole and debugger.go("error").run().made


def test_a_filter_that_is_wrong_leaves_the_old_one(debugger):
    debugger.filter_by("channel:tool").run()
    with pytest.raises(StashError):
        debugger.filter_by("channel:tool (")
    assert debugger.filter.query == "channel:tool" and len(debugger.rows) == 5


def test_a_filter_that_hides_everything_refuses_to_step(debugger):
    debugger.filter_by("nothing-says-this").run()
    assert debugger.step().reason == debugger.step(-1).reason == "the filter hides every event"


def test_hits_are_walked_while_the_search_goes_on(debugger):
    task = debugger.search("no")
    assert debugger.to_first_hit().reason == "no hit so far"
    assert debugger.to_hit().reason == "no later hit so far; the search is still going on"
    task.run()
    assert (debugger.to_first_hit().position, debugger.hit_number) == (1, 1)
    assert (debugger.to_hit().position, debugger.hit_number) == (9, 2)
    assert debugger.to_hit() == Move(1, went_round=True)
    assert debugger.to_hit(forward=False) == Move(9, went_round=True)
    assert debugger.to_hit(forward=False) == Move(1)
    debugger.filter_by("not seq:9").run()
    assert debugger.to_hit().reason == "no other hit, among the events on show; 2 in all"
    debugger.last()
    debugger.filter_by("not channel:tool").run()
    assert debugger.to_hit(forward=False).reason == "no other hit, among the events on show; 2 in all"
    debugger.end_search()
    assert debugger.to_hit().reason == debugger.to_first_hit().reason == "nothing is searched for"


def test_the_first_hit_is_the_nearest_from_the_cursor_on_or_that_of_the_run(make_run):
    debugger = Debugger(make_run([{"value": ["no", "no"]}, {"value": 1}, {"value": "no"}, {"value": 2}]))
    debugger.position = 1
    debugger.search("no").run()
    assert debugger.to_first_hit().position == 2
    assert [debugger.to_hit(forward=False).position for _ in range(2)] == [0, 0]  # one event, two places
    debugger.position = 3
    assert debugger.to_first_hit().position == 0


def test_folded_lanes_are_one_row_a_stretch_and_steps_go_along_rows(make_run):
    debugger = Debugger(make_run([{"thread": lane} for lane in (None, "w", "w", None, "w", None)]))
    debugger.position = 2
    rows = debugger.fold({"w"}).run()
    assert ([rows.position(row) for row in range(len(rows))], rows.stretch(1)) == ([0, 1, 3, 4, 5], 2)
    assert debugger.position == 3  # the nearest row
    assert [debugger.step(-1).position for _ in range(2)] == [1, 0]
    debugger.jump(2)
    assert debugger.step().position == 3
    assert not debugger.is_hidden(2) and len(debugger.fold(set()).run()) == 6


def test_a_breakpoint_of_the_event_at_the_cursor_is_set_and_taken_away(debugger):
    debugger.position = 1
    assert debugger.toggle_breakpoint()
    assert debugger.notebook.breakpoints == ('channel:"tool" key:"t"',)
    assert list(debugger.filter_by("is:breakpoint").run().view.positions) == [1, 6, 9]
    assert not debugger.toggle_breakpoint()
    assert debugger.notebook.breakpoints == ()


@pytest.mark.parametrize("query", ["(", "", "is:breakpoint", "x is:breakpoint"])
def test_a_breakpoint_that_is_none_is_refused(debugger, query):
    with pytest.raises(StashError):
        debugger.toggle_breakpoint(query)
    assert debugger.notebook.breakpoints == ()


@pytest.mark.parametrize("name", ["a b", 'say "hi"', "back\\slash", "(x)", "a*b", "is:error", "ключ", ""])
def test_a_breakpoint_finds_the_call_whatever_its_name(make_run, name):
    debugger = Debugger(make_run([{"key": name, "value": 1}, {"key": "other", "value": 1}, {"key": name, "value": 1}]))
    debugger.toggle_breakpoint()
    assert tour(debugger, "breakpoint")[0] == [2]
    assert quoted(name).startswith('"')


def test_watches_show_what_a_path_is_at_the_cursor(debugger):
    debugger.toggle_watch("n")
    debugger.toggle_watch("zz")
    debugger.position = 6
    rows = debugger.watch_rows().run()
    assert [(row.expression, row.text, row.seq) for row in rows] == [("n", "1", 5), ("zz", None, None)]
    with pytest.raises(StashError):
        debugger.toggle_watch("a[")
    assert not debugger.toggle_watch("n")


def test_a_watch_of_value_or_input_is_over_every_event_as_a_column_is(make_run):
    asked = [{"input": {"n": n}, "value": {"rate": n // 2}} for n in range(4)]
    debugger = Debugger(make_run([{"channel": "state", "value": {"rate": 9}}, *asked]))
    for expression, changes in (
        ("rate", [0]), ("value.rate", [0, 1, 3]), ("[input.n]", [0, 1, 2, 3, 4]), ("sort_by(rows, &value)", []),
    ):  # fmt: skip
        debugger.toggle_watch(expression)
        (watch,) = debugger.watches()
        assert [index for index in range(5) if watch.changed_at(index)] == changes, expression
        debugger.toggle_watch(expression)
    debugger.toggle_watch("value.rate")
    debugger.position = 4
    assert [(row.text, row.seq, row.watched) for row in debugger.watch_rows().run()] == [("1", 4, "events")]
    debugger.position = 0
    assert tour(debugger, "watch")[0] == [1, 3]


def test_many_events_are_watched_in_slices(make_run):
    rows = [{"channel": "tool" if place % 2 else "state", "value": place // 5000} for place in range(20_000)]
    debugger = Debugger(make_run(rows))
    debugger.toggle_watch("@")
    (watch,) = debugger.watches()
    assert sum(1 for _ in watch.calls.steps()) >= 9
    assert not any(watch.calls.steps())
    assert tour(debugger, "watch")[0] == [5000, 10_000, 15_000]


def test_a_reload_keeps_marks_and_what_to_filter_by(make_run, rows):
    debugger = Debugger(make_run(rows[:6]))
    debugger.toggle_breakpoint("channel:tool")
    debugger.filter_by("channel:tool").run()
    debugger.reload(make_run(rows))
    assert (debugger.rows.is_whole, debugger.count) == (True, 10)
    assert debugger.narrows and len(debugger.show_anew().run()) == 5
    debugger.position = 6
    assert debugger.go("breakpoint").run().position == 8


def test_the_trail_of_the_demo_with_last_origin_and_continue(demo):
    debugger = Debugger(demo)
    debugger.last()
    assert debugger.go("error", forward=False).run().position == demo.events.position_of(65)
    assert Task(last_change_steps(demo, debugger.position, "input", "/amount")).run().seq == 62
    assert Task(origin_steps(demo, "129.35")).run().seq == 60
    assert Task(origin_steps(demo, "1.087")).run().seq == 59
    assert debugger.to_seq(59).made and debugger.event.key == "archived_rate"
    debugger.toggle_breakpoint("is:error")
    assert debugger.go("continue", forward=False).run().position == demo.events.position_of(58)


def test_marks_are_places_to_go_to(debugger):
    assert "no bookmark 1" in debugger.goto("@1").reason
    debugger.jump(3)
    debugger.toggle_bookmark()
    debugger.jump(1)
    debugger.toggle_bookmark()
    debugger.add_note("The first price")
    debugger.jump(4)
    debugger.add_note("another price")
    assert debugger.goto("@2").position == 3
    assert [debugger.goto("@PRICE").position for _ in range(3)] == [4, 1, 4]
    assert "no note" in debugger.goto("@nothing").reason
    assert "there are 2" in debugger.goto("@3").reason
    assert "say which" in debugger.goto("@ ").reason


def test_stepping_out_ends_after_the_enclosing_call_in_its_lane(make_run):
    debugger = Debugger(
        make_run(
            [
                {"thread": "a"},
                {"thread": "b", "parent": 0},
                {"thread": "b", "parent": 1},
                {"thread": "b"},
                {"thread": "a"},
            ]
        )
    )
    assert debugger.go("out").run().reason == "no call encloses this one"
    debugger.position = 2
    assert debugger.go("out", forward=False).run().position == 1
    assert debugger.go("out").run().position == 4
    debugger.position = 2
    assert debugger.go("out").run().position == 3
    debugger.position = 2
    debugger.filter_by("seq:0-2").run()
    assert "no later event after the enclosing call, among the events on show" in debugger.go("out").run().reason


def test_own_columns_are_set_replaced_and_taken_away_by_name(make_run):
    debugger = Debugger(make_run([{"value": {"n": 7}}]))
    assert (
        debugger.toggle_column("n=value.n")
        and debugger.toggle_column("s=event.seq")
        and debugger.toggle_column("n=value.m")
    )
    assert debugger.notebook.columns == ("s=event.seq", "n=value.m")
    assert [(column.name, column.text(debugger.recording, debugger.event, 9)) for column in debugger.own_columns()] == [
        ("s", "0"),
        ("n", ""),
    ]
    assert not debugger.toggle_column("s") and debugger.notebook.columns == ("n=value.m",)
    with pytest.raises(StashError, match="JMESPath"):
        debugger.toggle_column("x=a[")


def test_a_file_that_is_read_again_keeps_the_limits_it_was_opened_with(tmp_path):
    path, deep = tmp_path / "deep.json", "[" * 2500 + "]" * 2500

    def write(count):
        event = '{"seq":%d,"channel":"state","key":"s","ordinal":%d,"outcome":"return","ref":"r"}'
        events = ",\n".join(event % (seq, seq) for seq in range(count))
        path.write_text(f'{{"version":1,"id":"deep","events":[\n{events}\n],"blobs":{{\n"r":{deep}\n}},"meta":{{}}}}\n')

    limits = Limits(depth=3000)
    write(1)
    debugger = Debugger(open_recording(path, limits=limits), limits=limits)
    write(2)
    assert debugger.refresh() == 1
    assert debugger.recording.blobs.payload("r").state == "ok"
