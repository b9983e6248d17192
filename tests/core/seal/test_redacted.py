"""The seal of a redacted copy: it verifies, says what it does not cover, and gives nothing away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.redact import Redactor
from stashdbg_core.redact.recording import redact_recording
from stashdbg_core.seal import (
    Seal,
    Uncovered,
    Verdict,
    parse_seal,
    read_seal,
    redacted_seal,
    seal_recording,
    verify_recording,
    write_seal,
)
from stashdbg_core.seal.chain import event_salts
from stashdbg_core.store.writer import decode_recording, encode_recording
from tests.core.seal.recordings import Tree, opened, set_value, tree_of

KEY = "sk-proj-" + "Ab1" * 14
MAIL = "someone@example.com"


def secretive() -> Recording:
    calls: list[Tree] = [
        {"value": {"text": f"the key is {KEY}"}, "input": {"q": 1}},
        {"value": [1, 2], "input": {"headers": {"authorization": f"Bearer {KEY}"}}},
        {"value": "plain", "label": f"with {KEY}"},
        {"key": f"fetch {KEY}", "value": {"chat": ["x" * 2000, f"again {KEY}"]}},
        {"value": {"chat": ["x" * 2000, "nothing"]}},
    ]
    return opened(tree_of(calls, meta={"complete": True, "command": {"argv": ["run", KEY]}}))


def redacted() -> tuple[Seal, Recording, Seal]:
    original = secretive()
    seal = seal_recording(original)
    copy = decode_recording(encode_recording(redact_recording(original)))
    return seal, copy, redacted_seal(seal, original, copy)


def rewritten(recording: Recording, change: object) -> Recording:
    tree = json.loads(encode_recording(recording))
    change(tree)  # type: ignore[operator]
    return opened(tree)


def test_a_redacted_copy_is_sealed_and_its_masked_fields_are_listed() -> None:
    seal, copy, of_copy = redacted()
    result = verify_recording(copy, of_copy)
    assert (result.valid, result.verdict) == (True, Verdict.REDACTED)
    assert result.message == "sealed; 6 fields are redacted and not covered"
    assert [part[:2] for part in result.uncovered] == [
        (0, "value"),
        (1, "input"),
        (2, "notes"),
        (3, "identity"),
        (3, "value"),
        (None, "meta command"),
    ]
    assert all(part.masked for part in result.uncovered)
    assert result.root == seal.root.hex()


def test_the_original_seal_does_not_fit_the_copy() -> None:
    seal, copy, _ = redacted()
    assert verify_recording(copy, seal).verdict is Verdict.VALUE_EDITED


def test_nothing_in_the_copys_seal_lets_a_guess_be_tested(tmp_path: Path) -> None:
    seal, _, of_copy = redacted()
    text = write_seal(of_copy, tmp_path / "copy.seal.json").read_text()
    assert seal.secret is not None
    assert seal.secret.hex() not in text
    assert '"secret"' not in text
    withheld = event_salts(seal.secret, 0)[64:96]
    assert of_copy.event_salts(0)[2] is None
    assert withheld not in b"".join(salt or b"" for index in range(5) for salt in of_copy.event_salts(index))
    assert KEY not in text


def test_forged_text_in_a_masked_field_is_listed_as_not_covered() -> None:
    _, copy, of_copy = redacted()

    def forge(tree: Tree) -> None:
        del tree["blobs"][tree["events"][0]["ref"]]
        set_value(tree, 0, {"text": "it was the vendor's fault"})

    forged = rewritten(copy, forge)
    result = verify_recording(forged, of_copy)
    assert result.verdict is Verdict.REDACTED
    assert Uncovered(0, "value", False) in result.uncovered
    assert "1 of them holds no placeholder" in result.message
    assert any("could have written anything" in note for note in result.notes)


def test_an_edit_outside_the_masked_fields_breaks_the_copys_seal() -> None:
    _, copy, of_copy = redacted()
    edited = rewritten(copy, lambda tree: set_value(tree, 1, [1, 3]))
    result = verify_recording(edited, of_copy)
    assert (result.verdict, result.broken_at) == (Verdict.VALUE_EDITED, 1)
    shorter = rewritten(copy, lambda tree: tree["events"].pop())
    assert verify_recording(shorter, of_copy).verdict is Verdict.CUT_SHORT


def test_a_copy_can_be_redacted_again() -> None:
    _, copy, of_copy = redacted()
    again = redact_recording(copy, Redactor(names=["chat"]))
    result = verify_recording(again, redacted_seal(of_copy, copy, again))
    assert result.verdict is Verdict.REDACTED
    assert {(4, "value"), (0, "value")} <= {part[:2] for part in result.uncovered}


def test_redacting_what_holds_no_secret_leaves_everything_covered() -> None:
    original = opened(tree_of())
    seal = seal_recording(original)
    copy = redact_recording(original)
    result = verify_recording(copy, redacted_seal(seal, original, copy))
    assert (result.verdict, result.uncovered) == (Verdict.SEALED, ())


def test_a_changed_original_or_another_recording_gets_no_seal_of_a_copy() -> None:
    original = secretive()
    seal = seal_recording(original)
    changed = rewritten(original, lambda tree: set_value(tree, 1, "forged"))
    with pytest.raises(StashError, match="does not match its seal"):
        redacted_seal(seal, changed, redact_recording(changed))
    with pytest.raises(StashError, match="no redacted copy"):
        redacted_seal(seal, original, opened(tree_of([{"value": 1}])))


def test_the_copys_seal_survives_its_file(tmp_path: Path) -> None:
    _, copy, of_copy = redacted()
    path = write_seal(of_copy, tmp_path / "copy.seal.json")
    assert read_seal(path) == of_copy
    assert parse_seal(stored_form(of_copy.to_json())) == of_copy
    assert verify_recording(copy, read_seal(path)).valid
