"""Builds events from a session that is told as messages: prompts, model answers, tool calls and their results.

A lane is one conversation; the main agent has one, and each sub-agent. The prompt of a model call is everything said
in its lane before it. Calls and results meet by id, wherever they stand, and never because they are neighbours; an
answer that a file tells in pieces is one event.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.transcript_labels import reply_label, tool_label

if TYPE_CHECKING:
    from stashdbg_core.formats.chat import Chat
    from stashdbg_core.formats.sink import RunSink

OPEN_ANSWERS = 8
"""Answers of a lane that may still get pieces; an older one is finished."""
UNKNOWN_MODEL = "unknown"
UNKNOWN_TOOL = "unknown"


@dataclass(slots=True)
class Answer:
    """A model call whose answer may still get pieces."""

    seq: int
    value: dict[str, Json]
    """What the model answered; the reader fills it in."""
    messages: list[Json]
    """How it stands in the prompts of later calls; the reader fills it in."""
    started: float | None
    at: float | None = None
    """When its last piece came."""
    failed: bool = False
    error: Json = None
    """What a failed one threw; its value if None."""
    told: bool = False
    """Whether it stands in the chat."""


@dataclass(slots=True, eq=False)
class ToolRun:
    """A tool call, from when it was asked for."""

    seq: int
    lane: Lane
    key: str
    input: Json
    at: float | None
    answered: bool = False


class Lane:
    """One conversation; made by ``Transcript.lane``.

    Attributes:
        model: The model that answered last.
        input_at: When the newest message came that a model call can answer.
    """

    def __init__(self, transcript: Transcript, name: str | None, parent: int | None) -> None:
        self.transcript = transcript
        self.name = name
        self.parent = parent
        self.model = UNKNOWN_MODEL
        self.input_at: float | None = None
        self.chat: Chat = transcript.sink.chat()
        self.others: dict[str, Json] = {}
        """What stands beside the messages in every prompt, such as instructions."""
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._waiting: list[Json] = []
        """Said since the last answer began: it stands before them in the chat."""

    def say(self, message: Json, at: float | None = None) -> None:
        """Add a message to the conversation; it is no event."""
        self._waiting.append(message)
        if at is not None:
            self.input_at = at

    def prompt(self, message: Json, text: str, at: float | None, value: Json = None) -> int:
        """Add what a user asked: an event too.

        Args:
            message: As it stands in the conversation.
            text: For the label.
            at: When.
            value: Of the event; the message if None.
        """
        seq = self.transcript.sink.event(
            "user",
            "prompt",
            value=message if value is None else value,
            at=at,
            label=label_of(text) or None,
            thread=self.name,
            parent=self.parent,
        )
        self.say(message, at)
        return seq

    def answer(self, identity: str, model: str | None, at: float | None, *, named: bool = True) -> Answer:
        """Return the answer of that identity, begun if it is new.

        Args:
            identity: What its pieces have in common.
            model: The model that answers; the last one if None.
            at: When the piece came.
            named: Whether the identity is the file's own, and so the event's call id.
        """
        known = self._answers.get(identity)
        if known is not None:
            known.at = at if at is not None else known.at
            return known
        self.model = model or self.model
        self.settle()
        seq = self.transcript.sink.start(
            "llm",
            self.model,
            input=self.chat.input(**self.others),
            thread=self.name,
            parent=self.parent,
            call_id=identity if named else None,
        )
        answer = Answer(seq, {}, [], self.input_at, at)
        self._answers[identity] = answer
        if len(self._answers) > OPEN_ANSWERS:
            self._finish(self._answers.popitem(last=False)[1])
        return answer

    def is_open(self, identity: str) -> bool:
        """Tell whether an answer may still get pieces."""
        return identity in self._answers

    def settle(self) -> None:
        """Put all that was said into the chat, answers before what came after they began."""
        for answer in self._answers.values():
            if not answer.told:
                answer.told = True
                for message in answer.messages:
                    self.chat.append(message)
        for message in self._waiting:
            self.chat.append(message)
        self._waiting.clear()

    def restart(self, chat: Chat | None = None) -> None:
        """Go on with another history: an empty one, or one given."""
        self.settle()
        self.chat = self.transcript.sink.chat() if chat is None else chat

    def close(self) -> None:
        """Finish every answer."""
        while self._answers:
            self._finish(self._answers.popitem(last=False)[1])

    def _finish(self, answer: Answer) -> None:
        started, ended = answer.started, answer.at
        known = started is not None and ended is not None and ended >= started
        self.transcript.sink.finish(
            answer.seq,
            answer.value if answer.error is None else answer.error,
            outcome="throw" if answer.failed else "return",
            at=started if known else ended,
            ms=ended - started if known and started is not None and ended is not None else None,
            label=reply_label(answer.value) or None,
        )


@dataclass(slots=True)
class Transcript:
    """All lanes of a run, and the tool calls between them."""

    sink: RunSink
    lanes: dict[str | None, Lane] = field(default_factory=dict)
    calls: dict[str, ToolRun] = field(default_factory=dict)
    """By id."""
    _nameless: deque[ToolRun] = field(default_factory=deque)
    """Calls without an id that wait for a result without one, oldest first."""

    def lane(self, name: str | None = None, parent: int | None = None) -> Lane:
        """Return the lane of that name, made if it is new; the main one has no name."""
        found = self.lanes.get(name)
        if found is None:
            found = self.lanes[name] = Lane(self, name, parent)
        return found

    def call(self, lane: Lane, call_id: str | None, key: str, given: Json, at: float | None, **more: Any) -> ToolRun:
        """Begin a tool call; one of an id that is known already is that call, told again."""
        known = self.calls.get(call_id) if call_id is not None else None
        if known is not None:
            return known
        seq = self.sink.start(
            more.pop("channel", "tool"),
            key,
            input=given,
            at=at,
            label=more.pop("label", None) or tool_label(key, given),
            thread=lane.name,
            parent=lane.parent,
            call_id=call_id,
        )
        run = ToolRun(seq, lane, key, given, at)
        if call_id is None:
            self._nameless.append(run)
        else:
            self.calls[call_id] = run
        return run

    def forget(self, run: ToolRun) -> None:
        """Let no later result belong to a call without an id."""
        if run in self._nameless:
            self._nameless.remove(run)

    def asked(self, lane: Lane, call_id: str | None, at: float | None) -> ToolRun:
        """Return the call that a result answers; one is made up, and marked, if the file has none.

        A result without an id can only belong to a call without one: the oldest of its lane.
        """
        if call_id is None:
            run = next((run for run in self._nameless if run.lane is lane), None)
            if run is not None:
                self._nameless.remove(run)
                self.sink.inferred(run.seq)
                return run
        elif call_id in self.calls:
            return self.calls[call_id]
        run = self.call(lane, call_id, UNKNOWN_TOOL, None, at, label="a result whose call is not in the file")
        self.forget(run)
        self.sink.cut(run.seq, "its call is not in the file")
        return run

    def result(self, run: ToolRun, value: Json, *, failed: bool, at: float | None, ms: float | None = None) -> None:
        """Finish a tool call; the first result counts, a second one is a note."""
        if run.answered:
            self.sink.note("repeated-result", "a tool call has more than one result; the first counts", seq=run.seq)
            return
        run.answered = True
        if ms is None and at is not None and run.at is not None and at >= run.at:
            ms = at - run.at
        self.sink.finish(run.seq, value, outcome="throw" if failed else "return", at=at, ms=ms)
        if not (isinstance(run.input, dict) and "prompt" in run.input):  # what sub-agents are told apart by
            run.input = None

    def close(self) -> None:
        """Finish every answer; tool calls without a result stay pending."""
        for lane in self.lanes.values():
            lane.close()


def returned(content: Json) -> Json:
    """Return the value of a tool call that went well: content blocks under ``content``, as in any message."""
    return {"content": content} if isinstance(content, list) else content


def thrown(content: Json) -> Json:
    """Return what a failed tool call threw: its text where it has one."""
    text = text_of(content)
    return {"error": text if text else content}


def text_of(content: Json) -> str:
    """Return the text of a message's content: a text, or the text blocks of a list."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = (
        block if isinstance(block, str) else block.get("text") for block in content if isinstance(block, (str, dict))
    )
    return "\n".join(text for text in blocks if isinstance(text, str) and text)
