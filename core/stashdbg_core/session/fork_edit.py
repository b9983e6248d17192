"""From an edited value to a fork: what is edited, what it becomes, what is served, what runs live, and the file.

Nothing is written before a person has seen the difference, the parent is never touched, and no file is ever replaced.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from stashdbg_core.canonical import Json, canonical_form
from stashdbg_core.errors import invalid_input
from stashdbg_core.exchange.shape import is_response
from stashdbg_core.fork import ForkPlan, Override, find_event, fork_with, override_of_tree, plan_fork
from stashdbg_core.fork.override import recorded_tree, redacted
from stashdbg_core.model import THROW, RecordedEvent, Recording
from stashdbg_core.opening.files import place_of
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.diff_blocks import Block, value_blocks
from stashdbg_core.session.editing import Draft, draft_of, tree_of_draft
from stashdbg_core.session.stream_message import StreamMessage, stream_message
from stashdbg_core.session.words import counted
from stashdbg_core.store.atomic import free_path, safe_file_name
from stashdbg_core.store.writer import write_recording
from stashdbg_core.tags import TAG
from stashdbg_core.values.streams import StreamRecord, is_stream

INLINE_CHARACTERS = 100_000
"""Characters of a draft that an editor inside the screen takes."""
_CHANNELS = 8


@dataclass(frozen=True, slots=True)
class ForkEdit:
    """One event whose outcome is being edited."""

    recording: Recording
    event: RecordedEvent
    recorded: Json
    """Its outcome's tree; None where that cannot be read."""
    message: StreamMessage | None
    """What is edited in place of a stream's chunks."""

    @property
    def shown(self) -> Json:
        """The value that is edited: of a stream, the message it spelled."""
        return self.recorded if self.message is None else self.message.tree

    def draft(self, folder: str | os.PathLike[str] | None = None) -> Draft:
        """Write the value to a draft.

        Raises:
            StashError: ``ERR_INVALID_INPUT``: it cannot be written.
        """
        return draft_of(self.shown, folder)

    def proposal(self, draft: Draft, text: str) -> Proposal:
        """Return what an edited draft would make of the event.

        Raises:
            StashError: ``ERR_INVALID_INPUT``: the text is no value, does not fit the stream, or cannot be forked at.
        """
        tree = tree_of_draft(draft, text, "the draft")
        if self.is_recorded(tree):
            raise invalid_input("the value is the same as recorded", hint="edit it again, or drop the draft")
        stored = tree if self.message is None else self.message.edited(tree)
        override = redacted(override_of_tree(stored, self.recorded), self.recording)
        shown = tree if not override.masked else self._as_shown(override.tree)
        plan = plan_fork(self.recording, self.event.seq, overridden=True)
        return Proposal(self, override, shown, plan)

    def is_recorded(self, tree: Json) -> bool:
        """Tell whether a draft's value is what was recorded; spelling does not count."""
        recorded = StreamRecord.from_tree(self.shown).chunks if is_stream(self.shown) else self.shown
        return canonical_form(tree) == canonical_form(recorded)

    def override(self, tree: Json) -> Override:
        """Return the outcome that a value given whole makes.

        Of a stream that spelled a message it is the message, over the recorded chunks; a list is always the chunks
        themselves, and a tagged value is what its tag says.

        Raises:
            StashError: ``ERR_INVALID_INPUT``: it does not fit the stream.
        """
        if self.message is not None and self.message.response is not None:
            whole = is_response(tree) or (type(tree) is dict and TAG in tree)
            chunks = type(tree) is list
            made = tree if whole else self.message.with_chunks(tree) if chunks else self.message.edited(tree)
            return override_of_tree(made, self.recorded)
        if self.message is None or type(tree) is list or (type(tree) is dict and TAG in tree):
            return override_of_tree(tree, self.recorded)
        return override_of_tree(self.message.edited(tree), self.recorded)

    def _as_shown(self, tree: Json) -> Json:
        message = stream_message(tree) if self.message is not None else None
        return tree if message is None else message.tree


@dataclass(frozen=True, slots=True)
class Proposal:
    """A fork that can be saved."""

    edit: ForkEdit
    override: Override
    shown: Json
    """The new value as it is compared with the recorded one."""
    plan: ForkPlan

    def blocks(self) -> list[Block]:
        """Return the difference to what was recorded."""
        return value_blocks(self.edit.shown, self.shown)

    def words(self) -> list[str]:
        """Return what the fork will be, in sentences; recorded names are shortened and safe."""
        event, plan = self.plan.event, self.plan
        verb = "raises" if self.override.outcome == THROW else "returns"
        call = f"event {event.seq}, {shorten(event.channel, 24)} {shorten(event.key, 40)} #{event.ordinal}"
        said = [
            f"{call} {verb} this instead",
            f"served from the recording: {channel_words(plan.served) or 'nothing'}",
            f"dropped, and live when the program runs on: {channel_words(plan.live) or 'nothing'}",
        ]
        if self.edit.message is not None:
            said.append(f"the message is spelled over the {len(self.edit.message.record.chunks):,} chunks it came in")
        if self.override.masked:
            places = counted(self.override.masked, "place")
            said.append(f"{places} in what you wrote look like secrets and are masked")
        if plan.enclosing:
            seqs = ", ".join(map(str, plan.enclosing))
            said.append(f"event {seqs} had not ended: it runs live too, or the program would never come here")
        return said


def start_edit(recording: Recording, position: int) -> ForkEdit:
    """Return the edit of an event's outcome.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: the event is damaged, or no fork can be made at it.
    """
    event = recording.events[position]
    if event.damage is not None:
        raise invalid_input(f"event {event.seq} is damaged: {shorten(event.damage, 120)}", hint="edit one that is not")
    find_event(recording, event.seq)
    tree = recorded_tree(recording, event)
    return ForkEdit(recording, event, tree, stream_message(tree))


def suggested_path(recording: Recording, folder: Path | None = None) -> Path:
    """Return a file beside the parent that does not exist yet: ``run-fork.json``, ``run-fork-2.json``, …"""
    if recording.path is not None:
        own = place_of(recording.path)
        stem = own.name.removesuffix(".journal").removesuffix(".jsonl").removesuffix(".json")
        return free_path(own.with_name(f"{stem}-fork.json"))
    stem = safe_file_name(recording.id).removesuffix(".json")
    return free_path((folder or Path()) / f"{stem}-fork.json")


def named_path(text: str, suggested: Path) -> Path:
    """Return the file that a person named: beside the suggested one unless a folder is given, and with a suffix.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is no file name, or there is such a file already.
    """
    name = text.strip()
    if not name or "\0" in name or name.endswith(("/", os.sep)):
        raise invalid_input("the fork needs a file name", hint=f"such as {shorten(suggested.name, 60)}")
    try:
        path = Path(name).expanduser()
    except RuntimeError:
        raise invalid_input(f"{shorten(name, 60)} names no home folder", hint="give the whole path") from None
    path = path if path.suffix == ".json" else path.with_name(path.name + ".json")
    path = path if path.is_absolute() else suggested.parent / path
    if path.exists() or path.is_symlink():
        raise invalid_input(f"{shorten(path.name, 60)} exists, and a fork replaces no file", hint="give another name")
    return path


def save_fork(proposal: Proposal, path: Path) -> Path:
    """Write the fork to a new file and return where it is; made of a run recorded here, it counts as made here.

    Raises:
        StashError: It cannot be written; nothing is left behind.
    """
    from stashdbg_core.programs.runs.trust import remember_fork

    recording = proposal.edit.recording
    written = write_recording(fork_with(recording, proposal.plan, proposal.override), path)
    remember_fork(recording.path, written)
    return written


def channel_words(channels: dict[str, int]) -> str:
    """Return how many calls each channel has, the first ones by name; empty if there are none."""
    shown = [f"{count:,} {shorten(name, 24)}" for name, count in list(channels.items())[:_CHANNELS]]
    more = len(channels) - len(shown)
    return ", ".join(shown) + (f" and {more} more channels" if more > 0 else "")
