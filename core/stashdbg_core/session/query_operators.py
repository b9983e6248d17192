"""The operators of the query language, as data: the parser, the help and ``docs/query.md`` read this one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Takes: TypeAlias = Literal["name", "text", "payload", "number", "duration", "moment", "flag"]


@dataclass(frozen=True, slots=True)
class Operator:
    """One ``name:`` of the language."""

    name: str
    takes: Takes
    finds: str
    example: str


@dataclass(frozen=True, slots=True)
class Flag:
    """One ``is:name``."""

    name: str
    finds: str


OPERATORS: tuple[Operator, ...] = (
    Operator("channel", "name", "calls of this channel", "channel:llm"),
    Operator("key", "name", "calls of this name in their channel", "key:search*"),
    Operator("outcome", "name", "how a call ended: `return`, `throw`, or a foreign file's own word", "outcome:throw"),
    Operator("thread", "name", "calls of this lane; `thread:\"\"` is the main one", "thread:tools_0*"),
    Operator("label", "text", "calls whose label holds the text", 'label:"second try"'),
    Operator("site", "text", "calls from this place in the program", "site:agent.py:42"),
    Operator("seq", "number", "events by number: one, a range, or a bound", "seq:10-50"),
    Operator("ms", "duration", "calls that took so long, in milliseconds or with a unit: `ms`, `s`, `m`", "ms:>1.5s"),
    Operator("at", "moment", "calls that started then: UTC date and time, or `+` time since the run began", "at:>+2m"),
    Operator("input", "payload", "calls whose input says it", "input:paris"),
    Operator("value", "payload", "calls whose value or error says it", "value:/\\d+ EUR/"),
    Operator("is", "flag", "calls by what is known of them, see below", "is:error"),
)  # fmt: skip

FLAGS: tuple[Flag, ...] = (
    Flag("error", "the call threw, a call that never finished not among them"),
    Flag("pending", "the call never finished"),
    Flag("damaged", "its record, value or input is damaged, or its value is missing"),
    Flag("stream", "the value is a stream of chunks"),
    Flag("bookmarked", "it has a bookmark"),
    Flag("noted", "it has a note"),
    Flag("breakpoint", "a breakpoint stops here"),
    Flag("marked", "it has a bookmark or a note"),
)

_BY_NAME = {operator.name: operator for operator in OPERATORS}
_SYNTAX = (
    ("`word`", "its channel, key, label, input or value says it; `*` stands for anything"),
    ('`"two words"`', 'the same, exactly this text; `\\"` and `\\\\` stand for `"` and `\\`'),
    ("`/regex/`", "the same by a pattern of the `regex` package; `/…/i` any case, `\\/` is a slash"),
    ("`name:…`", "one of the operators below, with a word, a text or a pattern"),
    ("`a b`", "both; so does `a and b`"),
    ("`a or b`", "either; binds weaker than `a b`"),
    ("`not a`, `-a`", "not this"),
    ("`( )`", "brackets"),
)


def operator(name: str) -> Operator | None:
    """Return an operator by its name."""
    return _BY_NAME.get(name)


def query_markdown() -> str:
    """Return ``docs/query.md``."""
    lines = [
        "# Queries",
        "",
        "One language for the filter, for breakpoints, for `search` and for `show --filter`.",
        "",
        "    channel:llm (value:refund or ms:>2s) -is:error",
        "",
        "| write | finds events where |",
        "|---|---|",
        *(f"| {write} | {finds} |" for write, finds in _SYNTAX),
        "",
        "A word or text without a capital letter is found in any case. A name (`channel:`, `key:`, `outcome:`,",
        "`thread:`) is the whole name; `*` stands for anything in it. Texts are looked for in every key, text and",
        "number of a value by itself, not across them. A pattern that takes too long on one text is given up.",
        "",
        "| operator | finds | example |",
        "|---|---|---|",
        *(f"| `{entry.name}:` | {entry.finds} | `{entry.example}` |" for entry in OPERATORS),
        "",
        "Numbers and times take one value (`seq:7`), a range (`seq:10-50`, both ends in) or a bound (`ms:>1000`, `>=`,",
        "`<`, `<=`).",
        "",
        "| flag | finds calls of which |",
        "|---|---|",
        *(f"| `is:{entry.name}` | {entry.finds} |" for entry in FLAGS),
        "",
        "A search in the debugger (`/`) looks for a plain text, in which every character stands for itself, or for a",
        "`/regex/`; it is no query.",
        "",
        "Generated from `core/stashdbg_core/session/query_operators.py`.",
    ]
    return "\n".join(lines) + "\n"
