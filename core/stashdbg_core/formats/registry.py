"""The formats there are, in the order in which a file is tried for them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from stashdbg_core.formats.format import Format

FORMATS: tuple[str, ...] = (
    "stashdbg_core.formats.readers.claude.stream_json",
    "stashdbg_core.formats.readers.claude.format",
    "stashdbg_core.formats.readers.codex.format",
    "stashdbg_core.formats.readers.codex.exec_stream",
    "stashdbg_core.formats.readers.gemini.format",
    "stashdbg_core.formats.readers.gemini.stream_json",
    "stashdbg_core.formats.readers.copilot_cli",
    "stashdbg_core.formats.readers.pi.format",
    "stashdbg_core.formats.readers.atif",
    "stashdbg_core.formats.readers.swe_agent",
    "stashdbg_core.formats.readers.mini_swe_agent",
    "stashdbg_core.formats.readers.openhands.format",
    "stashdbg_core.formats.readers.agent_rewind",
    "stashdbg_core.formats.readers.agentfootprint.format",
    "stashdbg_core.formats.readers.inspect_ai.format",
    "stashdbg_core.formats.readers.openai_agents",
    "stashdbg_core.formats.readers.langsmith",
    "stashdbg_core.formats.readers.langfuse",
    "stashdbg_core.formats.readers.otel.format",
    "stashdbg_core.formats.readers.vcrpy",
    "stashdbg_core.formats.readers.har",
    "stashdbg_core.formats.readers.request_lines",
    "stashdbg_core.formats.readers.mcp.format",
    "stashdbg_core.formats.readers.langgraph.format",
    "stashdbg_core.formats.readers.opencode.format",
    "stashdbg_core.formats.readers.chat_messages",
)
"""Modules with a ``FORMAT``; the more particular before the more general."""


def formats() -> Iterator[Format]:
    """Yield every format in order; a module is loaded when its turn comes."""
    for name in FORMATS:
        yield import_module(name).FORMAT


def format_named(name: str) -> Format | None:
    """Return the format of that name, if there is one."""
    return next((known for known in formats() if known.name == name), None)
