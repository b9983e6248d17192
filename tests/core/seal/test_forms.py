"""A seal is over what a recording says, not over how it is written: spelling, layout and sharing do not count."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import RawObject, RecordedEvent, Recording
from stashdbg_core.seal import Verdict, seal_recording, verify_recording
from stashdbg_core.seal.chain import commitment
from stashdbg_core.seal.texts import identity_text
from stashdbg_core.seal.whole import WholeValues
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.open import read_recording
from stashdbg_core.store.writer import decode_recording, encode_recording
from tests.core.seal.recordings import CALLS, edited, opened, set_value, tree_of

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
TEXT = st.text(max_size=6) | st.sampled_from(["|", ":", "\n", "\u001f", "\0", "a|b", '","', "x1"])
LEAF = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
LONG = st.sampled_from(["a", "b", "c"]).map(lambda letter: {"role": "user", "content": letter * 1200})
VALUE = st.recursive(
    LEAF | LONG,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def shared(inputs: list[Any]) -> Recording:
    """A recording in memory whose values share their pieces."""
    blobs = BlobStore()
    events = [RecordedEvent(seq, "llm", "chat", seq, "return", blobs.put(value)) for seq, value in enumerate(inputs)]
    return Recording("run-1", EventList(events), blobs, RawObject.of({"complete": True}))


REWRITES: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda text: text,
    "indented": lambda text: json.dumps(json.loads(text), indent=4, ensure_ascii=False).encode(),
    "json.tool": lambda text: json.dumps(json.loads(text), indent=4).encode(),
    "blanks": lambda text: json.dumps(json.loads(text), separators=(" , ", " : ")).encode(),
    "order of the top": lambda text: stored_form(dict(reversed(json.loads(text).items()))),
    "order of events in the file": lambda text: stored_form(
        {**json.loads(text), "events": json.loads(text)["events"][::-1]}
    ),
    "order of an event's keys": lambda text: stored_form(
        {**json.loads(text), "events": [dict(sorted(event.items())) for event in json.loads(text)["events"]]}
    ),
    "our layout": lambda text: encode_recording(read_recording(text)).encode(),
    "flat": lambda text: encode_recording(read_recording(text), flat=True).encode(),
}


@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES)
def test_a_rewritten_file_verifies(rewrite: Callable[[bytes], bytes]) -> None:
    text = stored_form(tree_of())
    seal = seal_recording(read_recording(text))
    result = verify_recording(read_recording(rewrite(text)), seal)
    assert result.verdict is Verdict.SEALED, result.message


@pytest.mark.parametrize("case", ["76-key-order/keys.json", "77-escapes/esc.json"])
def test_the_cases_verify_however_they_are_spelled(case: str, data: Path) -> None:
    text = (data / "cases" / case).read_bytes()
    seal = seal_recording(read_recording(text))
    ways = [json.dumps(json.loads(text), ensure_ascii=plain, indent=2).encode() for plain in (True, False)]
    programs = [program for program in (["jq", "."], ["node", "-e", _NODE]) if shutil.which(program[0])]
    ways += [subprocess.run(program, input=text, capture_output=True, check=True).stdout for program in programs]
    assert [verify_recording(read_recording(way), seal).verdict for way in ways] == [Verdict.SEALED] * len(ways)


_NODE = "process.stdout.write(JSON.stringify(JSON.parse(require('fs').readFileSync(0,'utf8')),null,1))"


@pytest.mark.parametrize("rewrite", ["indented", "json.tool", "blanks"])
def test_white_space_does_not_hide_shared_pieces(rewrite: str) -> None:
    messages = [{"role": "user", "content": letter * 1200} for letter in "abc"]
    text = encode_recording(shared([messages[:1], messages[:2], messages])).encode()
    seal = seal_recording(read_recording(text))
    result = verify_recording(read_recording(REWRITES[rewrite](text)), seal)
    assert result.verdict is Verdict.SEALED, result.message


def test_the_order_of_keys_in_a_value_counts() -> None:
    seal = seal_recording(opened(tree_of()))
    other = edited(lambda tree: set_value(tree, 0, {"n": 1.5, "text": "look it up"}))
    assert verify_recording(other, seal).verdict is Verdict.VALUE_EDITED


@QUICK
@given(st.lists(VALUE, min_size=1, max_size=6))
def test_how_values_are_shared_does_not_count(inputs: list[Any]) -> None:
    growing = [*inputs, inputs, [*inputs, 1], {"messages": inputs}, {"messages": [*inputs, "more"]}]
    recording = shared(growing)
    seal = seal_recording(recording)
    assert verify_recording(decode_recording(encode_recording(recording, flat=True)), seal).verdict is Verdict.SEALED
    assert verify_recording(decode_recording(encode_recording(recording)), seal).verdict is Verdict.SEALED


@QUICK
@given(st.lists(VALUE, min_size=1, max_size=6))
def test_spliced_text_is_the_stored_form_of_the_whole(inputs: list[Any]) -> None:
    recording = shared([*inputs, inputs, [inputs, inputs], [[*inputs, inputs], {"a": inputs}]])
    values = WholeValues(recording.blobs)
    for ref in recording.blobs.refs():
        assert values.text(ref) == stored_form(recording.blobs.tree(ref))


def test_lists_of_empty_parts_are_joined_right() -> None:
    blobs = BlobStore()
    empty, one = blobs.put_stored(b"[]"), blobs.put_stored(b"[1]")
    alias = blobs.put_stored(b'{"$stash":"ref","ref":"%b"}' % one.encode())
    tag = '{"$stash":"list","parts":[%s],"items":[%s]}'
    for parts, items in [([], ""), ([empty], ""), ([empty], "2"), ([one, empty, alias], ""), ([empty, one], "2,[3]")]:
        ref = blobs.put_stored((tag % (",".join(f'"{part}"' for part in parts), items)).encode())
        nested = blobs.put_stored((tag % (f'"{ref}"', f'{{"a":{tag % (chr(34) + ref + chr(34), "")}}}')).encode())
        for made in (ref, nested):
            assert WholeValues(blobs).text(made) == stored_form(blobs.tree(made))


def test_hostile_sharing_is_refused_without_the_work() -> None:
    blobs = BlobStore()
    ref = blobs.put_stored(stored_form(["x" * 1000]))
    for _ in range(60):
        ref = blobs.put_stored(stored_form([{"$stash": "ref", "ref": ref}] * 2))
    with pytest.raises(StashError, match="shared pieces"):
        WholeValues(blobs).text(ref)
    blobs.put_raw("a", b'[{"$stash":"ref","ref":"b"}]')
    blobs.put_raw("b", b'[{"$stash":"ref","ref":"a"}]')
    with pytest.raises(StashError, match="contains itself"):
        WholeValues(blobs).text("a")
    blobs.put_raw("c", b'{"$stash":"list","parts":["d"],"items":[]}')
    blobs.put_raw("d", b'"no list"')
    with pytest.raises(StashError, match="list"):
        WholeValues(blobs).text("c")


@QUICK
@given(st.integers(0, len(CALLS) - 1), st.sampled_from(["ref", "inputRef"]), VALUE)
def test_any_other_value_breaks_the_seal(index: int, name: str, value: Any) -> None:
    seal = seal_recording(opened(tree_of()))
    given_part = "value" if name == "ref" else "input"
    same = given_part in CALLS[index] and stored_form(CALLS[index][given_part]) == stored_form(value)
    result = verify_recording(edited(lambda tree: set_value(tree, index, value, name)), seal)
    assert result.valid == same
    assert same or (result.broken_at == index and result.broken[0].part == given_part)


@QUICK
@given(st.data())
def test_a_changed_byte_never_verifies_unless_it_says_the_same(data: st.DataObject) -> None:
    text = bytearray(stored_form(tree_of()))
    seal = seal_recording(read_recording(bytes(text)))
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] = data.draw(st.sampled_from(b'0179azAZ ",:[]{}\\.-e\n'))
    try:
        changed = read_recording(bytes(text))
    except StashError:
        return
    if verify_recording(changed, seal).valid:
        assert json.loads(text) == tree_of()
        assert stored_form(json.loads(text)) == stored_form(tree_of())


@QUICK
@given(st.lists(st.tuples(TEXT, TEXT, st.integers(0, 20), TEXT), min_size=2, max_size=2, unique=True))
def test_text_cannot_move_from_one_field_to_another(pair: list[tuple[str, str, int, str]]) -> None:
    first, second = (identity_text(0, channel, key, ordinal, outcome) for channel, key, ordinal, outcome in pair)
    assert first != second


@pytest.mark.parametrize("change", [lambda text: text[:-1], lambda text: text + b"{}"], ids=["cut", "more"])
def test_a_file_that_is_not_whole_is_not_valid(change: Callable[[bytes], bytes]) -> None:
    text = stored_form(tree_of())
    torn = read_recording(change(text))
    result = verify_recording(torn, seal_recording(read_recording(text)))
    assert result.verdict is Verdict.DAMAGED
    with pytest.raises(StashError, match="cannot be sealed"):
        seal_recording(torn)


def test_boundaries_between_fields_count() -> None:
    events = [
        {"channel": "a|b", "key": "c"},
        {"channel": "a", "key": "b|c"},
        {"key": "x1", "ordinal": 2},
        {"key": "x", "ordinal": 12},
        {"label": ""},
        {},
        {"label": None},
        {"label": "a", "thread": "b"},
        {"label": "ab"},
        {"callId": "ab"},
    ]
    secret = bytes(32)
    roots = set()
    for keys in events:
        tree = tree_of([{"value": 1}])
        tree["events"][0].update(keys)
        roots.add(seal_recording(opened(tree), secret=secret).root)
    assert len(roots) == len(events)


def test_absent_missing_null_and_empty_are_four_things() -> None:
    texts = [b"", b"null", b'""', b'missing "sha256:0"']
    assert len({commitment(bytes(32), text) for text in texts}) == 4


def test_a_missing_input_is_sealed_as_missing() -> None:
    def forget(tree: dict[str, Any]) -> None:
        tree["events"][0]["inputRef"] = "opaque:1"

    recording = edited(forget)
    seal = seal_recording(recording)
    assert verify_recording(recording, seal).valid
    other = edited(lambda tree: tree["events"][0].update(inputRef="opaque:2"))
    assert verify_recording(other, seal).broken_at == 0


@pytest.mark.parametrize("case", ["61-dup-keys/dup.json", "112-odd-events/odd.json"])
def test_what_does_not_mean_one_thing_is_not_sealed(case: str, data: Path) -> None:
    path = next((data / "cases" / case).parent.glob("*.json"))
    with pytest.raises(StashError, match="cannot be sealed"):
        seal_recording(read_recording(path.read_bytes()))
