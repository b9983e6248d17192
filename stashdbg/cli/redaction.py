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
    typer.Option("--rules", metavar="F", help="A TOML file of your own rules, instead of the configured one."),
]
PiiOption: TypeAlias = Annotated[
    bool, typer.Option("--pii", help="Personal data too: e-mail addresses, phone, card, account and IP numbers.")
]

_POINTER = 80


def finding_parts(finding: ScanFinding) -> list[console.Part]:
    """Return a line that says where a secret is, and of which kind."""
    where = "" if finding.seq is None else f"event {finding.seq}"
    pointer = clip(finding.pointer, _POINTER) or "(all of it)"
    return [f"{where:<12}{finding.part:<10}", Styled(f"{finding.kind:<18}", "warning"), f"  {pointer}"]
