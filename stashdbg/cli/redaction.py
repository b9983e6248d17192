"""What ``redact``, ``scan`` and ``report`` share: their options, and secrets told of by place and kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from stashdbg.cli import console
from stashdbg.cli.cells import clip
from stashdbg.cli.console import Styled

if TYPE_CHECKING:
    from stashdbg_core.redact.scan import ScanFinding

RulesOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--rules", metavar="FILE", help="A TOML file of own rules, instead of the one in the configuration."),
]
PiiOption: TypeAlias = Annotated[
    bool, typer.Option("--pii", help="Also what tells of people: e-mail, phone, card, account and IP numbers.")
]

_POINTER = 80


def finding_parts(finding: ScanFinding) -> list[console.Part]:
    """Return a line that says where a secret is, and of which kind."""
    where = "" if finding.seq is None else f"event {finding.seq}"
    pointer = clip(finding.pointer, _POINTER) or "(all of it)"
    return [f"{where:<12}{finding.part:<10}", Styled(f"{finding.kind:<18}", "warning"), f"  {pointer}"]


def counted(number: int, what: str) -> str:
    """Return a number with its noun, in the plural where it should be."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
