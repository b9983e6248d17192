"""What a reader tells of a run, made into a recording: secrets masked, values shared, calls numbered.

Events stand in the order in which they started. A value is masked before it is stored, once; a conversation is stored
as it grows (``chat.py``). Marks reach the events told of lately, and become notes past that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from stashdbg_core import tags
from stashdbg_core.calls import ABSENT
from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.formats.chat import Chat, Input
from stashdbg_core.formats.findings import Findings
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.masking import Masker
from stashdbg_core.formats.source import ForeignSource, Line
from stashdbg_core.formats.trees import settled
from stashdbg_core.model import NO_EXTRA, THROW, RecordedEvent
from stashdbg_core.record.ledger import Ledger, MemoryLedger
from stashdbg_core.redact import Redactor
from stashdbg_core.store.sharing import Sharer

__all__ = ["ABSENT", "Chat", "Input", "Outcome", "RunSink"]

Outcome: TypeAlias = Literal["return", "throw"]
_MARKABLE = 1024
"""Events that wait for marks before a journal has them."""
_PENDING: Json = {tags.TAG: tags.PENDING}
_OWN_KEYS = frozenset(
    {"seq", "channel", "key", "ordinal", "outcome", "ref", "inputRef"}
    | {"at", "label", "thread", "parent", "ms", "callId", "site"}
)


class RunSink:
    """Takes one run of a foreign file.

    Args:
        format_name: The format's name.
        source: The file.
        run: Which run of it, from 0.
        redactor: Masks secrets; the default rules if not given.
        open_ledger: Opens where events go, given the recording's id; memory if not given.
    """

    def __init__(
        self,
        format_name: str,
        source: ForeignSource,
        run: int = 0,
        *,
        redactor: Redactor | None = None,
        open_ledger: Callable[[str], Ledger] | None = None,
    ) -> None:
        self._source = source
        self._format = format_name
        self._run = run
        self.redactor = redactor or Redactor()
        self._masker = Masker(self.redactor)
        self._open_ledger = open_ledger
        self._ledger: Ledger | None = None
        self._id: str | None = None
        self._sharer = Sharer(self._put)
        self._sizes: dict[tuple[str, str], int] = {}
        """Events by channel and key."""
        self._open: dict[int, RecordedEvent] = {}
        self._marks: dict[int, dict[str, bytes]] = {}
        """Of calls that have not finished."""
        self._recent: dict[int, RecordedEvent] = {}
        self._texts: dict[str, str] = {}
        self._count = 0
        self.findings = Findings()
        """Notes, and what was unknown, skipped or damaged."""

    def __len__(self) -> int:
        return self._count

    @property
    def ledger(self) -> Ledger:
        """Where events go."""
        if self._ledger is None:
            self._ledger = MemoryLedger() if self._open_ledger is None else self._open_ledger(self.recording_id)
        return self._ledger

    @property
    def recording_id(self) -> str:
        """The recording's id: the format and the run's own id, or the beginning of the file."""
        if self._id is None:
            digest = hashlib.sha256(self._source.head()).hexdigest()[:16]
            self._id = f"{self._format}-{digest}" + (f"-{self._run + 1}" if self._run else "")
        return self._id

    def start(
        self,
        channel: str,
        key: str,
        *,
        input: Json | Input = ABSENT,
        at: float | None = None,
        label: str | None = None,
        thread: str | None = None,
        parent: int | None = None,
        call_id: str | None = None,
    ) -> int:
        """Start a call and return its ``seq``; the order of calls to this is the order of events.

        Args:
            channel: Kind of call.
            key: Its name within the channel.
            input: What it was given; of a model call, ``Chat.input``.
            at: When it started, in milliseconds since the epoch.
            label: One line about it; cut and cleaned here.
            thread: Its lane; None is the main one.
            parent: The call during which it was made.
            call_id: The tool's own name of the call.
        """
        seq = self._count
        self._count += 1
        channel, key = self._text(channel), self._text(key)
        ordinal = self._sizes.get((channel, key), 0)
        self._sizes[channel, key] = ordinal + 1
        self._open[seq] = RecordedEvent(
            seq,
            channel,
            key,
            ordinal,
            THROW,
            "",
            None if input is ABSENT else self._store(input),
            at,
            None if label is None else self._label(label),
            None if thread is None else self._text(thread),
            parent,
            None,
            None if call_id is None else self._text(call_id),
        )
        return seq

    def finish(
        self,
        seq: int,
        value: Json,
        *,
        outcome: Outcome = "return",
        at: float | None = None,
        ms: float | None = None,
        label: str | None = None,
    ) -> None:
        """Give a call its outcome; a second one, or one of a call that never started, is left out and noted.

        Args:
            seq: What ``start`` returned.
            value: What it returned, or the error it raised.
            outcome: Which of the two.
            at: When it finished; the event's time if it has none from its start.
            ms: How long it took.
            label: One line about it, in place of the one from its start.
        """
        call = self._open.pop(seq, None)
        if call is None:
            self.note("second-result", f"event {seq} has a second result, which is left out", seq=seq)
            return
        extra = self._marks.pop(seq, NO_EXTRA)
        if extra and call.extra:
            extra = {**call.extra, **extra}
        self._append(
            call.replaced(
                outcome=outcome,
                ref=self._store(value),
                at=at if call.at is None else call.at,
                ms=ms,
                label=call.label if label is None else self._label(label),
                extra=extra or call.extra,
            )
        )

    def event(
        self,
        channel: str,
        key: str,
        *,
        value: Json,
        outcome: Outcome = "return",
        input: Json | Input = ABSENT,
        at: float | None = None,
        ms: float | None = None,
        label: str | None = None,
        thread: str | None = None,
        parent: int | None = None,
        call_id: str | None = None,
        extra: Mapping[str, Json] | None = None,
    ) -> int:
        """Tell of a call whose outcome is known, and return its ``seq``; see ``start`` and ``finish``.

        ``extra`` holds further keys of the event.
        """
        seq = self.start(channel, key, input=input, at=at, label=label, thread=thread, parent=parent, call_id=call_id)
        for name, fact in (extra or {}).items():
            self._mark(seq, name, fact)
        self.finish(seq, value, outcome=outcome, ms=ms)
        return seq

    def chat(self) -> Chat:
        """Return a new, empty conversation."""
        return Chat(self._stored, self._sharer, self._put)

    def identify(self, native_id: str | None) -> None:
        """Say the run's own id in its file; what is said before the first event counts."""
        if native_id and self._id is None:
            self._id = self.redactor.redact_text(label_of(f"{self._format}-{native_id}"))

    def meta(self, **facts: Json) -> None:
        """Say what is known about the run; each becomes a key of the recording's ``meta.source``."""
        for name, fact in facts.items():
            if fact is not None:
                self.findings.facts[name] = self._masked(fact)

    def title(self, text: str | None) -> None:
        """Say what the run is called, if that is known."""
        if text:
            self.findings.title = self.redactor.redact_text(label_of(text)) or None

    def note(self, kind: str, message: str, *, seq: int | None = None, offset: int | None = None) -> None:
        """Say something that a reader of the recording should know."""
        self.findings.note(kind, self.redactor.redact_text(message), seq, offset)

    def damaged_line(self, line: Line, why: str) -> None:
        """Say that a line could not be read."""
        self.findings.damaged_line(line, why)

    def unknown(self, what: str) -> None:
        """Count something that this version does not know, such as ``record type foo``; it should be kept."""
        self.findings.count(self.findings.unknown, what)

    def skipped(self, what: str) -> None:
        """Count something known that is left out on purpose."""
        self.findings.count(self.findings.skipped, what)

    def inferred(self, seq: int) -> None:
        """Mark an event as one that the file does not state but implies."""
        self._mark(seq, "inferred", True)

    def cut(self, seq: int, why: str) -> None:
        """Mark an event of which the source had left something out."""
        self._mark(seq, "cut", label_of(why))

    def abandoned(self, seq: int) -> None:
        """Mark an event of a branch that its user went back from: no later call knows of it."""
        self._mark(seq, "abandoned", True)

    def end(self) -> None:
        """Say that there is no more: calls without an outcome become pending."""
        for seq, call in list(self._open.items()):
            del self._open[seq]
            extra = {**call.extra, **self._marks.pop(seq, {})}
            self._append(call.replaced(ref=self._store_own(_PENDING), extra=extra or NO_EXTRA))
            self.findings.pending += 1
        for event in self._recent.values():
            self.ledger.append(event)
        self._recent.clear()

    def meta_tree(self) -> dict[str, Json]:
        """Return the recording's ``meta``."""
        source = self.findings.to_json(self._format, self._source.name, self._run)
        meta: dict[str, Json] = {"title": self.findings.title} if self.findings.title else {}
        complete = self.findings.facts.get("complete")
        meta["complete"] = complete if isinstance(complete, bool) else True
        meta["redaction"] = {"rules": "default", "counts": dict(sorted(self.redactor.counts.items()))}
        return {**meta, "source": source}

    def _append(self, event: RecordedEvent) -> None:
        self._recent[event.seq] = event
        if self._open_ledger is not None and len(self._recent) > _MARKABLE:
            self.ledger.append(self._recent.pop(next(iter(self._recent))))

    def _mark(self, seq: int, name: str, fact: Json) -> None:
        name = f"{name}_" if name in _OWN_KEYS else name
        marks = {name: stored_form(self._masked(fact))}
        if seq in self._open:
            self._marks.setdefault(seq, {}).update(marks)
        elif (event := self._recent.get(seq)) is not None:
            self._recent[seq] = event.replaced(extra={**event.extra, **marks})
        else:
            self.note(name, f"event {seq}: {name} {fact if isinstance(fact, str) else ''}".rstrip(), seq=seq)

    def _label(self, text: str) -> str:
        return self.redactor.redact_text(label_of(text))

    def _put(self, stored: bytes) -> str:
        return self.ledger.put(stored)

    def _store(self, value: Json | Input) -> str:
        return self._sharer.store_tagged(value.stored if isinstance(value, Input) else self._stored(value))

    def _store_own(self, tree: Json) -> str:
        return self._put(stored_form(tree))

    def _stored(self, tree: Json) -> bytes:
        """Return the stored form of what may be kept of a tree."""
        return self._masker.stored(*settled(tree, self._put))

    def _masked(self, tree: Json) -> Json:
        """Return what may be kept of a small tree that is not stored as a value."""
        return self.redactor.redact_tree(settled(tree, self._put)[0])

    def _text(self, text: Any) -> str:
        """Return a name as it may be kept; names come again and again."""
        text = text if isinstance(text, str) else str(text)
        known = self._texts.get(text)
        if known is None:
            known = self.redactor.redact_text(text if len(text) <= 500 else text[:499] + "…")
            if len(self._texts) < 100_000:
                self._texts[text] = known
        return known
