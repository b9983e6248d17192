"""OpenAI's streamed answers put together: chat and text completions by choice, responses by what closes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stashdbg_core.canonical import Json

_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")
_MOST = 1000


@dataclass(slots=True)
class _Choice:
    """One choice of a completion as far as it came."""

    others: dict[str, Any] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    """Of a text completion."""
    message: dict[str, Any] | None = None
    said: dict[str, str] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)
    function: dict[str, Any] = field(default_factory=dict)
    """The one call that the first models with functions could make."""

    def add(self, piece: dict[str, Any]) -> None:
        for name, value in piece.items():
            if name == "delta" and type(value) is dict:
                self._add_delta(value)
            elif name == "text" and type(value) is str:
                self.texts.append(value)
            elif name not in ("index", "delta", "message") and (value is not None or name not in self.others):
                self.others[name] = value

    def _add_delta(self, delta: dict[str, Any]) -> None:
        self.message = {"role": "assistant", "content": None} if self.message is None else self.message
        for name, value in delta.items():
            if name in _TEXTS and type(value) is str:
                self.said[name] = self.said.get(name, "") + value
            elif name == "tool_calls" and type(value) is list:
                for call in value:
                    if type(call) is dict:
                        _add_call(self.calls, call)
            elif name == "function_call" and type(value) is dict:
                _add_function(self.function, value)
            elif name not in _TEXTS and value is not None:
                self.message[name] = value

    def whole(self, index: int) -> dict[str, Any]:
        choice: dict[str, Any] = {"index": index}
        if self.message is not None:
            # A call of tools says an empty text first; unstreamed its text is null.
            message = self.message | {name: text for name, text in self.said.items() if text}
            if self.calls:
                message["tool_calls"] = [_numberless(call) for call in self.calls]
            if self.function:
                message["function_call"] = self.function
            choice["message"] = message
        if self.texts:
            choice["text"] = "".join(self.texts)
        return choice | self.others


def joined_chat(events: list[dict[str, Any]]) -> Json:
    """Return the completion that chunks of choices spelled."""
    whole: dict[str, Any] = {}
    choices: dict[int, _Choice] = {}
    for event in events:
        listed = event.get("choices")
        whole |= {name: value for name, value in event.items() if name != "choices" and value is not None}
        for at, choice in enumerate(listed if type(listed) is list else ()):
            if type(choice) is dict:
                said = choice.get("index", at)
                index = said if type(said) is int else at
                if index in choices or len(choices) < _MOST:
                    choices.setdefault(index, _Choice()).add(choice)
    if type(whole.get("object")) is str:
        whole["object"] = whole["object"].removesuffix(".chunk")
    return {**whole, "choices": [choices[index].whole(index) for index in sorted(choices)]}


def _numberless(call: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in call.items() if name != "index"}


def _add_call(calls: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    """Add a piece of a tool call; where a server numbers none, or all alike, a new id tells a new call."""
    index, call_id = piece.get("index"), piece.get("id")
    same = next((call for call in reversed(calls) if index is None or call["index"] == index), None)
    if same is None or (call_id and same.get("id") and call_id != same["id"]):
        if len(calls) >= _MOST:
            return
        same = {"index": index}
        calls.append(same)
    for name, value in piece.items():
        if name == "function":
            _add_function(same.setdefault("function", {}), value if type(value) is dict else {})
        elif name != "index" and value is not None:
            same[name] = value


def _add_function(held: dict[str, Any], piece: dict[str, Any]) -> None:
    if type(piece.get("name")) is str:
        held["name"] = held.get("name") or piece["name"]
    if type(piece.get("arguments")) is str:
        held["arguments"] = held.get("arguments", "") + piece["arguments"]


def joined_response(events: list[dict[str, Any]]) -> Json:
    """Return the response that an event closed, or of one that was cut the items that were done by then."""
    started: dict[str, Any] = {}
    items: dict[int, Json] = {}
    texts: dict[int, str] = {}
    for event in events:
        kind, response, index = event.get("type"), event.get("response"), event.get("output_index")
        if type(response) is dict:
            if kind in ("response.completed", "response.incomplete", "response.failed", "response.done"):
                return response
            started = response
        elif kind in ("response.output_item.added", "response.output_item.done") and type(index) is int:
            items[index] = event.get("item")
        elif kind == "response.output_text.delta" and type(index) is int and type(event.get("delta")) is str:
            texts[index] = texts.get(index, "") + event["delta"]
    for index, text in texts.items():
        item = items.get(index)
        if type(item) is dict and not item.get("content"):
            items[index] = {**item, "content": [{"type": "output_text", "text": text}]}
    return {**started, "output": [items[index] for index in sorted(items)]}
