"""Replay: recorded calls served to a program, and where the program parts from its recording."""

from stashdbg_core.replay.answers import OnDivergence
from stashdbg_core.replay.divergence import Divergence, DivergenceKind, DivergenceReport, Nearest
from stashdbg_core.replay.field_changes import Change, field_changes
from stashdbg_core.replay.ignore import IgnorePattern
from stashdbg_core.replay.matcher import MatchMode
from stashdbg_core.replay.replayer import Replayer

__all__ = [
    "Change",
    "Divergence",
    "DivergenceKind",
    "DivergenceReport",
    "IgnorePattern",
    "MatchMode",
    "Nearest",
    "OnDivergence",
    "Replayer",
    "field_changes",
]
