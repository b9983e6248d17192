"""A user's own rules of redaction, from a TOML file.

    presets = ["secrets", "pii"]          # without it: secrets
    names = ["x-internal-id"]             # further names whose values are secret
    keep = ["next_secret_santa"]          # names whose values are not

    [[rule]]
    name = "employee-number"
    pattern = 'EMP-(?P<secret>[0-9]{6})'  # the group narrows what is masked
    anchors = ["emp-"]                    # optional: lower-case texts, one of which every match holds

Nothing in the file names code to load.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from stashdbg_core.errors import StashError, invalid_input, not_found
from stashdbg_core.redact.redactor import Redactor
from stashdbg_core.redact.rules import PII, SECRETS, Rule
from stashdbg_core.sanitize import shorten

_PRESETS: Final = {"secrets": SECRETS, "pii": PII}
_MAX_SIZE: Final = 1 << 20
_HINT: Final = "docs/redaction.md shows the file's keys: presets, names, keep and [[rule]]"


@dataclass(frozen=True, slots=True)
class RuleSet:
    """What to look for."""

    rules: tuple[Rule, ...] = SECRETS
    names: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()

    def redactor(self) -> Redactor:
        """Return a redactor, with a placeholder table of its own."""
        return Redactor(self.rules, names=self.names, keep=self.keep)


def load_rules(path: Path | str) -> RuleSet:
    """Read a rule file.

    Raises:
        StashError: ``ERR_NOT_FOUND``: it cannot be read; ``ERR_INVALID_INPUT``: it is malformed.
    """
    path = Path(path)
    shown = shorten(str(path), 200)
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_SIZE + 1)
    except OSError as error:
        raise not_found(f"the rule file {shown} cannot be read: {error.strerror}") from None
    if len(text) > _MAX_SIZE:
        raise invalid_input(f"the rule file {shown} is larger than 1 MB", hint=_HINT)
    try:
        return parse_rules(text.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise invalid_input(f"the rule file {shown} is not TOML: {shorten(str(error), 120)}", hint=_HINT) from None
    except StashError as error:
        raise invalid_input(f"{error.message}, in {shown}", hint=error.hint) from None


def parse_rules(text: str) -> RuleSet:
    """Read rules from TOML text.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: a key or value is not one that rules have.
        tomllib.TOMLDecodeError: It is not TOML.
    """
    table = tomllib.loads(text)
    _only(table, {"presets", "names", "keep", "rule"}, "a rule file")
    rules: list[Rule] = []
    for preset in _texts(table.get("presets", ["secrets"]), "presets"):
        if preset not in _PRESETS:
            raise invalid_input(f"{shorten(preset, 40)!r} is no preset", hint="the presets are 'secrets' and 'pii'")
        rules.extend(_PRESETS[preset])
    own = table.get("rule", [])
    if type(own) is not list:
        raise invalid_input("'rule' is no list of tables", hint="write [[rule]] above each rule")
    rules.extend(_rule(entry) for entry in own)
    return RuleSet(tuple(rules), _texts(table.get("names", []), "names"), _texts(table.get("keep", []), "keep"))


def _rule(entry: Any) -> Rule:
    if type(entry) is not dict:
        raise invalid_input("'rule' is no list of tables", hint="write [[rule]] above each rule")
    _only(entry, {"name", "pattern", "anchors"}, "a rule")
    name, pattern = entry.get("name"), entry.get("pattern")
    if type(name) is not str or type(pattern) is not str:
        raise invalid_input("a rule lacks its name or pattern", hint=_HINT)
    return Rule(name, pattern, tuple(anchor.lower() for anchor in _texts(entry.get("anchors", []), "anchors")))


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if type(value) is not list or not all(type(item) is str and item for item in value):
        raise invalid_input(f"{where!r} is no list of texts", hint=_HINT)
    return tuple(value)


def _only(table: dict[str, Any], known: set[str], what: str) -> None:
    for key in table:
        if key not in known:
            raise invalid_input(f"{what} has no key {shorten(key, 40)!r}", hint=_HINT)
