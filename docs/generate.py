"""Writes the generated pages: ``python docs/generate.py``. A test compares them with what stands there.

``api.md`` is made from the signatures and docstrings of the public names as they stand in the source, so that it is
the same under every Python; ``keys.md`` and ``query.md`` from the tables of the screen and of the query language.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import stashdbg
from stashdbg_core import stash
from stashdbg_core.session.query_operators import query_markdown
from stashdbg_tui.commands import keys_markdown

HERE = Path(__file__).parent
WIDTH = 100
GROUPS = {
    title: tuple(names.split())
    for title, names in {
        "Record and replay": """Stash create_stash load_stash Recorder create_recorder Replayer create_replayer
            CallOptions Divergence DivergenceReport RecordingLossWarning RecordedError""",
        "Calls that need no word at each place": """wrap wrapped intercept_mcp_client record_mcp_tool
            create_deterministic_clock DeterministicClock create_seeded_random SeededRandom""",
        "Recordings and their files": """Recording RecordedEvent BlobStore open_recording write_recording
            encode_recording decode_recording Limits recording_stats RecordingStats""",
        "Values": "TypeRegistry",
        "Forks and differences": "fork diff_recordings DiffResult",
        "Seals": "seal_recording verify_recording Seal VerifyResult",
        "Redaction": "Redactor RedactContext DROP",
        "Errors": "StashError ErrorCode is_stash_error",
    }.items()
}
OPTIONS = (stash.FileOptions, stash.RecordOptions, stash.ReplayOptions, stash.CallArguments)
OPENING = """\
# The library

Every public name of `import stashdbg`, with its signature and what its docstring says. [Record your agent in five
minutes](record.md) is the way in; [stability.md](stability.md) says what a version number promises.
"""
_SECTION = re.compile(r"^(Args|Attributes|Raises|Returns|Yields):$", re.M)
_ENTRY = re.compile(r"^(\S[^:\n]*): (.*(?:\n +.*)*)", re.M)
_TITLES = {"Args": "", "Attributes": "", "Raises": "raises ", "Returns": "returns ", "Yields": "yields "}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def api_markdown() -> str:
    """Return ``api.md``.

    Raises:
        ValueError: A public name stands in no group, or in two.
    """
    listed = [name for names in GROUPS.values() for name in names]
    if sorted(listed) != sorted(stashdbg.__all__):
        raise ValueError(f"no group, or two: {sorted(set(stashdbg.__all__) ^ set(listed))}")
    index = [f"- [{title}](#{anchor(title)}): {', '.join(map(code, names))}" for title, names in GROUPS.items()]
    parts = [OPENING, "\n".join(index) + "\n"]
    for title, names in GROUPS.items():
        parts += [f"## {title}\n", *map(entry, names)]
        if title == "Record and replay":
            parts += [
                "### Options\n\nWhat `**options` and `**about` may hold; no names to import.\n",
                *map(options, OPTIONS),
            ]
    return "\n".join(parts) + "\nGenerated from the docstrings by `docs/generate.py`.\n"


def anchor(title: str) -> str:
    """Return what a link to a heading says behind ``#``."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def code(text: str) -> str:
    """Return a text as inline code."""
    return f"`{text}`"


def entry(name: str) -> str:
    """Return the part of the page about one public name."""
    found: Any = getattr(stashdbg, name)
    heading = f"### {name}\n\n"
    if inspect.isfunction(found):
        return heading + block(signature(name, function_node(found))) + prose(inspect.getdoc(found))
    if inspect.isclass(found):
        return heading + class_entry(name, found)
    return heading + "What a redact function returns so that a value is not stored at all.\n"


def options(kind: type) -> str:
    """Return the part about a group of keyword arguments."""
    node = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(node, ast.ClassDef)
    bases = [code(base.id) for base in node.bases if isinstance(base, ast.Name) and base.id != "TypedDict"]
    more = f" Those of {', '.join(bases)} too." if bases else ""
    return block(fields_call(kind.__name__, list(fields_of(node)))) + prose(inspect.getdoc(kind)).rstrip() + more + "\n"


def class_entry(name: str, cls: type) -> str:
    """Return the part about a class: how it is made, what it is, and its members."""
    if issubclass(cls, Enum):
        rows = "".join(f"- `{member.name}`: `{member.value}`\n" for member in cls)
        return prose(inspect.getdoc(cls)) + "\n" + rows
    node = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(node, ast.ClassDef)
    made = next((one for one in node.body if isinstance(one, Function) and one.name == "__init__"), None)
    fields = list(fields_of(node)) if made is None else []
    call = fields_call(name, fields) if fields else signature(name, made) if made else f"{name}(…)"
    bare = issubclass(cls, Exception) and not made
    text = ("" if bare else block(call)) + prose(inspect.getdoc(cls))
    told = "".join(f"- `{ast.unparse(field.target)}`: {said}\n" for field, said in fields if said)
    return text + ("\n" + told if told else "") + "".join(members(cls))


def fields_of(node: ast.ClassDef) -> Iterator[tuple[ast.AnnAssign, str]]:
    """Yield the fields of a data class, each with the text under it."""
    for field, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign) and not ast.unparse(field.target).startswith("_"):
            said = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            yield field, markdown(inspect.cleandoc(str(said)))


def fields_call(name: str, fields: list[tuple[ast.AnnAssign, str]]) -> str:
    """Return how a data class is made."""
    arguments = []
    for field, _ in fields:
        default = "" if field.value is None else " = " + short_default(ast.unparse(field.value))
        arguments.append(f"{ast.unparse(field.target)}: {ast.unparse(field.annotation)}{default}")
    return folded(name, arguments, "")


def members(cls: type) -> Iterator[str]:
    """Yield the public methods and properties of a class, those of bases of ours included."""
    seen = set()
    for base in cls.__mro__:
        if not base.__module__.startswith("stashdbg_core"):
            continue
        for name, member in vars(base).items():
            function = getattr(member, "__func__", getattr(member, "fget", getattr(member, "func", member)))
            if name.startswith("_") or name in seen or not inspect.isfunction(function):
                continue
            seen.add(name)
            node = function_node(function)
            said = inspect.getdoc(getattr(cls, name)) if function is member else inspect.getdoc(function)
            if isinstance(member, property) or hasattr(member, "attrname"):
                result = "" if node.returns is None else f": {ast.unparse(node.returns)}"
                yield f"\n#### {cls.__name__}.{name}\n\n" + block(name + result) + prose(said)
            else:
                yield f"\n#### {cls.__name__}.{name}\n\n" + block(signature(name, node)) + prose(said)


def function_node(function: Any) -> Function:
    """Return the syntax tree of a function."""
    node = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body[0]
    assert isinstance(node, Function)
    return node


def signature(name: str, node: Function) -> str:
    """Return a signature as it is spelled in the source, without ``self``."""
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    arguments = [argument(one, default) for one, default in zip(plain, defaults, strict=True)]
    if plain and plain[0].arg in ("self", "cls"):
        arguments = arguments[1:]
    if given.vararg:
        arguments.append(f"*{argument(given.vararg, None)}")
    elif given.kwonlyargs:
        arguments.append("*")
    arguments += [argument(one, default) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    if given.kwarg:
        arguments.append(f"**{argument(given.kwarg, None)}")
    result = "" if node.returns is None or name[0].isupper() else f" -> {ast.unparse(node.returns)}"
    return folded(name, arguments, result)


def argument(one: ast.arg, default: ast.expr | None) -> str:
    """Return one parameter with its annotation and default."""
    text = one.arg if one.annotation is None else f"{one.arg}: {ast.unparse(one.annotation)}"
    return text if default is None else f"{text} = {short_default(ast.unparse(default))}"


def short_default(text: str) -> str:
    """Return a default that says something to a reader; a call that makes one is only said to."""
    return "…" if "(" in text and len(text) > 12 else text


def folded(name: str, arguments: list[str], result: str) -> str:
    """Return a signature on one line if it fits, else with a line for each parameter."""
    line = f"{name}({', '.join(arguments)}){result}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {one},\n" for one in arguments) + f"){result}"


def block(text: str) -> str:
    """Return a block of code that no test runs: it is a signature."""
    return f"```py\n{text}\n```\n\n"


def prose(docstring: str | None) -> str:
    """Return a Google docstring as Markdown."""
    first, *rest = _SECTION.split(docstring or "")
    parts = [markdown(first).strip() + "\n"] if first.strip() else []
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        lines = []
        for named, said in _ENTRY.findall(inspect.cleandoc(body)):
            text = " ".join(markdown(said).split())
            lines.append(f"- {_TITLES[title]}`{named.strip()}`: {text}\n")
        parts.append("".join(lines) or f"- {_TITLES[title]}{' '.join(markdown(body).split())}\n")
    return "\n".join(parts)


def markdown(text: str) -> str:
    """Return text of a docstring as Markdown."""
    return text.replace("``", "`")


PAGES = {"api.md": api_markdown, "keys.md": keys_markdown, "query.md": query_markdown}

if __name__ == "__main__":
    for page, made in PAGES.items():
        (HERE / page).write_text(made(), encoding="utf-8")
