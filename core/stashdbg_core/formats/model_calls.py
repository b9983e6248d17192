"""What a capture of model calls tells of tools: those an answer asks for, and their results in a later request.

A tool that the provider runs itself is none of the program's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.shapes import objects_of
from stashdbg_core.parse import parse_json
from stashdbg_core.session.chat_reply import entries_of
from stashdbg_core.session.chat_request import request_of
from stashdbg_core.session.chat_tools import AskedCall, ToolResult, asked_in, results_in


def asked_calls(answer: Json) -> list[AskedCall]:
    """Return the tools that an answer asks for, in order, what they are given as what it spells."""
    return [call for _, item in entries_of(answer, every=True) for call in calls_of(item)]


def calls_of(message: Json) -> Iterator[AskedCall]:
    """Yield the tools that one message asks for; see ``asked_calls``."""
    for call in asked_in(message):
        if not call.hosted and (call.name or call.id):
            yield replace(call, name=call.name or "unknown", given=_parsed(call.given))


def tool_results(request: Json) -> Iterator[ToolResult]:
    """Yield the tool results in a request, in order."""
    found = request_of(request, to_model=True)
    for _, item in found.turns if found is not None else ():
        yield from results_of(item)
    for result in objects_of(request.get("tool_results")) if isinstance(request, dict) else ():
        call = result.get("call")
        name = call.get("name") if isinstance(call, dict) else None
        if isinstance(name, str):
            yield ToolResult(result.get("outputs"), None, name)


def results_of(message: Json) -> Iterator[ToolResult]:
    """Yield the tool results in one message."""
    return (result for result in results_in(message) if not result.hosted)


def _parsed(given: Json) -> Json:
    """Return arguments that are JSON in a text as what they spell."""
    if type(given) is not str or given[:1] not in ("{", "["):
        return given
    try:
        return parse_json(given.encode("utf-8", "surrogatepass"))
    except StashError:
        return given
