"""JMESPath expressions: computed columns over ``{"value", "input", "event"}``, and watches over a value.

One that fits nothing gives null; nothing raises for what a file holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.gist import brief

_LONGEST = 2000
_EVENT_FIELDS = ("seq", "channel", "key", "ordinal", "outcome", "at", "label", "thread", "parent", "ms", "site")
_PARTS = ("value", "input", "event")
_SEEN_FROM_ROOT = {
    "expref": 0,
    **dict.fromkeys(
        ("subexpression", "index_expression", "pipe", "projection", "value_projection", "filter_projection"), 1
    ),
}
"""How many of a node's children see what the node does; the others see what the first gave. All, where none is said."""


@dataclass(frozen=True, slots=True)
class Column:
    """A named expression, evaluated for each event that is looked at."""

    name: str
    expression: str
    evaluate: Callable[[Json], Json]

    def of(self, recording: Recording, event: RecordedEvent) -> Json:
        """Return what the expression finds in an event; null where that is nothing or cannot be read."""
        return self.evaluate(facts_of_event(recording, event, self.expression))

    def text(self, recording: Recording, event: RecordedEvent, width: int) -> str:
        """Return it on one line of about ``width`` characters, unsanitised; empty for null."""
        found = self.of(recording, event)
        return "" if found is None else brief(found, width)


def compile_expression(expression: str) -> Callable[[Json], Json]:
    """Return a function that evaluates a JMESPath expression and never raises for the data.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is none; the message names the column.
    """
    import jmespath
    from jmespath.exceptions import JMESPathError

    if not expression.strip():
        raise invalid_input("an expression is empty", hint="such as value.usage.total_tokens")
    if len(expression) > _LONGEST:
        raise invalid_input(f"an expression has at most {_LONGEST:,} characters")
    try:
        compiled: Any = jmespath.compile(expression)
    except JMESPathError as error:
        column = getattr(error, "lex_position", None)
        column = getattr(error, "lexer_position", None) if column is None else column
        where = "" if column is None else f" at column {column + 1}"
        raise invalid_input(
            f"{shorten(expression, 80)!r} is not a JMESPath expression{where}",
            hint='such as value.choices[0].message.content; a name with other characters is quoted: value."a-b"',
            column=column,
        ) from None
    except (RecursionError, ValueError, MemoryError):
        raise invalid_input("an expression is too deeply nested", hint="write it shorter") from None
    _refuse_unknown_functions(compiled.parsed)

    def evaluate(tree: Json) -> Json:
        try:
            return compiled.search(tree)
        except (JMESPathError, RecursionError, TypeError, ValueError, ArithmeticError, AttributeError):
            return None  # the data is not what the expression is about

    return evaluate


def reads_event(expression: str) -> bool:
    """Tell whether an expression starts, anywhere in it, at a part of an event: ``value``, ``input`` or ``event``."""
    import jmespath

    compiled: Any = jmespath.compile(expression)
    pending = [compiled.parsed]
    while pending:
        node = pending.pop()
        if node["type"] == "field" and node["value"] in _PARTS:
            return True
        pending += node["children"][: _SEEN_FROM_ROOT.get(node["type"])]
    return False


def parse_columns(settings: Iterable[str]) -> list[Column]:
    """Return columns written as ``name=expression``, or as an expression alone, which is its own name.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: an expression is none.
    """
    columns = []
    for setting in settings:
        name, equals, expression = setting.partition("=")
        if not equals or not name.replace("-", "").replace("_", "").isalnum() or expression.startswith("="):
            name, expression = setting, setting
        columns.append(Column(name, expression, compile_expression(expression)))
    return columns


def readable_columns(settings: Iterable[str]) -> list[Column]:
    """Return columns as ``parse_columns`` does; one that another version wrote and is no expression is always empty."""
    columns = []
    for setting in settings:
        try:
            columns += parse_columns([setting])
        except StashError:
            columns.append(Column(setting, setting, lambda _: None))
    return columns


def _refuse_unknown_functions(parsed: dict[str, Any]) -> None:
    """Refuse a function that JMESPath has not: the parser takes any name, and evaluating one would only give null."""
    from jmespath.functions import Functions

    known = sorted(Functions.FUNCTION_TABLE)
    pending = [parsed]
    while pending:
        node = pending.pop()
        pending += node["children"]
        if node["type"] == "function_expression" and node["value"] not in known:
            name = shorten(node["value"], 40)
            raise invalid_input(f"JMESPath has no function {name}()", hint=f"it has {', '.join(known)}")


def facts_of_event(recording: Recording, event: RecordedEvent, expression: str = "value input event") -> Json:
    """Return what expressions see of an event; a part that the expression does not name is not read."""
    tree: dict[str, Json] = {
        "event": {name: found for name in _EVENT_FIELDS if (found := getattr(event, name)) is not None}
    }
    for name, ref in (("value", event.ref), ("input", event.input_ref)):
        tree[name] = _tree(recording, ref) if name in expression else None
    return tree


def _tree(recording: Recording, ref: str | None) -> Json:
    if not ref:
        return None
    try:
        return recording.blobs.tree(ref)
    except StashError:
        return None
