"""Live and recorded inputs in the form in which they are compared.

Compared is what a recording of the live input would hold: the encoded tree, redacted if the recording is, without
placeholder numbers and ignored parts. Values handed to the program are never touched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from stashdbg_core.calls import ABSENT, RedactContext
from stashdbg_core.canonical import Json, content_digest, content_ref, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.parse import parse_json
from stashdbg_core.record.masking import DEFAULT, Default, Masking, Redaction
from stashdbg_core.redact import Redactor, normalise_placeholders
from stashdbg_core.replay.field_changes import Change, field_changes
from stashdbg_core.replay.ignore import Ignore
from stashdbg_core.store.sharing_tags import names_tag
from stashdbg_core.tags import DROPPED, TAG, UNSTORABLE
from stashdbg_core.values import Snapshot, TypeRegistry, decode_value, encode_value, snapshot

_MOST_NAMES = 4096
_PLACEHOLDER = b"[REDACTED:"
_parse = msgspec.json.Decoder().decode
_encode_canonical = msgspec.json.Encoder(order="sorted").encode
_NO_CONTENT = {DROPPED: "a redact function dropped it", UNSTORABLE: "it could not be stored"}


class LiveInput:
    """The input of a live call, encoded when the call was made; the tree that is compared is made when needed."""

    __slots__ = ("_digest", "_known", "_prepare", "_snapshot", "_tree", "ref")

    def __init__(
        self, taken: Snapshot, prepare: Callable[[Json, bytes], Json], known: Mapping[str, str | None]
    ) -> None:
        self._snapshot: Snapshot | None = taken
        self._tree: Json = None
        self._prepare = prepare
        self._known = known
        self._digest: str | None = None
        self.ref = content_ref(taken.stored)
        """Its reference; an event with the same ``inputRef`` has an equal input."""

    @property
    def tree(self) -> Json:
        """The tree that is compared."""
        if self._snapshot is not None:
            self._tree = self._prepare(self._snapshot.tree, self._snapshot.stored)
            self._snapshot = None
        return self._tree

    @property
    def digest(self) -> str:
        """What equal inputs share."""
        if self._digest is None:
            self._digest = self._known.get(self.ref) or content_digest(self.tree)
        return self._digest


class Inputs:
    """Encodes live inputs and reads recorded ones, for one replay."""

    def __init__(self, recording: Recording, types: TypeRegistry | None, ignore: Ignore, redact: Redaction) -> None:
        self._blobs = recording.blobs
        self._types = types
        self._ignore = ignore
        self._masking = _masking(recording.meta.get("redaction"), redact)
        self._names: dict[tuple[str, str], tuple[str, str]] = {}
        self._digests: dict[str, str | None] = {}
        self.problems: dict[str, str] = {}
        """Why the input with this reference cannot be compared, in words."""

    def live(self, channel: str, key: str, value: Any) -> LiveInput | None:
        """Return a live input ready to be compared, or None if the call has none."""
        return None if value is ABSENT else self._live(channel, key, snapshot(value, self._types))

    def live_tree(self, channel: str, key: str, tree: Json) -> LiveInput:
        """Return a live input that is a JSON tree already, tags in it read as such."""
        return self._live(channel, key, Snapshot(stored_form(tree), tree))

    def _live(self, channel: str, key: str, taken: Snapshot) -> LiveInput:
        masking = self._masking
        if masking is None:
            return LiveInput(taken, self.prepared, self._digests)
        if masking.functions:
            context = RedactContext(channel, key, "input", -1)
            tree = masking.tree(taken.tree, context, self._decode, self._encode)
            return LiveInput(Snapshot(stored_form(tree), tree), self.prepared, self._digests)
        # Masking twice changes nothing, so an input that equals a recorded one as it stands needs no masking.
        return LiveInput(taken, partial(self._masked, channel, key), self._digests)

    def _masked(self, channel: str, key: str, tree: Json, stored: bytes) -> Json:
        if self._masking is None or not self._masking.suspects(stored):
            return self.prepared(tree, stored)
        context = RedactContext(channel, key, "input", -1)
        return self.prepared(self._masking.tree(tree, context, self._decode, self._encode))

    def _decode(self, tree: Json) -> Any:
        return decode_value(tree, types=self._types)

    def _encode(self, value: Any) -> Json:
        return encode_value(value, types=self._types).tree

    def name(self, channel: str, key: str) -> tuple[str, str]:
        """Return channel and key as a recording has them: masked, without placeholder numbers."""
        if self._masking is None:
            return channel, key
        known = self._names.get((channel, key))
        if known is None:
            if len(self._names) >= _MOST_NAMES:
                self._names.clear()
            known = unnumbered(self._masking.text(channel)), unnumbered(self._masking.text(key))
            self._names[channel, key] = known
        return known

    def prepared(self, tree: Json, stored: bytes | None = None) -> Json:
        """Return a tree without placeholder numbers and ignored parts; ``stored``, if known, saves a walk."""
        if self._masking is not None and (stored is None or _PLACEHOLDER in stored):
            tree = normalise_placeholders(tree)
        return self._ignore.apply(tree) if self._ignore else tree

    def recorded_tree(self, ref: str) -> Json:
        """Return a recorded input as it is compared.

        Raises:
            StashError: It is missing or damaged.
        """
        text = self._blobs.text(ref)
        return self.prepared(parse_json(text), text)

    def changes(self, event: RecordedEvent, live: LiveInput) -> tuple[Change, ...] | None:
        """Return where a recorded input differs from a live one, masked; None if the recorded one can't be read.

        Secrets are masked whatever the recording holds, for the result goes into messages.
        """
        digest = self.recorded_digest(event)
        if digest is None or event.input_ref is None:
            return None
        if digest == live.digest:
            return ()
        recorded, asked = self.recorded_tree(event.input_ref), live.tree
        if self._masking is None:
            rules = Redactor()
            recorded, asked = rules.redact_tree(recorded), rules.redact_tree(asked)
        return field_changes(recorded, asked)

    def shown(self, event: RecordedEvent) -> Json:
        """Return a recorded input for a message, masked; None if it can't be read."""
        if event.input_ref is None or self.recorded_digest(event) is None:
            return None
        tree = self.recorded_tree(event.input_ref)
        return tree if self._masking is not None else Redactor().redact_tree(tree)

    def is_same_text(self, ref: str, live: LiveInput) -> bool:
        """Tell whether a recorded input made of shared pieces is, whole, the very text of a live one."""
        try:
            return content_ref(self._blobs.text(ref)) == live.ref
        except StashError:
            return False

    def _is_compared_as_it_is(self, text: bytes) -> bool:
        return not self._ignore and not names_tag(text) and (self._masking is None or _PLACEHOLDER not in text)

    def recorded_digest(self, event: RecordedEvent) -> str | None:
        """Return what inputs equal to the recorded one share, or None if there is nothing to compare."""
        ref = event.input_ref
        if ref is None:
            return None
        if ref not in self._digests:
            self._digests[ref] = self._read_digest(ref, event.seq)
        return self._digests[ref]

    def _read_digest(self, ref: str, seq: int) -> str | None:
        try:
            text = self._blobs.text(ref)
            if self._is_compared_as_it_is(text):
                digest = _text_digest(text)
                self._digests[content_ref(text)] = digest  # a live input has the ref of its whole text
                return digest
            tree = self.prepared(parse_json(text), text)
        except StashError as problem:
            self.problems[ref] = f"the input of seq {seq} was not compared: {problem.message}"
            return None
        tag = tree.get(TAG) if type(tree) is dict else None
        if tag in _NO_CONTENT:
            self.problems[ref] = f"the input of seq {seq} was not compared: {_NO_CONTENT[tag]}"
            return None
        return content_digest(tree)


def _text_digest(text: bytes) -> str:
    """Return the content digest of a JSON text; what the fast parser makes, the fast encoder spells exactly."""
    try:
        return hashlib.sha256(_encode_canonical(_parse(text))).hexdigest()
    except (msgspec.DecodeError, ValueError, RecursionError):
        return content_digest(parse_json(text))


def unnumbered(name: str) -> str:
    """Return a channel or key without the numbers of its placeholders."""
    return str(normalise_placeholders(name))


def _masking(description: Json, redact: Redaction) -> Masking | None:
    """Choose how live inputs are masked: as asked, else by the default rules if the recording says it was masked."""
    if not isinstance(redact, Default):
        chosen = Masking(redact)
        return chosen if chosen.on else None
    rules = description.get("rules") if isinstance(description, dict) else description
    return Masking(DEFAULT) if rules and rules != "off" else None
