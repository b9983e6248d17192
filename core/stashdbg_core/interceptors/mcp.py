"""MCP over a tape, on either side of the wire, by duck type: nothing here imports an MCP package.

A result is recorded as ``{"type": "CallToolResult", "result": …}``, the JSON that the protocol defines, and rebuilt as
the class of that name which the session's own method declares, or which an MCP package loaded by the program has; where
there is none it is plain JSON. Offline, on replay, the session may be None. Channel ``mcp``; the key of a tool call is
the tool, of anything else the method.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from stashdbg_core.calls import Tape
from stashdbg_core.canonical import Json
from stashdbg_core.interceptors.arguments import left_out
from stashdbg_core.interceptors.tape_of import HasTape, tape_of
from stashdbg_core.interceptors.wrap import wrap
from stashdbg_core.values import RecordedError, TypeRegistry, decode_exception, encode_exception

P = ParamSpec("P")
R = TypeVar("R")

MCP = "mcp"


@dataclass(frozen=True, slots=True)
class _Method:
    """One request of the protocol: its name and the positional parameters of the session's method."""

    name: str
    parameters: tuple[str, ...] = ()


_METHODS: Mapping[str, _Method] = {
    "initialize": _Method("initialize"),
    "discover": _Method("server/discover"),
    "send_ping": _Method("ping"),
    "call_tool": _Method("tools/call", ("name", "arguments")),
    "list_tools": _Method("tools/list", ("cursor",)),
    "list_resources": _Method("resources/list", ("cursor",)),
    "list_resource_templates": _Method("resources/templates/list", ("cursor",)),
    "read_resource": _Method("resources/read", ("uri",)),
    "subscribe_resource": _Method("resources/subscribe", ("uri",)),
    "unsubscribe_resource": _Method("resources/unsubscribe", ("uri",)),
    "list_prompts": _Method("prompts/list", ("cursor",)),
    "get_prompt": _Method("prompts/get", ("name", "arguments")),
    "complete": _Method("completion/complete", ("ref", "argument", "context_arguments")),
    "set_logging_level": _Method("logging/setLevel", ("level",)),
}
_NOT_INPUT = frozenset({"read_timeout_seconds", "progress_callback", "request_read_timeout_seconds"})
"""How long to wait and whom to tell, not what is asked."""


class InterceptedSession:
    """An MCP client session whose requests go over a tape; everything else is the session's own.

    ``async with`` works as on the session itself and gives this object.
    """

    def __init__(self, tape: Tape, session: Any, server: str | None) -> None:
        self._tape = tape
        self._session = session
        self._server = server

    def __getattr__(self, name: str) -> Any:
        method = _METHODS.get(name)
        if method is None:
            if self._session is None:
                raise AttributeError(f"there is no MCP session, and {name} is not recorded", name=name, obj=self)
            return getattr(self._session, name)
        real = getattr(self._session, name, None)
        if real is None and self._tape.mode == "record":
            raise AttributeError(f"the MCP session has no {name}", name=name, obj=self)

        async def request(*args: Any, **kwargs: Any) -> Any:
            return await self._request(method, real, args, kwargs)

        return request

    async def __aenter__(self) -> InterceptedSession:
        if self._session is not None:
            await self._session.__aenter__()
        return self

    async def __aexit__(self, *reason: Any) -> Any:
        return None if self._session is None else await self._session.__aexit__(*reason)

    async def _request(
        self, method: _Method, real: Callable[..., Awaitable[Any]] | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        asked = _asked(method, args, kwargs)
        key = str(asked.pop("name", "?")) if method.name == "tools/call" else method.name
        key = key if self._server is None else f"{self._server}:{key}"
        results: list[Any] = []

        async def produce() -> Json:
            if real is None:
                raise RuntimeError(f"there is no MCP session to send {method.name} to")
            result = await real(*args, **kwargs)
            results.append(result)
            return {"type": type(result).__name__, "result": _to_json(result)}

        try:
            recorded = await self._tape.call_async(MCP, key, produce, input=asked)
        except RecordedError as error:
            raise _known_error(error) from None
        return results[0] if results else _rebuilt(recorded, real)


def intercept_mcp_client(stash: Tape | HasTape, session: Any, *, server: str | None = None) -> Any:
    """Return ``session`` with its requests recorded, or served.

    Args:
        stash: What records or replays.
        session: A ``ClientSession`` of the ``mcp`` package, or anything with methods of these names. On replay it may
            be None, or a session that was never connected: no request reaches it.
        server: Name of the server, put before every key as ``server:tool``; tells several servers apart.
    """
    return InterceptedSession(tape_of(stash), session, server)


def record_mcp_tool(stash: Tape | HasTape, name: str, handler: Callable[P, R]) -> Callable[P, R]:
    """Return a tool handler of an MCP server with its calls recorded, or served.

    The signature stays, so that a server derives the same schema; parameters that cannot be stored, such as a request
    context, are left out of the input.

    Args:
        stash: What records or replays.
        name: The tool's name, the key of its calls.
        handler: A function or coroutine function.
    """
    return wrap(stash, MCP, name, handler)


def _asked(method: _Method, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a request asks for, by parameter name; None is as good as not given."""
    named = dict(zip(method.parameters, args, strict=False)) | dict(kwargs)
    return {name: _to_json(value) for name, value in named.items() if name not in _NOT_INPUT and value is not None}


def _to_json(value: Any) -> Any:
    """Return a protocol object as its JSON; anything that is no such object as it is."""
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json", by_alias=True, exclude_unset=True)
    if type(value) in (list, tuple):
        return [_to_json(item) for item in value]
    if value is None or type(value) in (str, int, float, bool, dict, bytes):
        return value
    return str(value) if "Url" in type(value).__name__ else left_out(type(value)) if callable(value) else value


def _rebuilt(recorded: Json, real: Callable[..., Any] | None) -> Any:
    """Return a recorded result as the class it had, if the program knows that class."""
    if not isinstance(recorded, dict) or not isinstance(recorded.get("type"), str) or "result" not in recorded:
        return recorded
    name, result = recorded["type"], recorded["result"]
    candidates = (*_declared(real), *(vars(package).get(name) for package in _packages()))
    for cls in candidates:
        if isinstance(cls, type) and cls.__name__ == name and hasattr(cls, "model_validate"):
            return cls.model_validate(result)
    return result


def _declared(real: Callable[..., Any] | None) -> tuple[Any, ...]:
    """Return the result classes that a session's method declares."""
    try:
        hint = typing.get_type_hints(inspect.unwrap(real)).get("return") if real is not None else None
    except (NameError, TypeError, AttributeError):
        return ()
    return typing.get_args(hint) or (hint,)


def _packages() -> list[ModuleType]:
    """Return the modules of protocol types that the program has loaded."""
    return [sys.modules[name] for name in ("mcp.types", "mcp_types") if name in sys.modules]


def _known_error(error: RecordedError) -> BaseException:
    """Return a recorded MCP error as its own class, if the program has loaded it."""
    module = sys.modules.get(error.module) if error.module.partition(".")[0] == "mcp" else None
    cls = None if module is None else vars(module).get(error.type_name)
    if not isinstance(cls, type) or not issubclass(cls, Exception):
        return error
    parts = [vars(package).get("ErrorData") for package in _packages()]
    types = TypeRegistry(cls, *(part for part in parts if isinstance(part, type)))
    return decode_exception(encode_exception(error), types)
