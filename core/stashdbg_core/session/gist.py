"""The point of a recorded value in a few words: the reply of a model, the arguments of a tool, the text of an error.

Works on JSON trees as they stand in the file, shared pieces unresolved, and never walks further than the words it can
use: the cost of a gist is bounded by its width, not by the value. What it returns is recorded text, unsanitised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from stashdbg_core.canonical import Json, SpelledNumber
from stashdbg_core.errors import StashError
from stashdbg_core.exchange.shape import is_response
from stashdbg_core.parse import parse_json
from stashdbg_core.session.chat_tools import AskedCall, asked_by, call_item, is_call_item, listed_calls
from stashdbg_core.session.pointers import scalar_text
from stashdbg_core.session.scalars import read_scalar
from stashdbg_core.session.words import counted
from stashdbg_core.tags import DROPPED, EXCEPTION, FLOAT, LIST, PENDING, REF, STREAM, TAG, UNSTORABLE, opened, tag_of

_DEPTH = 6
_ITEMS = 64
_NUMBERS = re.compile(r"(?<!\w)\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?")
_NUMBER = 24
"""Characters up to which a number is one that somebody reads; a longer one is cut anywhere, as a hash is."""
_TEXT_KEYS = ("text", "content", "thinking", "refusal", "output_text", "transcript")
_PARSED_ARGUMENTS = 4000
"""Characters up to which a tool call's arguments, JSON in a string, are parsed."""
_REMINDER, _REMINDER_END = "<system-reminder>", "</system-reminder>"
_REMINDED = 20_000
"""Characters of a reminder in which its end is looked for."""
_CONTAINERS = ("items", "fields", "value")


def brief(tree: Json, width: int) -> str:
    """Return a tree on one line, about ``width`` characters: a text as itself, an object as ``key=value`` pairs."""
    if isinstance(tree, str):
        return one_line(tree, width)
    if isinstance(tree, dict) and tree and TAG not in tree:
        return _joined((f"{one_line(key, 40)}={_inner(value, width)}" for key, value in tree.items()), width)
    return _inner(tree, width)


def arguments(tree: Json, width: int) -> str:
    """Return what a tool was given: its texts as themselves, and by name what says nothing alone, such as a number."""
    if not isinstance(tree, dict) or TAG in tree:
        return brief(tree, width)
    given = (_argument(key, value, width) for key, value in tree.items() if value not in (None, {}, []))
    return _joined(given, width) or (brief(tree, width) if tree else "")


def _argument(key: str, value: Json, width: int) -> str:
    text = value
    if isinstance(value, list):  # a command line, say
        words = list(islice(value, width))
        text = " ".join(words) if all(isinstance(word, str) for word in words) else None
    said = one_line(text, width) if isinstance(text, str) else ""
    return said or f"{one_line(key, 40)}={_inner(value, width)}"


def one_line(text: str, width: int) -> str:
    """Return the head of a text with every run of white space as one blank; never looks beyond four times ``width``.

    A head that is cut ends in ``…`` and never inside a number, which is left out: half of one would read as another.
    """
    head = " ".join(text[: width + 16].split())
    if len(head) <= width and len(text) > width + 16:  # white space took the room
        head = " ".join(text[: 4 * width + 16].split())
    if len(head) <= width:
        return head
    end = max(width - 1, 0)
    for number in _NUMBERS.finditer(head, max(end - _NUMBER, 0), end + _NUMBER):
        if number.start() < end < number.end() <= number.start() + _NUMBER:
            end = number.start()
    return head[:end] + "…"


def reply(tree: Json, width: int) -> str | None:
    """Return what a model answered: its text and the tools it asks for; None when this does not look like an answer.

    Knows the shapes of OpenAI chat and responses, Anthropic messages, Gemini, and a bare message.
    """
    parts = list(islice(_reply_parts(tree, _DEPTH), 8))
    return one_line(" · ".join(part for part in parts if part), width) if parts else None


def response(tree: Json, width: int) -> str:
    """Return what an HTTP response said, and its status unless that is 200; of a stream, the message it spelled."""
    said = _answer(tree)
    if isinstance(said, dict) and said.get("jsonrpc") == "2.0":
        said = said.get("result", said.get("error"))
    plain = _first_text(said, ("text", "response")) if isinstance(said, dict) and TAG not in said else None
    text = one_line(plain, width) if plain else (reply(said, width) or brief(said, width))
    return text if tree["status"] == 200 and text else one_line(f"{tree['status']} {text}".rstrip(), width)


def error(tree: Json, width: int) -> str:
    """Return ``Type: text`` of a recorded error, whichever tool wrote it; of an HTTP response, status and text."""
    if is_response(tree):
        said = _answer(tree)
        inner = said.get("error", said) if isinstance(said, dict) and TAG not in said else said
        said = _error(inner, width) if inner or inner == 0 else status_phrase(tree["status"])
        return one_line(f"{tree['status']} {said}".rstrip(), width)
    inner = tree.get("error") if isinstance(tree, dict) and len(tree) == 1 else None
    return _error(inner if isinstance(inner, dict) else tree, width)


def status_phrase(status: int) -> str:
    """Return what an HTTP status is called, or an empty text."""
    from http import HTTPStatus  # a screen without requests does without

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _answer(tree: Json) -> Json:
    from stashdbg_core.exchange.joined import answer_of  # a screen without model calls does without

    return answer_of(tree)


def _error(tree: Json, width: int) -> str:
    if not isinstance(tree, dict):
        return brief(tree, width)
    if tree.get("isError") is True:
        return reply(tree, width) or brief(tree, width)
    kind = _first_text(tree, ("type", "type_name", "name", "class", "code"))
    text = _first_text(tree, ("text", "message", "str", "detail", "error"))
    if text is None and isinstance(tree.get("args"), list):
        text = ", ".join(
            one_line(item, width) if isinstance(item, str) else _inner(item, width, 0) for item in tree["args"][:3]
        )
    if kind is None and text is None:
        return "an error of unknown shape" if TAG in tree else brief(tree, width)
    kind = kind or "error"
    if text and kind.casefold() == "error":
        return one_line(text, width)  # what a foreign file says of every error
    if len(kind) < 200 and kind.replace(".", "").replace(":", "").isidentifier():
        kind = kind.replace(":", ".").rsplit(".", 1)[-1]
    return one_line(f"{kind}: {text}" if text else kind, width)


def stream(tree: Json, width: int) -> str:
    """Return the joined text of a recorded stream, how many chunks it had, and how it ended if not by running out."""
    chunks = tree.get("chunks")
    if not isinstance(chunks, list):
        return f"stream of shared chunks{_ending(tree)}"
    said, length = [], 0
    for chunk in islice(chunks, 4 * width):
        text = chunk_text(chunk)
        said.append(text[: 4 * width])
        length += len(text)
        if length > 4 * width:
            break
    count = f"{counted(len(chunks), 'chunk')}{_ending(tree)}"
    joined = one_line("".join(said), max(width - len(count) - 3, 8))
    return f"{joined} · {count}" if joined else count


def chunk_text(chunk: Json) -> str:
    """Return the text that one chunk of a streamed answer adds, or an empty one."""
    chunk = opened(chunk)
    if isinstance(chunk, str):
        return chunk
    if not isinstance(chunk, dict):
        return ""
    choices = chunk.get("choices")
    first = opened(choices[0]) if isinstance(choices, list) and choices else None
    said = first if isinstance(first, dict) else chunk
    delta = opened(said.get("delta", said))
    if isinstance(delta, str):
        return delta
    return (_first_text(delta, _TEXT_KEYS) or "") if isinstance(delta, dict) else ""


def _ending(tree: Json) -> str:
    ending = tree.get("ending")
    if not isinstance(ending, str) or ending == "exhausted":
        return ""
    failure = tree.get("error")
    return f", {one_line(ending, 20)}{f': {error(failure, 60)}' if isinstance(failure, dict) else ''}"


def _reply_parts(tree: Json, depth: int) -> Iterator[str]:
    if depth == 0 or not isinstance(tree, dict):
        return
    for key in ("choices", "candidates", "output"):
        if isinstance(tree.get(key), list) and tree[key] and isinstance(tree[key][0], dict):
            for item in sorted(tree[key][:_ITEMS], key=_is_hosted) if key == "output" else tree[key][:1]:
                yield from _reply_parts(item, depth - 1)
            return
    for key in ("message", "output", *_CONTAINERS):
        if isinstance(tree.get(key), dict):
            yield from _reply_parts(tree[key], depth - 1)
    content = tree.get("content", tree.get("parts"))
    if isinstance(content, str):
        yield (_after_reminders(content) or content) if tree.get("role") == "user" else content
    elif isinstance(content, list):
        said = [part for block in islice(content, 16) for part in _block(block)]
        if tree.get("role") == "user":
            own = [part for part in map(_after_reminders, said) if part]
            said = own or said
        yield from said
    elif isinstance(content, dict):
        yield from _reply_parts(content, depth - 1)
    elif is_call_item(tree):
        yield _tool_call(call_item(tree))
    yield from map(_tool_call, listed_calls(tree))


def _is_hosted(item: Json) -> bool:
    """Tell whether an item is about a tool that the provider ran itself: what the model said comes before."""
    return isinstance(item, dict) and is_call_item(item) and call_item(item).hosted


def _block(block: Json) -> Iterator[str]:
    if isinstance(block, str):
        yield block
    elif isinstance(block, dict):
        call = asked_by(block)
        yield (_first_text(block, _TEXT_KEYS) or "") if call is None else _tool_call(call)


def _after_reminders(text: str) -> str:
    """Return what a user wrote after what a coding agent put before it."""
    while text.startswith(_REMINDER):
        end = text.find(_REMINDER_END, 0, _REMINDED)
        if end < 0:
            return ""
        text = text[end + len(_REMINDER_END) :].lstrip()
    return text


def _tool_call(call: AskedCall) -> str:
    given = call.given
    if isinstance(given, str) and len(given) <= _PARSED_ARGUMENTS and given[:1] == "{":
        try:
            given = parse_json(given.encode("utf-8", "replace"))
        except StashError:  # a model may write anything there
            pass
    return f"→ {one_line(call.name or '?', 60)}({brief(given, 80) if given else ''})"


def _first_text(tree: dict[str, Json], keys: tuple[str, ...]) -> str | None:
    return next((tree[key] for key in keys if isinstance(tree.get(key), str)), None)


def _inner(tree: Json, width: int, depth: int = _DEPTH) -> str:
    if isinstance(tree, str):
        return f'"{one_line(tree, max(width // 2, 24))}"'
    if isinstance(tree, list):
        if len(tree) <= 4 and all(not isinstance(item, (dict, list)) for item in tree):
            return f"[{one_line(', '.join(_inner(item, width // 4, depth - 1) for item in tree), width + 60)}]"
        return f"[{counted(len(tree), 'item')}]"
    if isinstance(tree, dict):
        return (
            _tagged(tree, width, depth)
            if TAG in tree
            else f"{{{', '.join(one_line(key, 24) for key in islice(tree, 4))}}}"
        )
    if isinstance(tree, int) and tree.bit_length() > 512:
        return f"{tree.bit_length()}-bit integer"
    if isinstance(tree, SpelledNumber):
        return one_line(tree.token, 40)
    return scalar_text(tree) or ""


def _tagged(tree: dict[str, Json], width: int, depth: int) -> str:
    name = tag_of(tree)
    if not depth:
        return name or "…"
    if name in (REF, LIST):
        return "{…}" if name == REF else "[…]"
    if name == EXCEPTION:
        return error(tree, width)
    if name == STREAM:
        return stream(tree, width)
    if name == PENDING:
        return "never finished"
    if name in (DROPPED, UNSTORABLE):
        reason = _first_text(tree, ("reason", "type", "type_name"))
        return f"{name}{f': {one_line(reason, width)}' if reason else ''}"
    scalar = read_scalar(tree)
    if scalar is not None:
        return one_line(scalar.text if name == FLOAT else f"{scalar.type} {scalar.text}", width)
    for key in ("value", "name", "base64", "items", "fields", "attributes"):
        if key in tree:
            inner = tree[key]
            return (
                f"{name} {one_line(inner, width)}"
                if isinstance(inner, str)
                else f"{name} {_inner(inner, width, depth - 1)}"
            )
    return name or "tagged"


def _joined(parts: Iterator[str], width: int) -> str:
    out, length = [], 0
    for part in parts:
        out.append(part)
        length += len(part) + 2
        if length > width:
            break
    return one_line(", ".join(out), width)
