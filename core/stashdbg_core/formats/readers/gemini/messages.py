"""Messages of a Gemini CLI session as a transcript.

A message is written again, whole, when its tools finish: the last one counts. Prompts have the shape of Anthropic's
messages, since the file has none of its own.
"""

from __future__ import annotations

from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.chat import Place
from stashdbg_core.formats.images import image
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import Lane, Transcript, returned, text_of

_TOKENS = {
    "input": "promptTokenCount", "output": "candidatesTokenCount", "cached": "cachedContentTokenCount",
    "thoughts": "thoughtsTokenCount", "tool": "toolUsePromptTokenCount", "total": "totalTokenCount",
}  # fmt: skip
_ENDED = ("success", "error", "cancelled")
_SHOWN_TWICE = ("originalContent", "newContent")


class GeminiMessages:
    """Takes the messages of one lane."""

    def __init__(self, transcript: Transcript, lane: Lane) -> None:
        self.title = ""
        self._transcript = transcript
        self._sink = transcript.sink
        self._lane = lane
        self._known: dict[str, tuple[int, Place | None]] = {}
        """By id: the first event after the message came, and the conversation before it."""
        self._told: set[str] = set()
        """Ids of calls whose results stand in the conversation."""

    def replace(self, messages: list[Json]) -> None:
        """Go on with these messages as the conversation; those seen before are no new events."""
        self._lane.restart()
        for message in messages:
            if isinstance(message, dict):
                if isinstance(message.get("id"), str) and message["id"] in self._known:
                    for said in _as_messages(message):
                        self._lane.say(said)
                else:
                    self.take(message)

    def rewind(self, target: str) -> None:
        """Go back to before a message; what came since is abandoned."""
        first, place = self._known.get(target, (0, None))
        self._lane.settle()
        for seq in range(first, len(self._sink)):
            self._sink.abandoned(seq)
        self._lane.restart(self._lane.chat.back_to(place) if place is not None else None)
        self._sink.event("note", "rewind", value={"backTo": first}, label=f"back to before event {first}")

    def take(self, message: dict[str, Any]) -> None:
        """Take a message, new or written again."""
        kind, at = message.get("type"), epoch_ms(message.get("timestamp"))
        if kind == "model":
            kind, message = "gemini", {**message, "content": message.get("content", message.get("parts"))}
        identity = message["id"] if isinstance(message.get("id"), str) else f"message {len(self._known)}"
        again = identity in self._known
        if not again and kind in ("user", "gemini"):
            self._lane.settle()
            self._known[identity] = (len(self._sink), self._lane.chat.place())
        if kind == "gemini":
            self._answer(message, identity, at, again=again)
        elif again:
            self._sink.skipped("messages written again")
        elif kind == "user":
            self._user(message, at)
        elif kind in ("info", "warning", "error"):
            self._note(message, str(kind), at)
        else:
            self._sink.unknown(f"message type {kind}")
            self._sink.event("state", f"message {kind}", value=message, at=at, thread=self._lane.name)

    def _user(self, message: dict[str, Any], at: float | None) -> None:
        parts = _parts(message.get("content"))
        if parts and all(isinstance(part, dict) and "functionResponse" in part for part in parts):
            self._sink.skipped("tool results told again as messages of the user")
            return
        text = text_of(parts)
        said: Json = {"role": "user", "content": _blocks(parts)}
        if text.lstrip().startswith("<session_context>"):
            self._lane.say(said, at)
        else:
            self.title = self.title or text
            self._lane.prompt(said, text, at)

    def _answer(self, message: dict[str, Any], identity: str, at: float | None, *, again: bool) -> None:
        if not again or self._lane.is_open(identity):
            model = message.get("model")
            answer = self._lane.answer(identity, model if isinstance(model, str) else None, at, named="id" in message)
            answer.value.clear()
            answer.value.update(_reply(message, self._lane.model))
            answer.messages[:] = [{"role": "assistant", "content": answer.value["content"]}]
        calls = message.get("toolCalls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._call(call, at)

    def _call(self, call: dict[str, Any], at: float | None) -> None:
        call_id = call["id"] if isinstance(call.get("id"), str) else None
        ended = call.get("status") in _ENDED or "result" in call
        if call_id is None and not ended:
            return
        if call_id is not None and call_id in self._told:
            return
        run = self._transcript.call(self._lane, call_id, str(call.get("name") or "unknown"), call.get("args"), at)
        if not ended:
            return
        self._transcript.forget(run)
        if call_id is not None:
            self._told.add(call_id)
        value, failed = _outcome(call)
        when = epoch_ms(call.get("timestamp"))
        self._transcript.result(run, value, failed=failed, at=when)
        self._lane.say(_result_message(call), when)

    def _note(self, message: dict[str, Any], kind: str, at: float | None) -> None:
        said = message.get("content")
        failed = kind == "error"
        self._sink.event(
            "note",
            kind,
            value={"error" if failed else "content": said},
            outcome="throw" if failed else "return",
            at=at,
            label=f"{kind}: {said}" if isinstance(said, str) else kind,
            thread=self._lane.name,
        )


def _reply(message: dict[str, Any], model: str) -> dict[str, Json]:
    content: list[Json] = []
    thoughts = message.get("thoughts")
    for thought in thoughts if isinstance(thoughts, list) else ():
        if isinstance(thought, dict):
            said = [thought[name] for name in ("subject", "description") if isinstance(thought.get(name), str)]
            content.append({"type": "thinking", "thinking": ": ".join(said)})
    content += [block for block in _blocks(_parts(message.get("content"))) if block != {"type": "text", "text": ""}]
    calls = message.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            asked = {"id": call.get("id"), "name": call.get("name"), "input": call.get("args")}
            content.append({"type": "tool_use", **asked})
    reply: dict[str, Json] = {"role": "assistant", "model": model, "content": content}
    tokens = message.get("tokens")
    if isinstance(tokens, dict):
        reply["usage"] = {_TOKENS.get(name, name): count for name, count in tokens.items()}
    return reply


def _as_messages(message: dict[str, Any]) -> list[Json]:
    """Return a message as it stands in a prompt, with the results of its tools."""
    if message.get("type") != "gemini":
        return [{"role": "user", "content": _blocks(_parts(message.get("content")))}]
    calls = message.get("toolCalls")
    ended = [call for call in calls if isinstance(call, dict) and "result" in call] if isinstance(calls, list) else []
    return [{"role": "assistant", "content": _reply(message, "")["content"]}, *map(_result_message, ended)]


def _result_message(call: dict[str, Any]) -> Json:
    value, failed = _outcome(call)
    block: dict[str, Json] = {"type": "tool_result", "tool_use_id": call.get("id"), "content": value}
    if failed:
        block["is_error"] = True
        block["content"] = value.get("error") if isinstance(value, dict) else value
    return {"role": "user", "content": [block]}


def _outcome(call: dict[str, Any]) -> tuple[Json, bool]:
    """Return what a tool call came to, and whether that is a failure."""
    failed = call.get("status") in ("error", "cancelled")
    result = call.get("result")
    answers = [part.get("functionResponse") for part in _parts(result) if isinstance(part, dict)]
    responses = [answer.get("response") for answer in answers if isinstance(answer, dict)]
    response: Json = responses[0] if len(responses) == 1 and len(_parts(result)) == 1 else _blocks(_parts(result))
    shown = call.get("resultDisplay")
    if failed:
        error = response.get("error", response.get("output")) if isinstance(response, dict) else response
        return {"error": error or shown or call.get("status")}, True
    plain = response["output"] if isinstance(response, dict) and set(response) == {"output"} else response
    if isinstance(shown, dict):
        more = {name: fact for name, fact in shown.items() if name not in _SHOWN_TWICE}
        return {"output": plain, "resultDisplay": more}, False
    return returned(plain), False


def _parts(content: Json) -> list[Json]:
    return content if isinstance(content, list) else [] if content is None else [content]


def _blocks(parts: list[Json]) -> list[Json]:
    """Return parts as content blocks, binary data put apart."""
    blocks: list[Json] = []
    for part in parts:
        if isinstance(part, str):
            blocks.append({"type": "text", "text": part})
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            blocks.append({"type": "text", **part})
        elif isinstance(part, dict) and isinstance(part.get("inlineData"), dict):
            data = part["inlineData"]
            mime, text = str(data.get("mimeType") or "application/octet-stream"), data.get("data")
            stored = image(mime, text) if isinstance(text, str) else text
            blocks.append({"type": "image", "source": {"type": "base64", "media_type": mime, "data": stored}})
        else:
            blocks.append(part)
    return blocks
