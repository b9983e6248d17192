"""The tape of a whole program: what a recorder of the library is, for calls whose values arrive as JSON trees.

A call has its place when it starts; its outcome is masked and in the journal when ``end`` returns, and only then is the
program told. Calls may begin in one thread and end in another.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from stashdbg_core.calls import ABSENT, CallOptions
from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.programs.tapes.secrets import Secrets, masked_texts
from stashdbg_core.programs.tapes.stream_secrets import masked_stream
from stashdbg_core.record.call import Call
from stashdbg_core.record.capture import Capture, Kind
from stashdbg_core.record.ledger import JournalLedger
from stashdbg_core.record.losses import Losses
from stashdbg_core.record.masking import Masking, Rules
from stashdbg_core.record.names import Names
from stashdbg_core.record.run_meta import RunMeta
from stashdbg_core.record.tape_end import Caps, TapeEnd, time_of
from stashdbg_core.redact.rule_file import RuleSet

_MOST_NOTES = 100
_TOKEN = "[REDACTED:stashdbg-token]"
Say = Callable[[str, str], None]
"""Told at once, from any thread, what a person should know: a kind and a sentence, which may hold recorded text."""


class ProgramTape:
    """Records the calls of a program to a file.

    Args:
        path: The file; a name that is taken becomes ``run-2.json``, ``run-3.json``, ….
        masking: What is masked before anything is stored.
        meta: What is known about the run; masked as values are.
        force: Replace the file when the recording is closed.
        say: Told of the first loss.

    Raises:
        StashError: The journal cannot be created.
    """

    def __init__(
        self, path: Path, masking: Masking, meta: Mapping[str, Json], *, force: bool = False, say: Say | None = None
    ) -> None:
        self._token = _Token()
        masking.rules.insert(0, self._token)
        self._masking = masking
        self._losses = _ProgramLosses(say)
        self._capture = _TreeCapture(masking, self._losses, None, None)
        self._about = RunMeta(meta, masking, self._capture, time_of(time.time, self._losses))
        self.id = self._about.made_up_id()
        self._ledger = _Ledger(path, self.id, self._about.at_start(), force=force)
        caps = Caps(None, None, None)
        self._tape = _TreeTape(self._ledger, Names(masking), self._capture, self._losses, caps, time.time)
        self._open: dict[int, Call] = {}
        self._last_seq = -1
        self._lock = threading.Lock()
        self._more: dict[str, Json] = {}
        self._notes: dict[tuple[str, str], int] = {}

    @property
    def path(self) -> Path:
        """The file that is, or will be, written."""
        return self._ledger.path

    @property
    def written(self) -> Path:
        """What is there once the tape has ended: the file, or the journal if the file could not be written."""
        return self._ledger.path if self._ledger.is_packed else self._ledger.journal_path

    @property
    def lost(self) -> int:
        """How many calls could not be written down."""
        return self._losses.events

    @property
    def journal(self) -> Path:
        """The file that grows while the program runs."""
        return self._ledger.journal_path

    @property
    def size(self) -> int:
        """How many events are on the tape."""
        return self._tape.size

    @property
    def notes(self) -> dict[tuple[str, str], int]:
        """What was noted, by kind and sentence, and how often."""
        with self._lock:
            return dict(self._notes)

    @property
    def losses(self) -> Mapping[str, int]:
        """What could not be recorded, by kind."""
        return dict(self._losses.counts)

    def begin(
        self,
        channel: str,
        key: str,
        given: Any = ABSENT,
        *,
        label: str | None = None,
        thread: str | None = None,
        parent: int | None = None,
        site: str | None = None,
    ) -> Call:
        """Start a call; ``given`` is the tree of its input."""
        options = CallOptions(label=label, thread=thread, parent=parent)
        call = self._tape.begin(channel, key, given, options, None if site is None else self._tape.text(site))
        if call.seq is not None:
            with self._lock:
                self._open[call.seq] = call
                self._last_seq = max(self._last_seq, call.seq)
        return call

    def last_began(self, at: float) -> None:
        """Say when the call that was begun last really began, in milliseconds since the epoch."""
        with self._lock:
            call = self._open.get(self._last_seq)
            if call is not None:
                call.at = round(at, 3)

    def end(self, seq: int, outcome: str, tree: Json, ms: float) -> None:
        """Put a call on the tape; it is in the journal when this returns.

        Raises:
            StashError: No such call has begun.
        """
        with self._lock:
            call = self._open.pop(seq, None)
            known = seq <= self._last_seq
        if call is None:
            if known:  # said twice: a signal may have cut the first time short
                return
            raise invalid_input(f"no call {seq} has begun", hint="end a call with the seq it was given")
        self._tape.keep_tree(call, outcome, masked_stream(tree, self._masking), round(ms, 3))

    def put(self, call: Call, outcome: str, tree: Json, ms: float = 0.0) -> None:
        """End a call that was begun here just now."""
        if call.seq is not None:
            self.end(call.seq, outcome, tree, ms)

    def note(self, kind: str, message: str) -> None:
        """Keep a note for ``meta.notes``."""
        with self._lock:
            if (kind, message) in self._notes or len(self._notes) < _MOST_NOTES:
                self._notes[kind, message] = self._notes.get((kind, message), 0) + 1

    def hide(self, token: str) -> None:
        """Mask what lets programs in: a command that prints its environment prints it too."""
        self._token.hidden = Secrets({_TOKEN: token})

    def tell(self, **facts: Json) -> None:
        """Add facts to ``meta``, ``python`` to its ``command``; they are written when the tape is closed."""
        self._more.update(facts)

    def close(self) -> None:
        """End the tape: calls in flight become pending, the journal becomes the file."""
        self._tape.close(self._meta)

    def discard(self) -> None:
        """End the tape without a file: nothing was recorded."""
        self._ledger.discard()

    def _meta(self) -> dict[str, Json]:
        known = self._about.now(self._losses, complete=True)
        notes = [{"kind": kind, "message": text, "count": count} for (kind, text), count in self.notes.items()]
        more = {**self._more, **({"notes": notes} if notes else {})}
        python = more.pop("python", None)
        if python is not None and isinstance(known.get("command"), dict):
            known["command"] = {**known["command"], "python": self._capture.entry("python", python)}
        return {**known, **{key: self._capture.entry(key, value) for key, value in more.items()}}


class _Token:
    """Rules that mask the token of a run, which is known when the program is started."""

    counts: Mapping[str, int] = MappingProxyType({})

    def __init__(self) -> None:
        self.hidden = Secrets({})

    def suspects(self, stored: bytes) -> bool:
        """Tell whether a stored form holds it."""
        return self.hidden.suspects(stored)

    def redact_tree(self, tree: Json) -> Json:
        """Return the tree without it."""
        return self.hidden.redact_tree(tree)

    def redact_text(self, text: str) -> str:
        """Return the text without it."""
        return self.hidden.redact_text(text)


class _Ledger(JournalLedger):
    """A journal that may turn out to be for nothing."""

    @property
    def is_packed(self) -> bool:
        """Whether it has become the file."""
        return self._packed

    def discard(self) -> None:
        """Take the journal away."""
        self._journal.close()
        self.journal_path.unlink(missing_ok=True)


class _TreeCapture(Capture):
    """Takes trees, in which tags are tags, where a recorder takes live values."""

    def value(self, value: Any, channel: str, key: str, kind: Kind, seq: int) -> bytes:
        """Capture a tree."""
        return self.stored(stored_form(value), channel, key, kind, seq)


class _TreeTape(TapeEnd):
    """A tape end that is told lanes and durations."""

    def keep_tree(self, call: Call, outcome: str, tree: Json, ms: float) -> None:
        """Put an outcome on the tape."""
        if call.seq is not None:
            kind: Kind = "value" if outcome == "return" else "error"
            self._commit(call, outcome, self._capture.value(tree, call.channel, call.key, kind, call.seq), ms)

    def text(self, text: str) -> str | None:
        """Return a short text as it may be stored."""
        return self._names.text(text)

    def _lane(self) -> str | None:
        return None


class _ProgramLosses(Losses):
    """Counts losses; says the first to whoever watches the run, not as a warning of this process."""

    def __init__(self, say: Say | None) -> None:
        super().__init__(strict=False)
        self._said = True
        self._say = say

    def lost(self, kind: str, what: str, cause: BaseException | None = None) -> None:
        """Count a loss."""
        super().lost(kind, what, cause)
        say, self._say = self._say, None
        if say is not None:
            why = f" ({cause.message})" if isinstance(cause, StashError) else ""
            why = f" ({cause.strerror})" if isinstance(cause, OSError) and cause.strerror else why
            say("loss", f"the recording is not whole: {what}{why}; further losses are only counted")


def masking_of(rules: RuleSet | None, *before: Rules, earlier: Recording | None = None) -> Masking:
    """Return what a new tape masks.

    Args:
        rules: What is masked; the default rules when None.
        before: Further rules, which come first.
        earlier: A recording whose values go on the tape: the numbers of its placeholders are taken.
    """
    redactor = (rules or RuleSet()).redactor()
    if earlier is not None:
        for text in masked_texts(earlier):
            redactor.reserve(text)
    masking = Masking([*before, redactor])
    masking.default = rules is None or rules == RuleSet()
    return masking
