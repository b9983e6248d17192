"""Event types of agentfootprint, and on which channel each stands where it is no call of a model or a tool.

The set is open: a type that is not here is kept and counted as unknown.
"""

from __future__ import annotations

PREFIX = "agentfootprint."

_ACTIONS: dict[str, str] = {
    "composition": "enter exit fork_start branch_complete merge_end route_decided iteration_start iteration_exit",
    "agent": (
        "turn_start turn_end iteration_start iteration_end route_decided handoff output_schema_validation_failed "
        "output_schema_retry output_contract_unmet evidence_checked grounding_nudged run_configured "
        "thinking_parse_failed budget_exhausted"
    ),
    "stream": "llm_start llm_end token tool_start tool_progress tool_end thinking_delta thinking_end",
    "context": "injected evicted slot_composed budget_pressure evaluated",
    "memory": "strategy_applied attached retrieved detached written",
    "tools": (
        "offered activated deactivated discovery_started discovery_completed discovery_failed shadowed claim_swallowed "
        "answered_off_wire session_started session_reused session_closed session_close_failed effect result_refused "
        "repeated_call absent coverage_declared semantics_declared code_run"
    ),
    "skill": (
        "activated graph_declared deactivated rejected reroute_superseded route_conflict turn_routed step_advanced "
        "step_skipped steps_unfinished escalated"
    ),
    "map": "engaged parked",
    "integrity": "context_error disposition external_ground_used",
    "validation": "args_invalid",
    "permission": "check gate_opened gate_closed halt",
    "credential": "requested acquired authorization_required failed",
    "risk": "flagged",
    "fallback": "triggered",
    "cost": "tick limit_hit",
    "eval": "score threshold_crossed",
    "error": "retried recovered fatal circuit_changed",
    "reliability": "fail_fast retried recovered",
    "resilience": "output_fallback_triggered output_canned_used",
    "pause": "request resume",
    "checkin": "request decision",
    "middleware": "decision",
    "findings": "declared standing judged judge_failed contingent argument",
    "tool_choice": "picked outcome failed",
    "ontology": "served",
    "embedding": "generated",
    "artifacts": "minted resolved expired refused presented hand_over_failed",
}
_KNOWN = frozenset(f"{domain}.{action}" for domain, actions in _ACTIONS.items() for action in actions.split())
_CHANNELS = {
    **dict.fromkeys(("context", "memory", "skill", "map", "artifacts", "ontology", "embedding"), "state"),
    **dict.fromkeys(("middleware", "permission", "credential", "validation", "pause", "checkin", "risk"), "hook"),
    "eval": "score",
}
_FAILURES = frozenset(
    {"error.fatal", "error.retried", "reliability.retried", "reliability.fail_fast", "validation.args_invalid"}
)


def short_type(name: str) -> str:
    """Return a type without its prefix: ``stream.llm_start``."""
    return name.removeprefix(PREFIX)


def is_known(kind: str) -> bool:
    """Tell whether a type, as ``short_type`` has it, is one of those that are known."""
    return kind in _KNOWN


def channel_of(kind: str) -> str:
    """Return the channel of an event that is no call."""
    return _CHANNELS.get(kind.partition(".")[0], "note")


def is_failure(kind: str) -> bool:
    """Tell whether an event says that something failed."""
    return kind in _FAILURES or kind.endswith((".failed", "_failed"))
