"""The recorded calls of a run served to a program that runs again: matched by input, one call at a time.

Among recorded calls with equal input, one of the same lane is taken first. What a library drew for itself is served if
it is there and never missed; calls made inside a recorded process inform only. A call that has no counterpart gets
nobody else's value.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from stashdbg_core.calls import ABSENT
from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.model import THROW, EventSequence, RecordedEvent, Recording
from stashdbg_core.programs.tapes.served import outcome_tree
from stashdbg_core.programs.wire.protocol import SOFT
from stashdbg_core.record.masking import Redaction
from stashdbg_core.replay.divergence import Divergence, DivergenceReport, Nearest, call_name
from stashdbg_core.replay.findings import MOST_MISSING, Findings
from stashdbg_core.replay.ignore import Ignore, IgnorePattern
from stashdbg_core.replay.inputs import Inputs, LiveInput
from stashdbg_core.replay.matcher import Match, Matcher
from stashdbg_core.replay.outcomes import event_name
from stashdbg_core.replay.tape_index import COVERED, DIVERGED, UNUSED, Group
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.events import FileEvents
from stashdbg_core.tags import PENDING, TAG

_TAG_LENGTH = 64
_LINE = re.compile(r":[0-9]+(?= )")
"""The line in ``agent.py:42 plan``."""


@dataclass(frozen=True, slots=True)
class Served:
    """A recorded call and the tree of its outcome."""

    event: RecordedEvent
    tree: Json


@dataclass(frozen=True, slots=True)
class Missed:
    """There is no such recorded call."""

    divergence: Divergence
    left: bool
    """Whether recorded calls of its lane are still waiting to be asked for."""
    stand_in: Served | None = None
    """The recorded call at the same place, with another input."""


class Serving:
    """Finds the recorded call that a live one is, from any thread.

    Args:
        recording: The recorded calls.
        ignore: Parts of inputs that are not compared.
        redact: How live inputs are masked before they are compared; see ``Inputs``.
    """

    def __init__(self, recording: Recording, ignore: Sequence[IgnorePattern], redact: Redaction) -> None:
        self.recording = recording
        self._ignore = Ignore(ignore)
        self._inputs = Inputs(recording, None, self._ignore, redact)
        self._matcher = _LaneMatcher(recording, self._inputs)
        self._lock = threading.Lock()
        self._found = Findings()
        self._soft: dict[str | None, bool] = {}
        self._has_moved = False
        self._waiting: dict[str | None, list[int]] | None = None
        for position, parent in enumerate(_parents(recording.events)):
            if parent is not None:
                self._matcher.index.state[position] = COVERED

    @property
    def names(self) -> list[tuple[str, str]]:
        """Channel and key of the recorded calls, in the order they first occur."""
        return list(self._matcher.index.groups)

    def leave_out(self, channel: str, key: str) -> int:
        """Serve no call of this name; return how many there were."""
        group = self._matcher.index.groups.get(self._inputs.name(channel, key))
        for position in group.positions if group is not None else ():
            self._cover(position)
        return 0 if group is None else len(group.positions)

    def leave_out_calls(self, seqs: Iterable[int]) -> None:
        """Serve none of these calls."""
        for seq in seqs:
            position = self.recording.events.position_of(seq)
            if position is not None:
                self._cover(position)

    def leave_out_unfinished(self) -> None:
        """Serve no call that has no outcome."""
        for position, event in enumerate(self.recording.events):
            if event.outcome == THROW and _is_pending(self.recording, event):
                self._cover(position)

    def ask(
        self,
        channel: str,
        key: str,
        given: Any,
        lane: str | None,
        site: str | None,
        *,
        quiet: bool = False,
        explain: bool = True,
        moves: bool = False,
    ) -> Served | Missed:
        """Return the recorded call that a live one is.

        Args:
            channel: Of the live call.
            key: Of the live call.
            given: The tree of its input, or ``ABSENT``.
            lane: Where it was made.
            site: Where it was made.
            quiet: What is served does not count as matched.
            explain: Look for the nearest recorded calls even where none is waiting.
            moves: It is named by where it was made: where no call has this line, one of the same function is it.

        Raises:
            StashError: The recorded outcome cannot be served.
        """
        channel, key = self._inputs.name(channel, key)
        live = None if given is ABSENT else self._inputs.live_tree(channel, key, given)
        if live is not None:
            live.digest  # noqa: B018 -- worked out before the lock is taken
        with self._lock:
            self._matcher.lane = lane
            match = self._matcher.match(channel, key, live, has_input=live is not None)
            if match.event is None and moves:
                match = self._moved(channel, key, lane, site) or match
            if match.event is None:
                assert match.divergence is not None
                group = self._matcher.index.groups.get((channel, key))
                following = self._next_of(lane)
                divergence = match.divergence
                if group is not None and (following is not None or explain) and not quiet:
                    divergence = self._matcher.explained(group, divergence.ordinal, live)
                if following is not None and not divergence.nearest:
                    divergence = replace(divergence, nearest=(_expected(self.recording.events[following]),))
                left = following is not None
                return Missed(replace(divergence, site=site), left, self._same_place(group, divergence))
            try:
                return self._served(match, quiet=quiet)
            except StashError as error:
                if not quiet:
                    self._found.keep(_unservable(match.event, error, site))
                raise

    def diverged(self, missed: Missed, *, stands_in: bool = False) -> None:
        """Take down a divergence; ``stands_in``: the recorded call at the same place is served all the same."""
        with self._lock:
            divergence = missed.divergence
            if stands_in and missed.stand_in is not None:
                event = missed.stand_in.event
                position = self.recording.events.position_of(event.seq)
                if position is not None:
                    self._matcher.index.serve(position, event.seq)
                    self._matcher.index.state[position] = DIVERGED
                divergence = replace(divergence, kind="input-mismatch", seq=event.seq, ordinal=event.ordinal)
                self._found.consumed += 1
                self._found.mismatched += 1
            self._found.keep(divergence)

    def passed_by(self, missed: Missed) -> None:
        """Take down a divergence; the recorded call at the same place, if there is one, is not waited for any more."""
        with self._lock:
            if missed.stand_in is not None:
                position = self.recording.events.position_of(missed.stand_in.event.seq)
                if position is not None:
                    self._matcher.index.state[position] = DIVERGED
            self._found.keep(missed.divergence)

    def noted(self, text: str) -> None:
        """Take down what a report should say besides."""
        with self._lock:
            self._found.note(text)

    def broke(self, event: RecordedEvent, error: StashError, site: str | None) -> None:
        """Take down that a recorded outcome was found and is nothing that the call can give."""
        with self._lock:
            self._found.consumed -= 1
            self._found.keep(_unservable(event, error, site))

    def refused(self, what: str) -> None:
        """Take down a connection or process that no recorded call covers, and the program did not get."""
        with self._lock:
            self._found.keep(Divergence("extra-call", "refused", shorten(what, 200), 0, "no recorded call covers it"))

    def ran_live(self, seq: int | None) -> None:
        """Count a call that runs for real."""
        with self._lock:
            self._found.ran_live(seq)

    def read_live(self) -> None:
        """Tell that what ran for real last is a value that the program read, and no call."""
        with self._lock:
            self._found.live_values += 1

    def unreached(self) -> int | None:
        """Return the ``seq`` of the last recorded call to be served, if it was never asked for."""
        with self._lock:
            state = self._matcher.index.state
            for at in reversed(range(len(self.recording.events))):
                if state[at] != COVERED and not self._is_soft(at):
                    return self.recording.events[at].seq if state[at] == UNUSED else None
            return None

    def matched(self) -> int:
        """Return how many recorded calls were served."""
        return self._found.consumed

    @property
    def live(self) -> int:
        """How many calls ran for real."""
        return self._found.live

    def report(self, *, stopped: bool) -> DivergenceReport:
        """Return how the run went; one that was ``stopped`` is not asked why it made no further calls."""
        with self._lock:
            index = self._matcher.index
            unused = [at for at in index.unused() if not self._is_soft(at)]
            listed = [] if stopped else [self.recording.events[at] for at in islice(unused, MOST_MISSING)]
            problems = list(self._inputs.problems.values())
            report = self._found.report(listed, len(listed), self._ignore.names, problems)
            beyond = 0 if stopped else len(unused) - len(listed)
            return replace(report, unused=len(unused), dropped=report.dropped + beyond)

    def _served(self, match: Match, *, quiet: bool) -> Served:
        event = match.event
        assert event is not None
        try:
            tree = outcome_tree(self.recording, event)
        except StashError:
            self._matcher.index.state[match.position] = DIVERGED
            raise
        if not quiet:
            self._found.consumed += 1
            self._found.unchecked += match.unchecked
        return Served(event, tree)

    def _moved(self, channel: str, key: str, lane: str | None, site: str | None) -> Match | None:
        group = self._matcher.index.groups.get((channel, key))
        match = None if group is None or site is None else self._matcher.in_function(group, lane, site)
        if match is not None and not self._has_moved:
            self._has_moved = True
            self._found.note("lines of the program have moved: clocks and the like were matched by function")
        return match

    def _same_place(self, group: Group | None, divergence: Divergence) -> Served | None:
        position = None if group is None else group.at(divergence.ordinal)
        if position is None or self._matcher.index.state[position] != UNUSED:
            return None
        event = self.recording.events[position]
        try:
            return Served(event, outcome_tree(self.recording, event))
        except StashError:
            return None

    def _next_of(self, lane: str | None) -> int | None:
        """Return the position of the first call of a lane that is still to be asked for, or None."""
        if self._waiting is None:
            self._waiting = {}
            for at in reversed(range(len(self.recording.events))):
                self._waiting.setdefault(self.recording.events[at].thread, []).append(at)
        waiting, state = self._waiting.get(lane, []), self._matcher.index.state
        while waiting and (state[waiting[-1]] != UNUSED or self._is_soft(waiting[-1])):
            waiting.pop()
        return waiting[-1] if waiting else None

    def _is_soft(self, position: int) -> bool:
        ref = self.recording.events[position].input_ref
        if ref not in self._soft:
            self._soft[ref] = _says_soft(self.recording, ref)
        return self._soft[ref]

    def _cover(self, position: int) -> None:
        index = self._matcher.index
        index.serve(position, self.recording.events[position].seq)
        index.state[position] = COVERED


class _LaneMatcher(Matcher):
    """Matches by input, and takes a call of the asking lane before one of another."""

    lane: str | None = None

    def __init__(self, recording: Recording, inputs: Inputs) -> None:
        super().__init__(recording, inputs, match="input", strict=True)
        self._functions: dict[tuple[str, str], dict[str | None, list[int]]] = {}

    def in_function(self, group: Group, lane: str | None, site: str) -> Match | None:
        """Return the first free call of a lane and of the function that a site is in, whatever its line."""
        functions = self._functions.get((group.channel, group.key))
        if functions is None:
            functions = self._functions[group.channel, group.key] = {}
            for position in reversed(group.positions):
                event = self._events[position]
                if event.site is not None:
                    functions.setdefault(_in_lane(_without_line(event.site), event.thread), []).append(position)
        free = super()._first_free(functions, _in_lane(_without_line(site), lane))
        return None if free is None else self._served(free, self._events[free])

    def explained(self, group: Group, ordinal: int, live: LiveInput | None) -> Divergence:
        """Return why no recorded call is this one, the nearest ones with it: work that not every miss is worth."""
        return super()._no_equal(group, ordinal, live)

    def _no_equal(self, group: Group, ordinal: int, live: LiveInput | None) -> Divergence:
        return Divergence("extra-call", group.channel, group.key, ordinal, "no recorded call has this input")

    def _queues(self, group: Group) -> dict[str | None, list[int]]:
        queues: dict[str | None, list[int]] = {}
        for position in reversed(group.positions):
            event = self._events[position]
            digest = self._inputs.recorded_digest(event)
            queues.setdefault(digest, []).append(position)
            queues.setdefault(_in_lane(digest, event.thread), []).append(position)
        return queues

    def _first_free(self, queues: dict[str | None, list[int]], digest: str | None) -> int | None:
        found = super()._first_free(queues, _in_lane(digest, self.lane))
        return super()._first_free(queues, digest) if found is None else found


def _unservable(event: RecordedEvent, error: StashError, site: str | None) -> Divergence:
    reason = error.message.removeprefix(event_name(event)).strip()
    return Divergence(
        "extra-call", event.channel, event.key, event.ordinal, reason, event.seq, site=site, code=error.code
    )


def _expected(event: RecordedEvent) -> Nearest:
    name = call_name(event.channel, event.key)
    return Nearest(event.seq, event.key, event.ordinal, f"{name} comes next in this lane")


def _without_line(site: str) -> str:
    return _LINE.sub("", site, count=1)


def _in_lane(digest: str | None, lane: str | None) -> str:
    return f"{digest} {'' if lane is None else '+' + lane}"


def _says_soft(recording: Recording, ref: str | None) -> bool:
    if ref is None or b'"soft"' not in recording.blobs.payload(ref).raw:
        return False
    try:
        tree = recording.blobs.tree(ref)
    except StashError:
        return False
    return type(tree) is dict and tree.get(SOFT) is True and set(tree) == {"lane", "site", SOFT}


def _parents(events: EventSequence) -> Iterator[int | None]:
    """Yield every event's parent; those of a file are not read for it."""
    if isinstance(events, FileEvents):
        return (events.parent_at(position) for position in range(len(events)))
    return (event.parent for event in events)


def _is_pending(recording: Recording, event: RecordedEvent) -> bool:
    if len(recording.blobs.payload(event.ref).raw) > _TAG_LENGTH:
        return False
    try:
        return bool(recording.blobs.tree(event.ref) == {TAG: PENDING})
    except StashError:
        return False
