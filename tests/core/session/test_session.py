"""The cursor: where each move ends, and what a refused one says."""

from __future__ import annotations

import pytest

from stashdbg_core.model import RawObject, RecordedEvent, Recording
from stashdbg_core.session.session import Session
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList


def run(count: int, start: int = 0) -> Recording:
    channels = ("llm", "tool")
    events = [
        RecordedEvent(start + n, channels[n % 2], "chat" if n % 2 == 0 else f"k{n % 3}", n // 2, "return", "r")
        for n in range(count)
    ]
    return Recording("x", EventList(events), BlobStore(), RawObject())


@pytest.fixture
def session() -> Session:
    return Session(run(10))


def test_stepping_stops_at_both_ends_and_says_so(session):
    assert session.step(-1).reason == "this is the first event"
    assert [session.step().position for _ in range(3)] == [1, 2, 3]
    assert session.step(100).position == 9
    refused = session.step()
    assert (refused.made, refused.position, refused.reason) == (False, 9, "this is the last event")


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("7", 7),
        (" 3 ", 3),
        ("+4", 6),
        ("-2", 0),
        ("0%", 0),
        ("100%", 9),
        ("50%", 4),
        ("llm:3", 6),
        ("tool:0", 1),
        ("llm:chat:4", 8),
    ],
)
def test_goto_understands_every_form_of_place(session, text, position):
    session.position = 2
    move = session.goto(text)
    assert (move.position, session.position) == (position, position)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12",
        "-9",
        "+99",
        "101%",
        "999%",
        "llm:99",
        "nobody:0",
        "abc",
        "1.5",
        "٣",
        "9" * 5000,
        ":",
        "llm:",
        "%",
        "\x1b[2J",
        "+",
        "1 2",
    ],
)
def test_a_place_that_is_none_is_refused_with_a_printable_reason(session, text):
    session.position = 2
    move = session.goto(text)
    assert not move.made
    assert session.position == 2
    assert move.reason and move.reason.isprintable() and len(move.reason) < 200


def test_the_range_is_named_where_a_seq_is_outside_or_in_a_gap():
    session = Session(run(3, start=100))
    assert session.goto("5").reason == "no event 5; the run goes from 100 to 102"
    events = [RecordedEvent(seq, "llm", "chat", 0, "return", "r") for seq in (0, 5)]
    gap = Session(Recording("x", EventList(events), BlobStore()))
    assert "gap" in (gap.goto("3").reason or "")


def test_jump_history_goes_back_and_forward_and_steps_leave_no_trace(session):
    session.goto("5")
    session.step()
    session.last()
    assert session.back().position == 6
    assert session.back().position == 0
    assert not session.back().made
    assert session.forward().position == 6
    assert session.forward().position == 9
    assert session.forward().reason == "no later jump to go forward to"


def test_an_empty_recording_refuses_every_move():
    session = Session(run(0))
    assert session.event is None
    for move in (
        session.step(),
        session.first(),
        session.last(),
        session.goto("1"),
        session.goto("5%"),
        session.step(5),
        session.back(),
    ):
        assert (move.made, move.position) == (False, -1)


def test_a_fuller_recording_keeps_the_cursor_on_its_event(session):
    session.goto("4")
    session.reload(run(50))
    assert (session.event.seq, session.count) == (4, 50)
    session.last()
    session.reload(run(5))
    assert session.position == 4


def test_an_event_that_cannot_be_read_any_more_says_so():
    from stashdbg_core.errors import not_found

    class Gone(EventList):
        def __getitem__(self, index):
            raise not_found("run.json changed while it was open")

    session = Session(Recording("x", Gone(list(run(2).events)), BlobStore()))
    assert session.event.damage == "run.json changed while it was open"
