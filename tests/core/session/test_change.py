"""What changed since the previous call of the same place, and a journal that grows."""

from __future__ import annotations

from stashdbg_core.diff.structure import NOTHING
from stashdbg_core.model import RecordedEvent
from stashdbg_core.session.change import change_steps
from stashdbg_core.session.debugger import Debugger
from stashdbg_core.session.tasks import Task
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.journal import JournalWriter
from stashdbg_core.store.open import open_recording


def change_here(debugger):
    return Task(change_steps(debugger.recording, debugger.position)).run()


def test_fields_of_input_and_value_are_told_apart_by_kind(make_run):
    debugger = Debugger(
        make_run(
            [
                {"key": "t", "input": {"q": "a"}, "value": {"n": 1, "gone": 2}, "site": "a.py:1 f"},
                {"key": "t", "input": {"q": "z"}, "value": {"n": 5}, "site": "a.py:9 other"},
                {"key": "u", "input": {"q": "b"}, "value": {"n": 9}, "site": "a.py:1 f"},
                {"key": "t", "input": {"q": "b"}, "value": {"n": 1.0, "new": None}, "site": "a.py:1 f"},
            ]
        )
    )
    debugger.position = 3
    change = change_here(debugger)
    assert (change.previous, change.outcome) == (0, None)
    assert [(c.kind, c.pointer, c.before, c.after) for c in change.input.changes] == [("changed", "/q", "a", "b")]
    assert [(c.kind, c.pointer) for c in change.value.changes] == [
        ("changed", "/n"),
        ("removed", "/gone"),
        ("added", "/new"),
    ]
    assert change.value.changes[2].before is NOTHING
    assert change.written == ("/n", "/new")


def test_the_first_call_has_nothing_to_compare_with_and_outcomes_count(make_run):
    error = {"$stash": "exception", "class": "builtins:ValueError", "text": "no"}
    debugger = Debugger(make_run([{"value": 1}, {"value": error, "outcome": "throw"}]))
    assert change_here(debugger).previous is None
    debugger.step()
    change = change_here(debugger)
    assert (change.outcome, len(change.value.changes)) == (("return", "throw"), 1)


def test_a_list_that_grew_is_additions_and_many_changes_are_counted_off(make_run):
    debugger = Debugger(make_run([{"value": [1, 2]}, {"value": [1, 2, 3]}, {"value": list(range(10, 2000))}]))
    debugger.step()
    assert [(c.kind, c.pointer) for c in change_here(debugger).value.changes] == [("added", "/2")]
    debugger.step()
    change = change_here(debugger).value
    assert (len(change.changes), change.more) == (500, True)


def test_a_journal_that_grows_is_followed(tmp_path):
    path = tmp_path / "run.json.journal"
    store = BlobStore()
    writer = JournalWriter(path, "run", {"createdAt": 1})

    def call(seq):
        ref = store.put({"n": seq})
        event = RecordedEvent(seq, "tool", "k", seq, "return", ref)
        writer.append([(ref, store.payload(ref).raw)], event)

    call(0)
    debugger = Debugger(open_recording(path))
    assert (debugger.count, debugger.refresh()) == (1, 0)
    call(1)
    call(2)
    assert (debugger.refresh(), debugger.count, debugger.position) == (2, 3, 0)
    assert debugger.refresh() == 0
    writer.close()
