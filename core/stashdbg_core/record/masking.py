"""Redaction at record: what stands between a captured value and the store.

The program's own objects are never touched: rules see the captured JSON tree, functions a decoded copy. If a rule or
function raises, the value is dropped; it is never stored in clear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, cast

from stashdbg_core.calls import DROP, RedactContext, RedactFunction
from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_input
from stashdbg_core.tags import DROPPED, TAG


class Rules(Protocol):
    """What recording asks of ``redact.Redactor``."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How often each rule masked something."""
        ...

    def suspects(self, stored: bytes) -> bool:
        """Tell, cheaply, whether a stored form is worth a closer look; a no is certain."""
        ...

    def redact_tree(self, tree: Json) -> Json:
        """Return the tree with secrets masked; the same object if there are none."""
        ...

    def redact_text(self, text: str) -> str:
        """Return the text with secrets masked."""
        ...


class Default:
    """The type of ``DEFAULT``."""

    def __repr__(self) -> str:
        return "DEFAULT"


DEFAULT: Final = Default()
"""The rules every recording has unless it says otherwise."""

Step: TypeAlias = Default | Rules | RedactFunction | None
Redaction: TypeAlias = Step | Sequence[Step]
"""``DEFAULT``; ``None``: off; rules; a function; or several, in order. Functions come on top of the default rules,
unless the sequence holds rules or ``None`` itself."""


class Masking:
    """The redaction of one recorder."""

    def __init__(self, redaction: Redaction) -> None:
        steps: list[Step] = list(redaction) if isinstance(redaction, Sequence) else [redaction]
        if all(callable(step) for step in steps):
            steps.append(DEFAULT)
        self.rules: list[Rules] = []
        self.functions: list[RedactFunction] = []
        self.default = False
        for step in steps:
            if isinstance(step, Default):
                self.default = True
                self.rules.append(_default_rules())
            elif hasattr(step, "redact_tree"):
                self.rules.append(cast("Rules", step))
            elif callable(step):
                self.functions.append(step)
            elif step is not None:
                raise invalid_input(
                    f"a redact step is a {type(step).__name__}",
                    hint="give DEFAULT, None, a Redactor, a function of (value, context), or a sequence of these",
                )

    @property
    def on(self) -> bool:
        """Whether anything is ever masked."""
        return bool(self.rules or self.functions)

    def text(self, text: str) -> str:
        """Mask a label, a key or another short text."""
        for rules in self.rules:
            text = rules.redact_text(text)
        return text

    def suspects(self, stored: bytes) -> bool:
        """Tell whether a value in stored form needs ``tree`` at all."""
        if self.functions:
            return True
        return any(rules.suspects(stored) for rules in self.rules)

    def tree(
        self, tree: Json, context: RedactContext, decode: Callable[[Json], Any], encode: Callable[[Any], Json]
    ) -> Json:
        """Return what may be stored of a tree.

        Args:
            tree: A private copy.
            context: Which value it is.
            decode: Makes the copy that a function may change.
            encode: Makes a tree of what a function returned.
        """
        for function in self.functions:
            result = function(decode(tree), context)
            if result is DROP:
                return dropped()
            tree = encode(result)
        for rules in self.rules:
            tree = rules.redact_tree(tree)
        return tree

    def describe(self) -> Json:
        """Return ``meta.redaction``."""
        if not self.on:
            return {"rules": "off"}
        counts: dict[str, int] = {}
        for rules in self.rules:
            for kind, count in rules.counts.items():
                counts[kind] = counts.get(kind, 0) + count
        named = "default" if self.default else "custom" if self.rules else "off"
        description: dict[str, Json] = {"rules": named}
        if self.functions:
            description["functions"] = len(self.functions)
        description["counts"] = dict(sorted(counts.items()))
        return description


def dropped() -> Json:
    """Return what is stored in place of a dropped value."""
    return {TAG: DROPPED}


def _default_rules() -> Rules:
    from stashdbg_core.redact import Redactor

    return Redactor()
