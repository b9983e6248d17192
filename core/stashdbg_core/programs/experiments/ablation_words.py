"""What an ablation found, in words; only an output that was tested, and made a difference, is called causal."""

from __future__ import annotations

import shlex

from stashdbg_core.programs.experiments.ablate import AblationPlan
from stashdbg_core.programs.experiments.ablation_verdict import PartVerdict, Verdict


def verdict_words(verdict: Verdict) -> str:
    """Return what taking an output out says of it."""
    if not verdict.complete:
        return "not tested to the end"
    return "causal" if verdict.causal else "not shown to matter"


def effect_words(part: PartVerdict, of: int) -> str:
    """Return what happened to the input, or to the outcome, in ``of`` runs."""
    runs = f"in {part.runs} of {of}"
    return {
        "same": "the same",
        "carried": f"only has the neutral text where the other stood, {runs}",
        "changed": f"changed, {runs}",
        "sometimes": f"changed only sometimes, {runs}",
        "varies": "changes, but no more than when nothing is taken out",
        "not made": f"the call is not made, {runs}",
    }[part.effect]


def ablation_command_line(plan: AblationPlan, *, typed: bool) -> str:
    """Return the command that does the same without a screen."""
    own = plan.recording.path
    words = ["stashdbg", "ablate", "FILE" if own is None else str(own), "--at", str(plan.target.seq)]
    if plan.pointer is not None:
        words += ["--pointer", plan.pointer, *(["--part", plan.part] if plan.part is not None else [])]
    words += ["--times", str(plan.times)]
    return shlex.join([*words, *(["--", *plan.command.argv] if typed else [])])
