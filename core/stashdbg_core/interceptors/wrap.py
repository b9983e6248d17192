"""Functions, coroutines and generators whose every call goes over a tape; the input is their arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from typing import Any, ParamSpec, TypeVar, cast

from stashdbg_core.calls import NO_OPTIONS, CallOptions, Tape
from stashdbg_core.errors import invalid_input
from stashdbg_core.interceptors.arguments import Arguments
from stashdbg_core.interceptors.tape_of import HasTape, tape_of

P = ParamSpec("P")
R = TypeVar("R")


def wrap(
    stash: Tape | HasTape,
    channel: str,
    key: str | None,
    function: Callable[P, R],
    *,
    returns: type[Any] | None = None,
    leave_out: Collection[str] = (),
    label: str | None = None,
) -> Callable[P, R]:
    """Return a function like ``function`` whose calls are recorded, or served.

    Args:
        stash: What records or replays.
        channel: Kind of call.
        key: Name of the call within its channel; ``module:qualname`` of the function when None.
        function: A function, coroutine function, generator function, async generator function or callable object.
        returns: Class of the result, rebuilt on replay.
        leave_out: Parameters that are no part of the input, such as a client.
        label: A label for every call.

    Raises:
        StashError: ``ERR_INVALID_INPUT`` if ``function`` is not callable, or has no name and no key is given.
    """
    if not callable(function):
        raise invalid_input(f"a {type(function).__name__} cannot be wrapped", hint="give a function")
    tape = tape_of(stash)
    name = default_key(function) if key is None else key
    arguments = Arguments(function, leave_out, tape.storable)
    options = CallOptions(label=label, returns=returns) if label or returns else NO_OPTIONS

    def over(answer: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        produce = functools.partial(function, *args, **kwargs)
        return answer(channel, name, produce, input=arguments.named(args, kwargs), options=options)

    return cast(Callable[P, R], _like(function, tape, over))


def wrapped(
    stash: Tape | HasTape,
    channel: str,
    key: str | None = None,
    *,
    returns: type[Any] | None = None,
    leave_out: Collection[str] = (),
    label: str | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return ``wrap`` as a decorator: ``@stash.wrapped("tool")``."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        return wrap(stash, channel, key, function, returns=returns, leave_out=leave_out, label=label)

    return decorate


def default_key(function: Callable[..., Any]) -> str:
    """Return ``module:qualname`` of a function, the same in every process.

    Raises:
        StashError: ``ERR_INVALID_INPUT`` if it has none.
    """
    named = getattr(function, "__qualname__", None)
    if named is None:
        raise invalid_input(f"a {type(function).__name__} has no name of its own", hint="give a key")
    return f"{function.__module__}:{named}"


def _like(function: Callable[..., Any], tape: Tape, over: Callable[..., Any]) -> Callable[..., Any]:
    """Return a wrapper of the same kind, so that what inspects it sees what it saw."""
    kind = _Kind(function)
    if kind.async_generator:

        async def streamed_async(*args: Any, **kwargs: Any) -> Any:
            chunks = over(tape.stream_async, args, kwargs)
            step, given = chunks.asend, None
            while True:
                try:
                    chunk = await step(given)
                except StopAsyncIteration:
                    return
                try:
                    step, given = chunks.asend, (yield chunk)
                except GeneratorExit:
                    await chunks.aclose()
                    raise
                except BaseException as thrown:  # noqa: BLE001 -- it belongs to the wrapped generator
                    step, given = chunks.athrow, thrown

        made: Callable[..., Any] = streamed_async
    elif kind.generator:

        def streamed(*args: Any, **kwargs: Any) -> Any:
            return (yield from over(tape.stream, args, kwargs))

        made = streamed
    elif kind.coroutine:

        async def called_async(*args: Any, **kwargs: Any) -> Any:
            return await over(tape.call_async, args, kwargs)

        made = called_async
    else:

        def called(*args: Any, **kwargs: Any) -> Any:
            return over(tape.call, args, kwargs)

        made = called
    try:
        return functools.update_wrapper(made, function)
    except AttributeError:
        return made


class _Kind:
    """What calling a callable gives."""

    def __init__(self, function: Callable[..., Any]) -> None:
        plain = function.func if isinstance(function, functools.partial) else function
        if not inspect.isroutine(plain) and not inspect.isclass(plain):
            plain = type(plain).__call__
        self.async_generator = inspect.isasyncgenfunction(plain)
        self.generator = inspect.isgeneratorfunction(plain)
        self.coroutine = inspect.iscoroutinefunction(plain)
