"""The arguments of a call as an input: by parameter name, defaults filled in, stable from process to process.

``f(1)`` and ``f(x=1)`` are one input, and so is a default given or not. ``self`` and ``cls`` are left out. An argument
that cannot be stored, such as a client or an open file, is left out too; its class stands there, so that it shows.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any

from stashdbg_core.canonical import Json

LEFT_OUT = "leftOut"
"""The only key of what stands for an argument that was left out."""

_STORABLE = frozenset({str, int, float, bool, type(None), bytes, list, dict, tuple, set, frozenset})
"""Values of these go in as they are; what a container holds that cannot be stored has a stand-in there."""
_RECEIVERS = frozenset({"self", "cls"})


class Arguments:
    """Names the arguments of one callable.

    Args:
        function: The callable; one without a readable signature has its arguments named by position.
        leave_out: Parameters that are no part of the input.
        storable: Tells whether a value can be stored whole.
    """

    def __init__(
        self, function: Callable[..., Any], leave_out: Collection[str], storable: Callable[[Any], bool]
    ) -> None:
        self._storable = storable
        try:
            self._signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):
            self._signature = None
        parameters = list(self._signature.parameters) if self._signature else []
        self._omitted = frozenset(leave_out) | (_RECEIVERS & frozenset(parameters[:1]))

    def named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the input of a call.

        Raises:
            TypeError: The arguments do not fit the signature; what calling it would raise.
        """
        if self._signature is None:
            return {"args": [self._kept(value) for value in args], **self._kept_each(kwargs)}
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return {
            name: self._kept_all(value, self._signature.parameters[name].kind)
            for name, value in bound.arguments.items()
            if name not in self._omitted
        }

    def _kept_all(self, value: Any, kind: inspect._ParameterKind) -> Any:
        if kind is inspect.Parameter.VAR_POSITIONAL:
            return [self._kept(item) for item in value]
        return self._kept_each(value) if kind is inspect.Parameter.VAR_KEYWORD else self._kept(value)

    def _kept_each(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._kept(value) for name, value in values.items()}

    def _kept(self, value: Any) -> Any:
        """Return an argument, or what stands for an object of which not all can be stored."""
        if type(value) in _STORABLE or self._storable(value):
            return value
        return left_out(type(value))


def left_out(cls: type) -> dict[str, Json]:
    """Return what stands for an argument of this class."""
    return {LEFT_OUT: f"{cls.__module__}:{cls.__qualname__}"}
