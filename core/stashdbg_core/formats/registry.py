"""The formats there are, in the order in which a file is tried for them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from stashdbg_core.formats.format import Format

FORMATS: tuple[str, ...] = (
    "stashdbg_core.formats.claude_stream_json",
    "stashdbg_core.formats.claude_code",
    "stashdbg_core.formats.codex",
    "stashdbg_core.formats.codex_exec",
    "stashdbg_core.formats.gemini_cli",
    "stashdbg_core.formats.gemini_stream",
    "stashdbg_core.formats.copilot_cli",
    "stashdbg_core.formats.pi",
    "stashdbg_core.formats.atif",
    "stashdbg_core.formats.swe_agent",
    "stashdbg_core.formats.mini_swe_agent",
    "stashdbg_core.formats.openhands",
    "stashdbg_core.formats.agent_rewind",
    "stashdbg_core.formats.agentfootprint",
    "stashdbg_core.formats.inspect_ai",
    "stashdbg_core.formats.openai_agents",
    "stashdbg_core.formats.langsmith",
    "stashdbg_core.formats.langfuse",
    "stashdbg_core.formats.otel",
    "stashdbg_core.formats.vcrpy",
    "stashdbg_core.formats.har",
    "stashdbg_core.formats.request_lines",
    "stashdbg_core.formats.mcp_log",
    "stashdbg_core.formats.langgraph",
    "stashdbg_core.formats.opencode",
    "stashdbg_core.formats.chat_messages",
)
"""Modules with a ``FORMAT``; the more particular before the more general."""


def formats() -> Iterator[Format]:
    """Yield every format in order; a module is loaded when its turn comes."""
    for name in FORMATS:
        yield import_module(name).FORMAT


def format_named(name: str) -> Format | None:
    """Return the format of that name, if there is one."""
    return next((known for known in formats() if known.name == name), None)
