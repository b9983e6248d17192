"""Masking and scanning by stored piece gives what masking and scanning of every whole value gives."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import Json, content_ref, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import BlobTable, RecordedEvent, Recording
from stashdbg_core.redact import Redactor
from stashdbg_core.redact.recording import redact_recording
from stashdbg_core.redact.rule_file import RuleSet
from stashdbg_core.redact.rules import Rule
from stashdbg_core.redact.scan import scan_recording
from stashdbg_core.report.masking import ReportRedactor, Residue
from stashdbg_core.report.personal import Person
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.sharing_tags import list_tag, ref_tag
from stashdbg_core.store.writer import encode_recording
from tests.core.redact.made_up_secrets import SHAPES
from tests.core.redact.test_properties import trees

LETTERS = str.maketrans("0123456789", "abcdefghij")
PERSON = Person(homes=("/home/ada",), names=("ada",))
NAMES = ["password", "Authorization", "pin", "max_tokens", "content", "name", "api_key", "value", "headers"]


class Splitter:
    """Stores trees in pieces of any size, lists as extensions of others; nothing that our own writer would make.

    Args:
        chance: Decides where to cut.
    """

    def __init__(self, chance: random.Random) -> None:
        self.blobs = BlobStore()
        self._chance = chance

    def store(self, tree: Json) -> str:
        """Store a tree and return its ref."""
        return self._put(self._text(tree, top=True))

    def _put(self, text: bytes) -> str:
        ref = "p" + content_ref(text)[-12:]
        self.blobs.put_raw(ref, text)
        return ref

    def _text(self, tree: Json, top: bool = False) -> bytes:
        chance = self._chance
        if type(tree) is dict:
            text = b"{" + b",".join(stored_form(k) + b":" + self._text(v) for k, v in tree.items()) + b"}"
        elif type(tree) is list and tree and chance.random() < 0.5:
            cuts = sorted(chance.randint(0, len(tree)) for _ in range(chance.randint(1, 3)))
            parts = [tree[start:end] for start, end in zip([0, *cuts], cuts, strict=False)]
            refs = [self._put(self._list(part)) for part in parts]
            text = list_tag(refs, [self._text(item) for item in tree[cuts[-1] :]])
            if chance.random() < 0.9 and not top:
                text = ref_tag(self._put(text))
        elif type(tree) is list:
            text = self._list(tree)
        else:
            text = stored_form(tree)
        while chance.random() < 0.3:
            text = ref_tag(self._put(text))
        return text

    def _list(self, items: list[Json]) -> bytes:
        if len(items) > 1 and self._chance.random() < 0.5:
            cut = self._chance.randint(1, len(items))
            return list_tag([self._put(self._list(items[:cut]))], [self._text(i) for i in items[cut:]])
        return b"[" + b",".join(map(self._text, items)) + b"]"


def secret(number: int) -> str:
    shape = sorted(SHAPES)[number % len(SHAPES)]
    return SHAPES[shape](random.Random(number))


said = st.one_of(
    st.integers(0, 40).map(lambda number: f"use {secret(number)} in /home/ada/src"),
    st.sampled_from(["hello", "--password", "--api-key", "-v", "ada", "", "plain words", "token=abcdef123"]),
    st.integers(0, 9999),
)
named = st.builds(lambda name, value: {"name": name, "value": value}, st.sampled_from(NAMES), said)
pair = st.tuples(st.sampled_from(NAMES), said).map(list)
streams = st.builds(
    lambda text, cut: {"$stash": "stream", "kind": "sync", "chunks": [text[:cut], text[cut:]], "ending": "closed"},
    st.integers(0, 40).map(secret),
    st.integers(1, 8),
)
tuples = pair.map(lambda items: {"$stash": "tuple", "items": items})
errors = st.builds(
    lambda args, inner: {
        "$stash": "exception",
        "class": "builtins:OSError",
        "text": repr(args),
        "args": args,
        "attributes": {"sent": inner, "api_key": str(inner)},
    },
    st.lists(st.one_of(said, pair), max_size=3),
    st.one_of(said, pair, named),
)
odd_trees = st.one_of(trees, said, named, streams, errors, pair, st.lists(st.one_of(pair, tuples), max_size=4))
entries = st.one_of(
    odd_trees, st.dictionaries(st.sampled_from(NAMES), st.one_of(odd_trees, st.lists(said, max_size=5)))
)
chats = st.lists(entries, min_size=1, max_size=7)


def recorded(splitter: Splitter, values: list[Json]) -> Recording:
    events = [
        RecordedEvent(seq, "llm", "chat", seq, "return", splitter.store(value)) for seq, value in enumerate(values)
    ]
    return Recording("run", EventList(events), splitter.blobs)


def growing(chat: list[Json], name: str) -> list[Json]:
    """Return a chat turn by turn, and once more under a name."""
    turns: list[Any] = [{"messages": chat[:end]} for end in range(1, len(chat) + 1)]
    return [*turns, {name: chat}, chat, {"messages": [{name: chat[0]}, *chat]}]


def masked_whole(recording: Recording, redactor: Redactor) -> dict[str, Json]:
    """Return every value of the events masked by a walk over all of it; of one that is damaged, its masked text."""
    table = recording.blobs
    masked: dict[str, Json] = {}
    for ref in table.refs():
        redactor.reserve(table.payload(ref).raw.decode())
    for ref in dict.fromkeys(event.ref for event in recording.events):
        try:
            masked[ref] = redactor.redact_tree(table.tree(ref))
        except StashError:
            masked[ref] = redactor.redact_text(table.payload(ref).raw.decode())
    return masked


def found_whole(recording: Recording, redactor: Redactor) -> list[tuple[int, str, str]]:
    """Return seq, pointer and kind of everything found by walks over whole values."""
    found: list[tuple[int, str, str]] = []
    for ref, seq in reversed({event.ref: event.seq for event in reversed(recording.events)}.items()):
        try:
            tree = recording.blobs.tree(ref)
        except StashError:
            tree = recording.blobs.payload(ref).raw.decode()
        found += [(seq, pointer, kind) for pointer, kind in redactor.findings(tree)]
    return found


def value_of(blobs: BlobTable, ref: str) -> Json:
    try:
        return blobs.tree(ref)
    except StashError:
        return blobs.payload(ref).raw.decode()


def check(recording: Recording, whole: Redactor, by_piece: Redactor, *, counted: bool = True) -> None:
    """Mask a recording both ways and compare values, placeholders and counts."""
    expected = masked_whole(recording, whole)
    counts = dict(whole.counts)
    masked = redact_recording(recording, by_piece)
    for before, after in zip(recording.events, masked.events, strict=True):
        assert stored_form(value_of(masked.blobs, after.ref)) == stored_form(expected[before.ref])
    assert not counted or dict(by_piece.counts) == counts


@settings(max_examples=40, deadline=None)
@given(chats, st.sampled_from(NAMES), st.integers())
def test_a_growing_chat_is_masked_as_if_every_prompt_were_whole(chat: list[Json], name: str, seed: int) -> None:
    check(recorded(Splitter(random.Random(seed)), growing(chat, name)), Redactor(), Redactor())


@settings(max_examples=40, deadline=None)
@given(chats, st.sampled_from(NAMES), st.integers())
def test_a_scan_by_piece_finds_what_a_scan_of_whole_values_finds(chat: list[Json], name: str, seed: int) -> None:
    recording = recorded(Splitter(random.Random(seed)), growing(chat, name))
    found = [(place.seq, place.pointer, place.kind) for place in scan_recording(recording) if place.part == "value"]
    masked_pointer = Redactor().redact_text
    expected = found_whole(recording, Redactor())
    assert found == [(seq, "/".join(map(masked_pointer, at.split("/"))), kind) for seq, at, kind in expected]


@settings(max_examples=12, deadline=None)
@given(chats, st.sampled_from(NAMES), st.integers())
def test_a_report_takes_the_person_and_known_secrets_out_of_pieces_too(chat: list[Json], name: str, seed: int) -> None:
    recording = recorded(Splitter(random.Random(seed)), growing(chat, name))
    check(recording, ReportRedactor(RuleSet(), PERSON), ReportRedactor(RuleSet(), PERSON))
    known = {secret(number): f"[REDACTED:known#{number}]" for number in range(40)} | {"hello": "[REDACTED:word#99]"}
    check(recording, Residue(known), Residue(known))


@settings(max_examples=20, deadline=None)
@given(chats, st.sampled_from(NAMES), st.integers())
def test_missing_and_circular_pieces_spoil_the_values_that_use_them_alone(
    chat: list[Json], name: str, seed: int
) -> None:
    chance = random.Random(seed)
    recording = recorded(Splitter(chance), growing(chat, name))
    refs = list(recording.blobs.refs())
    bad = chance.choice(refs)
    link = ref_tag(chance.choice(refs))
    spoiled = [b"", b"{", link, b'["token=abc-123-def",%b]' % link, b'{"pin":%b}' % link]
    blobs = BlobStore()
    for ref in refs:
        blobs.put_raw(ref, recording.blobs.payload(ref).raw if ref != bad else chance.choice(spoiled))
    recording = replace(recording, blobs=blobs)
    check(recording, Redactor(), Redactor(), counted=False)  # what a spoiled value used is masked by itself
    found = [(place.seq, place.kind) for place in scan_recording(recording) if place.part == "value"]
    assert found == [(seq, kind) for seq, _, kind in found_whole(recording, Redactor())]


def test_what_all_prompts_share_is_looked_at_once_and_stays_shared() -> None:
    looks: list[str] = []
    rule = Rule("word", r"needle-[a-z]{4}", check=lambda text: not looks.append(text), anchors=("needle-",))
    blobs = BlobStore()
    chat = [
        {"role": "user", "content": f"turn {turn} " + "said " * 300 + f"needle-{turn:04}".translate(LETTERS)}
        for turn in range(40)
    ]
    prompts: list[Json] = [{"model": "m", "messages": chat[:end]} for end in range(1, 41)]
    events = [RecordedEvent(seq, "llm", "chat", seq, "return", blobs.put(prompt)) for seq, prompt in enumerate(prompts)]
    recording = Recording("run", EventList(events), blobs)
    redactor = Redactor([rule])
    masked = redact_recording(recording, redactor)
    assert len(looks) == 40
    assert redactor.counts == {"word": 40 * 41 // 2}
    assert masked.blobs.tree(masked.events[39].ref) == Redactor([rule]).redact_tree(prompts[39])
    assert len(encode_recording(masked)) < 1.1 * len(encode_recording(recording))
    looks.clear()
    found = list(scan_recording(recording, Redactor([rule])))
    assert len(looks) == 40
    assert [place.pointer for place in found if place.seq == 2] == [f"/messages/{at}/content" for at in range(3)]
