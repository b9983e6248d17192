"""The rules that hold for a user: those of a file, of the configuration folder, or the default ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stashdbg_core.redact.rule_file import RuleSet, load_rules
from stashdbg_core.redact.rules import PII

USER_RULES = "redaction.toml"
"""Name of the user's own rules in the configuration folder."""


def rules_path() -> Path:
    """Return where the user's own rules lie if there are any."""
    import platformdirs

    return Path(platformdirs.user_config_dir("stashdbg")) / USER_RULES


def rule_set(rules: str | None = None, pii: bool = False) -> RuleSet:
    """Return the rules of a file, of the user's configuration, or the default ones.

    Args:
        rules: A rule file, in place of the one in the configuration.
        pii: Whether what tells of people counts too.

    Raises:
        StashError: The file cannot be read, or is malformed.
    """
    path = Path(rules) if rules is not None else rules_path()
    found = load_rules(path) if rules is not None or path.exists() else RuleSet()
    missing = tuple(rule for rule in PII if rule not in found.rules) if pii else ()
    return replace(found, rules=found.rules + missing)
