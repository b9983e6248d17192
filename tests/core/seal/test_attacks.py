"""The attack table: each way of breaking a sealed recording has its own verdict and names the event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.seal import Seal, Verdict, parse_seal, seal_recording, verify_recording
from stashdbg_core.store.open import read_recording
from tests.core.seal.recordings import CALLS, Tree, edited, opened, put, set_value, tree_of

Change = Callable[[Tree], object]


def seal() -> Seal:
    return seal_recording(opened(tree_of()))


def swap(first: int, second: int) -> Change:
    """Swap two events and renumber them, so that the tape looks whole."""

    def change(tree: Tree) -> None:
        events = tree["events"]
        events[first], events[second] = events[second], events[first]
        renumber(tree)

    return change


def renumber(tree: Tree) -> None:
    for seq, event in enumerate(tree["events"]):
        event["seq"] = seq


def drop(*indexes: int) -> Change:
    def change(tree: Tree) -> None:
        tree["events"] = [event for at, event in enumerate(tree["events"]) if at not in indexes]
        named = {event.get(name) for event in tree["events"] for name in ("ref", "inputRef")}
        spare = stored_form({"spare": "value"})
        tree["blobs"] = {r: v for r, v in tree["blobs"].items() if r in named or stored_form(v) == spare}
        renumber(tree)

    return change


def add(index: int) -> Change:
    def change(tree: Tree) -> None:
        extra = {"seq": 0, "channel": "tool", "key": "x", "ordinal": 0, "outcome": "return"}
        tree["events"].insert(index, {**extra, "ref": put(tree["blobs"], "added")})
        renumber(tree)

    return change


def keep_ref(tree: Tree) -> None:
    """Change a value under the reference that it had."""
    tree["blobs"][tree["events"][1]["ref"]] = ["rainy", "mild"]


def swap_blobs(tree: Tree) -> None:
    blobs, (a, b) = tree["blobs"], (tree["events"][0]["ref"], tree["events"][1]["ref"])
    blobs[a], blobs[b] = blobs[b], blobs[a]


def swap_refs(tree: Tree) -> None:
    a, b = tree["events"][0], tree["events"][1]
    a["ref"], b["ref"] = b["ref"], a["ref"]


def forget_blob(tree: Tree) -> None:
    del tree["blobs"][tree["events"][3]["ref"]]


def false_ref(tree: Tree) -> None:
    """Put the right value under a reference that it does not hash to."""
    ref = "sha256:" + "0" * 64
    tree["blobs"][ref] = tree["blobs"].pop(tree["events"][3]["ref"])
    tree["events"][3]["ref"] = ref


def spare(tree: Tree) -> str:
    return next(ref for ref, value in tree["blobs"].items() if value == {"spare": "value"})


def edit_spare(tree: Tree) -> None:
    del tree["blobs"][spare(tree)]
    put(tree["blobs"], {"spare": "other"})


TABLE: list[tuple[str, Change, Verdict, int | None]] = [
    ("edit value", lambda t: set_value(t, 1, ["rainy", "mild"]), Verdict.VALUE_EDITED, 1),
    ("edit value in place", keep_ref, Verdict.VALUE_EDITED, 1),
    ("value 1 to 1.0", lambda t: set_value(t, 0, {"text": "look it up", "n": 1.50001}), Verdict.VALUE_EDITED, 0),
    ("null to false", lambda t: set_value(t, 4, False), Verdict.VALUE_EDITED, 4),
    ("edit input", lambda t: set_value(t, 0, {"prompt": "x"}, "inputRef"), Verdict.INPUT_EDITED, 0),
    ("null input to none", lambda t: t["events"][4].pop("inputRef"), Verdict.INPUT_EDITED, 4),
    ("no input to null", lambda t: set_value(t, 2, None, "inputRef"), Verdict.INPUT_EDITED, 2),
    ("edit outcome", lambda t: t["events"][2].update(outcome="return"), Verdict.IDENTITY_EDITED, 2),
    ("edit channel", lambda t: t["events"][3].update(channel="clocks"), Verdict.IDENTITY_EDITED, 3),
    ("edit key", lambda t: t["events"][0].update(key="plan2"), Verdict.IDENTITY_EDITED, 0),
    ("edit ordinal", lambda t: t["events"][2].update(ordinal=7), Verdict.IDENTITY_EDITED, 2),
    ("edit seq", lambda t: t["events"][4].update(seq=9), Verdict.IDENTITY_EDITED, 9),
    ("edit time", lambda t: t["events"][1].update(at=1760000000001), Verdict.NOTES_EDITED, 1),
    ("add label", lambda t: t["events"][3].update(label=""), Verdict.NOTES_EDITED, 3),
    ("edit unknown key", lambda t: t["events"][4]["vendor"].update(b=2), Verdict.NOTES_EDITED, 4),
    ("edit meta", lambda t: t["meta"].update(who="you"), Verdict.META_EDITED, None),
    ("add to meta", lambda t: t["meta"].update(more=1), Verdict.META_EDITED, None),
    ("drop from meta", lambda t: t["meta"].pop("who"), Verdict.META_EDITED, None),
    ("edit unknown top key", lambda t: t.update(vendorTop=[2, 1]), Verdict.META_EDITED, None),
    ("edit id", lambda t: t.update(id="run-2"), Verdict.ID_EDITED, None),
    ("order", swap(0, 3), Verdict.REORDERED, 0),
    ("order of neighbours", swap(2, 3), Verdict.REORDERED, 2),
    ("cut tail", drop(3, 4), Verdict.CUT_SHORT, 3),
    ("cut head", drop(0), Verdict.CUT_SHORT, 0),
    ("cut middle", drop(2), Verdict.CUT_SHORT, 2),
    ("cut all", drop(0, 1, 2, 3, 4), Verdict.CUT_SHORT, 0),
    ("add tail", add(5), Verdict.LENGTHENED, 5),
    ("add middle", add(2), Verdict.LENGTHENED, 2),
    ("swap blobs", swap_blobs, Verdict.VALUE_EDITED, 0),
    ("swap refs", swap_refs, Verdict.VALUE_EDITED, 0),
    ("blob missing", forget_blob, Verdict.BLOB_MISSING, 3),
    ("false ref", false_ref, Verdict.DAMAGED, 3),
    ("unreferenced blob added", lambda t: put(t["blobs"], "hidden"), Verdict.BLOB_ADDED, None),
    ("unreferenced blob dropped", lambda t: t["blobs"].pop(spare(t)), Verdict.BLOB_MISSING, None),
    ("unreferenced blob edited", edit_spare, Verdict.BLOB_EDITED, None),
]


@pytest.mark.parametrize(("change", "verdict", "at"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_each_attack_has_its_verdict_and_names_its_event(change: Change, verdict: Verdict, at: int | None) -> None:
    result = verify_recording(edited(change), seal())
    assert (result.verdict, result.broken_at, result.valid) == (verdict, at, False), result.message
    assert at is None or f"event {at}" in result.message


def test_nothing_changed_is_sealed() -> None:
    result = verify_recording(edited(lambda tree: None), seal())
    assert (result.valid, result.verdict, result.broken) == (True, Verdict.SEALED, ())
    assert not result.vouched
    assert any("sealed them anew" in note for note in result.notes)


def test_another_recording_of_many_events_is_told_apart() -> None:
    made = seal_recording(opened(tree_of([{"value": number} for number in range(1200)])))
    other = opened(tree_of([{"key": "b", "value": -number} for number in range(1, 1201)], id="run-2"))
    result = verify_recording(other, made)
    assert result.verdict is Verdict.OTHER_RECORDING
    assert len(result.broken) < 1010


def test_the_seal_of_another_recording_is_called_so() -> None:
    other = opened(tree_of([{"key": "b", "value": number} for number in range(5)], id="run-2"))
    assert verify_recording(other, seal()).verdict is Verdict.OTHER_RECORDING


@pytest.mark.parametrize(
    ("old", "new", "at"),
    [
        (b'"text":"look it up"', b'"text":"denied","text":"look it up"', 0),
        (b'"outcome":"throw"', b'"outcome":"return","outcome":"throw"', 2),
        (b'"who":"me"', b'"who":"you","who":"me"', None),
        (b'"vendorTop":[1,2]', b'"vendorTop":[9],"vendorTop":[1,2]', None),
        (b'"events":[', b'"events":[],"events":[', None),
        (b'"id":"run-1"', b'"id":"run-0","id":"run-1"', None),
    ],
    ids=["in a value", "in an event", "in meta", "unknown key", "events", "id"],
)
def test_a_key_given_twice_is_never_valid(old: bytes, new: bytes, at: int | None) -> None:
    text = stored_form(tree_of())
    assert text.count(old) == 1
    sealed = seal_recording(read_recording(text))
    twice = read_recording(text.replace(old, new))
    result = verify_recording(twice, sealed)
    assert (result.verdict, result.broken_at) == (Verdict.AMBIGUOUS, at), result.message
    with pytest.raises(StashError, match="cannot be sealed"):
        seal_recording(twice)


def test_a_value_given_twice_is_never_valid() -> None:
    tree = tree_of()
    text, ref = stored_form(tree), tree["events"][0]["ref"].encode()
    twice = text.replace(b'"blobs":{', b'"blobs":{"' + ref + b'":"other",')
    result = verify_recording(read_recording(twice), seal_recording(read_recording(text)))
    assert (result.verdict, result.broken_at) == (Verdict.AMBIGUOUS, 0)


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (lambda t: b"", "no-seal"),
        (lambda t: b"{}", "foreign-seal"),
        (lambda t: b"not JSON", "foreign-seal"),
        (lambda t: b'{"algorithm":"SHA-256","digest":"00","events":5}', "foreign-seal"),
        (lambda t: stored_form({**t, "algorithm": "md5"}), "unknown-algorithm"),
        (lambda t: stored_form({**t, "algorithm": ""}), "unknown-algorithm"),
        (lambda t: stored_form({**t, "version": 2}), "unknown-algorithm"),
        (lambda t: stored_form({**t, "root": "00"}), "seal-damaged"),
        (lambda t: stored_form({**t, "events": []}), "seal-damaged"),
        (lambda t: stored_form({**t, "events": t["events"][:-1]}), "seal-damaged"),
        (lambda t: stored_form({**t, "events": ["AAAA"] * 5}), "seal-damaged"),
        (lambda t: stored_form({**t, "header": [1, 2]}), "seal-damaged"),
        (lambda t: stored_form({**t, "counts": {"events": -1, "meta": 0, "extra": 0, "blobs": 0}}), "seal-damaged"),
        (lambda t: stored_form({**t, "secret": "zz" * 32}), "seal-damaged"),
        (lambda t: stored_form({k: v for k, v in t.items() if k != "secret"}), "seal-damaged"),
        (lambda t: stored_form({**t, "salts": {"header": [], "events": []}}), "seal-damaged"),
    ],
)
def test_what_is_no_seal_of_ours_is_refused_by_its_word(change: Callable[[Tree], bytes], verdict: str) -> None:
    with pytest.raises(StashError) as caught:
        parse_seal(change(seal().to_json()))
    assert caught.value.details["verdict"] == verdict


def test_commitments_without_their_root_are_seen() -> None:
    made = seal()
    other = seal_recording(edited(lambda tree: set_value(tree, 1, "forged")), secret=made.secret)
    forged = replace(made, events=other.events)
    assert verify_recording(edited(lambda tree: set_value(tree, 1, "forged")), forged).verdict is Verdict.SEAL_DAMAGED
    cut = replace(made, counts=made.counts._replace(events=4), events=made.events[: 4 * 128])
    assert verify_recording(edited(drop(4)), cut).verdict is Verdict.SEAL_DAMAGED


def test_a_chain_rebuilt_whole_is_caught_by_the_root_alone() -> None:
    root = seal().root.hex()
    forged = edited(lambda tree: set_value(tree, 1, "forged"))
    anew = seal_recording(forged)
    assert verify_recording(forged, anew).valid
    result = verify_recording(forged, anew, expect=root)
    assert (result.valid, result.verdict) == (False, Verdict.OTHER_ROOT)
    pinned = verify_recording(forged, anew, expect=f" {anew.root.hex().upper()} ")
    assert pinned.valid
    assert pinned.vouched
    with pytest.raises(StashError, match="not a root"):
        verify_recording(forged, anew, expect="12ab")


def test_no_seal_is_a_verdict() -> None:
    assert verify_recording(opened(tree_of()), None).verdict is Verdict.NO_SEAL


def test_every_call_has_something_sealed_of_its_own() -> None:
    made = seal()
    assert made.counts == (len(CALLS), 2, 1, 1)
    assert len({made.events[at : at + 32] for at in range(0, len(made.events), 32)}) == 4 * len(CALLS)


def test_text_that_a_reader_has_to_leave_out_is_damage() -> None:
    text = stored_form(tree_of())
    torn = text.replace(b'"blobs":{', b'"blobs":{"sha256:0123","ref":"x"}]},', 1)
    result = verify_recording(read_recording(torn), seal())
    assert (result.verdict, result.valid) == (Verdict.DAMAGED, False)
    with pytest.raises(StashError):
        seal_recording(read_recording(torn))
