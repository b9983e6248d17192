"""What ``redact``, ``scan`` and ``report`` share: the rules that hold, and secrets told of by place and kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from stashdbg.cli import console
from stashdbg.cli.cells import clip
from stashdbg.cli.console import Styled
from stashdbg_core.redact.redactor import Redactor
from stashdbg_core.redact.rule_file import RuleSet, load_rules
from stashdbg_core.redact.rules import PII

if TYPE_CHECKING:
    from stashdbg_core.model import Recording
    from stashdbg_core.redact.scan import ScanFinding

RulesOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--rules", metavar="FILE", help="A TOML file of own rules, instead of the one in the configuration."),
]
PiiOption: TypeAlias = Annotated[
    bool, typer.Option("--pii", help="Also what tells of people: e-mail, phone, card, account and IP numbers.")
]

USER_RULES = "redaction.toml"
"""Name of the user's own rules in the configuration folder."""
_POINTER = 80


def rules_path() -> Path:
    """Return where the user's own rules lie if there are any."""
    import platformdirs

    return Path(platformdirs.user_config_dir("stashdbg")) / USER_RULES


def rule_set(rules: str | None, pii: bool) -> RuleSet:
    """Return the rules of a file, of the user's configuration, or the default ones.

    Raises:
        StashError: The file cannot be read, or is malformed.
    """
    path = Path(rules) if rules is not None else rules_path()
    found = load_rules(path) if rules is not None or path.exists() else RuleSet()
    missing = tuple(rule for rule in PII if rule not in found.rules) if pii else ()
    return replace(found, rules=found.rules + missing)


def scan(recording: Recording, rules: RuleSet) -> list[ScanFinding]:
    """Return the secrets of a recording in order; pointers are masked, for a key may itself be one."""
    from stashdbg_core.redact.scan import scan_recording

    names = rules.redactor()
    return [_masked(finding, names) for finding in scan_recording(recording, rules.redactor())]


def finding_parts(finding: ScanFinding) -> list[console.Part]:
    """Return a line that says where a secret is, and of which kind."""
    where = "" if finding.seq is None else f"event {finding.seq}"
    pointer = clip(finding.pointer, _POINTER) or "(all of it)"
    return [f"{where:<12}{finding.part:<10}", Styled(f"{finding.kind:<18}", "warning"), f"  {pointer}"]


def kind_words(kinds: Iterable[str]) -> str:
    """Return how many of each kind there are: ``3 api-key, 1 cookie``."""
    counts: dict[str, int] = {}
    for kind in kinds:
        counts[kind] = counts.get(kind, 0) + 1
    return ", ".join(
        f"{count:,} {kind}" for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )


def counted(number: int, what: str) -> str:
    """Return a number with its noun, in the plural where it should be."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _masked(finding: ScanFinding, redactor: Redactor) -> ScanFinding:
    pointer = "/".join(redactor.redact_text(token) for token in finding.pointer.split("/"))
    return finding if pointer == finding.pointer else replace(finding, pointer=pointer)
