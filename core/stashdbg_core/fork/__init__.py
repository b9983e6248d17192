"""Branches of a recording: the calls before a point, one outcome put in by hand, and nothing of what came after."""

from __future__ import annotations

from stashdbg_core.fork.branch import fork, fork_with
from stashdbg_core.fork.digest import recording_digest
from stashdbg_core.fork.override import Override, override_of_error, override_of_tree, override_of_value
from stashdbg_core.fork.places import find_event
from stashdbg_core.fork.plan import ForkPlan, plan_fork

__all__ = [
    "ForkPlan",
    "Override",
    "find_event",
    "fork",
    "fork_with",
    "override_of_error",
    "override_of_tree",
    "override_of_value",
    "plan_fork",
    "recording_digest",
]
