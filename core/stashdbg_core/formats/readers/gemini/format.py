"""Sessions of the Gemini CLI: ``~/.gemini/tmp/<project>/chats/session-*.jsonl``, and the ``.json`` of old versions.

The lines are a log of changes: a message is written again when its tools finish, ``$set`` replaces fields, the
messages among them, and ``$rewindTo`` drops a message and what follows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stashdbg_core.errors import invalid_recording
from stashdbg_core.formats.format import Format, RunSummary
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.readers.gemini.messages import GeminiMessages
from stashdbg_core.formats.record_by_record import each_record, reading
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import Transcript
from stashdbg_core.sanitize import shorten

_FACTS = ("projectHash", "kind", "directories")


def detect(head: Head) -> bool:
    """Tell whether a file is a session of one of the two kinds."""
    return _is_document(head) or any(_is_header(record) for record in head.lines)


def runs(source: ForeignSource) -> Sequence[RunSummary]:
    """Return the one run of a session."""
    head = Head(source)
    about: Mapping[str, Any] | None = head.top if _is_document(head) else None
    if about is None:
        about = next((record for record in head.lines if _is_header(record)), {})
    return (RunSummary(source.name, epoch_ms(about.get("startTime")), detail=label_of(str(about.get("kind") or ""))),)


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read a session, and those of its sub-agents in the folder that is named after it."""
    transcript = Transcript(sink)
    messages = GeminiMessages(transcript, transcript.lane())
    session = _Session(sink, messages, inner=False)
    if _is_document(Head(source)):
        tree = source.json()
        if not isinstance(tree, dict):
            raise invalid_recording(f"{shorten(source.name, 200)} is no session")
        session.about(tree)
        listed = tree.get("messages")
        for message in listed if isinstance(listed, list) else ():
            session.message(message)
    else:
        each_record(source.records(sink), sink, session.record)
    named = session.session_id
    if named and "/" not in named and "\\" not in named and not named.startswith("."):
        for name in source.names_beside(named, "*.jsonl"):
            inner = source.beside(named, name)
            if inner is not None:
                agent = name.removesuffix(".jsonl")
                told = _Session(sink, GeminiMessages(transcript, transcript.lane(f"agent-{agent}")), inner=True)
                each_record(inner.records(sink), sink, told.record)
    transcript.close()
    sink.title(messages.title)


class _Session:
    def __init__(self, sink: RunSink, messages: GeminiMessages, *, inner: bool) -> None:
        self.session_id = ""
        self._sink = sink
        self._messages = messages
        self._inner = inner

    def about(self, facts: dict[str, Any]) -> None:
        """Take what a header says."""
        if self._inner:
            return
        if not self.session_id and isinstance(facts.get("sessionId"), str):
            self.session_id = facts["sessionId"]
            self._sink.identify(self.session_id)
            self._sink.meta(sessionId=self.session_id)
        self._sink.meta(**{name: facts.get(name) for name in _FACTS})

    def message(self, message: Any) -> None:
        """Take one message of a document."""
        if not isinstance(message, dict):
            self._sink.unknown("message that is no object")
            return
        with reading(message, self._sink):
            self._messages.take(message)

    def record(self, record: dict[str, Any]) -> None:
        """Take one line."""
        changes = record.get("$set")
        if isinstance(record.get("$rewindTo"), str):
            self._messages.rewind(record["$rewindTo"])
        elif isinstance(changes, dict):
            self.about(changes)
            if isinstance(changes.get("messages"), list):
                self._messages.replace(changes["messages"])
            else:
                self._sink.skipped("$set records")
        elif "type" in record:
            self._messages.take(record)
        elif isinstance(record.get("sessionId"), str):
            self.about(record)
        else:
            self._sink.unknown("record without a type")
            self._sink.event("state", "record without a type", value=record)


def _is_header(record: dict[str, Any]) -> bool:
    return isinstance(record.get("sessionId"), str) and "projectHash" in record and "uuid" not in record


def _is_document(head: Head) -> bool:
    top = head.top
    return top is not None and "messages" in top and "sessionId" in top and "projectHash" in top


FORMAT = Format(
    name="gemini-cli",
    title="Gemini CLI session",
    detect=detect,
    runs=runs,
    read=read,
    exact=("answers of the model", "tool inputs and results (results up to 50 kB each)", "token usage"),
    inferred=("prompts of model calls: the conversation so far", "calls of sub-agents: none is tied to a tool call"),
    missing=("system prompt and tool definitions", "results of tools beyond 50 kB"),
)
