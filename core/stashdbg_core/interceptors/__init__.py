"""Interceptors: ready-made ways to put a source of non-determinism on a tape."""

from stashdbg_core.interceptors.clock import DeterministicClock, create_deterministic_clock
from stashdbg_core.interceptors.mcp import InterceptedSession, intercept_mcp_client, record_mcp_tool
from stashdbg_core.interceptors.randomness import SeededRandom, create_seeded_random
from stashdbg_core.interceptors.wrap import wrap, wrapped

__all__ = [
    "DeterministicClock",
    "InterceptedSession",
    "SeededRandom",
    "create_deterministic_clock",
    "create_seeded_random",
    "intercept_mcp_client",
    "record_mcp_tool",
    "wrap",
    "wrapped",
]
