"""The rules of the house (docs/architecture.md) that a machine can check."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted(p for top in ("stashdbg", "core", "tui") for p in (ROOT / top).rglob("*.py"))
MODULES = [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in SOURCES]

# Widget entry points of Textual that read a bare str as markup.
MARKUP_SINKS = {
    "Button", "Checkbox", "Collapsible", "Label", "OptionList", "Select", "Static", "Tab", "TabPane", "Tooltip",
    "add_column", "add_columns", "add_leaf", "add_option", "add_row", "notify", "set_label", "update_cell",
}  # fmt: skip
MARKUP_ATTRIBUTES = {"border_title", "border_subtitle", "tooltip"}

FLOORS = (
    {"errors", "canonical", "parse", "tags", "sanitize", "model", "calls", "lazy_names"},
    {"values"},
    {"store"},
    {"record", "replay", "redact", "exchange", "interceptors", "fork", "lineage", "diff", "seal"},
    {"stash"},
    {"session", "formats", "opening", "report", "programs"},
)


def _place(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _is_overload(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return any("overload" in ast.unparse(decorator) for decorator in node.decorator_list)


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_modules_and_functions_stay_small() -> None:
    long_files = [f"{_place(p)}: {n} lines" for p, _ in MODULES if (n := len(p.read_text().splitlines())) > 400]
    long_functions = [
        f"{_place(path)}:{f.lineno} {f.name}: {f.end_lineno - f.lineno + 1} lines"
        for path, tree in MODULES
        for f in _functions(tree)
        if f.end_lineno is not None and f.end_lineno - f.lineno >= 60
    ]
    assert long_files + long_functions == []


def test_every_module_and_public_name_says_what_it_is() -> None:
    silent = [_place(path) for path, tree in MODULES if ast.get_docstring(tree) is None]
    for path, tree in MODULES:
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or _is_overload(node):
                continue
            if not node.name.startswith("_") and ast.get_docstring(node) is None:
                silent.append(f"{_place(path)}:{node.lineno} {node.name}")
    assert silent == []


def test_no_fault_is_swallowed_whole() -> None:
    swallowed = [
        f"{_place(path)}:{node.lineno}"
        for path, tree in MODULES
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"})
        and all(isinstance(statement, ast.Pass | ast.Continue) for statement in node.body)
    ]
    assert swallowed == []


def test_nothing_is_left_to_be_done_later() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|raise NotImplementedError\(")
    assert [_place(p) for p, _ in MODULES if marks.search(p.read_text(encoding="utf-8"))] == []


def _floor(module: str) -> int | None:
    parts = module.split(".")
    if parts[0] != "stashdbg_core" or len(parts) < 2:
        return None
    return next((level for level, names in enumerate(FLOORS) if parts[1] in names), None)


def _imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module


def test_imports_point_down_the_floors() -> None:
    upward: list[str] = []
    for path, tree in MODULES:
        place = _place(path)
        for line, module in _imports(tree):
            top = module.split(".")[0]
            if place.startswith("core/"):
                own = _floor(".".join(path.relative_to(ROOT / "core").with_suffix("").parts))
                other = _floor(module)
                climbs = own is not None and other is not None and other > own
                if top in {"stashdbg", "stashdbg_tui", "textual", "rich", "typer"} or climbs:
                    upward.append(f"{place}:{line} imports {module}")
            elif place.startswith("tui/") and top in {"stashdbg", "typer"}:
                upward.append(f"{place}:{line} imports {module}")
    assert upward == []


def _modules_in_circles(graph: dict[str, set[str]]) -> set[str]:
    """Return what is left once everything that imports nothing of the rest is taken away, over and over."""
    left = dict(graph)
    while leaves := [name for name, imported in left.items() if not imported & left.keys()]:
        for name in leaves:
            del left[name]
    return set(left)


def test_no_modules_of_the_core_import_in_a_circle() -> None:
    names = {
        ".".join(path.relative_to(ROOT / "core").with_suffix("").parts): tree
        for path, tree in MODULES
        if _place(path).startswith("core/") and path.name != "__init__.py"
    }
    graph = {
        name: {
            module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for module in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        }
        & names.keys() - {name}
        for name, tree in names.items()
    }
    assert _modules_in_circles(graph) == set()


def test_every_core_module_stands_on_a_floor() -> None:
    names = {p.stem if p.is_file() else p.name for p in (ROOT / "core" / "stashdbg_core").iterdir()}
    homeless = names - {"__init__", "__pycache__", "py"} - set().union(*FLOORS)
    assert homeless == set()


def _is_safe_text(node: ast.expr) -> bool:
    """Whether an argument is a literal of ours, or made by the door for recorded text."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) != "str"
    return not isinstance(node, ast.JoinedStr | ast.BinOp)


def test_no_made_up_text_goes_bare_to_a_widget() -> None:
    bare: list[str] = []
    for path, tree in MODULES:
        if not _place(path).startswith("tui/"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name in MARKUP_SINKS:
                    bare += [f"{_place(path)}:{node.lineno} {name}" for a in node.args if not _is_safe_text(a)]
            elif isinstance(node, ast.Assign) and not _is_safe_text(node.value):
                targets = [t.attr for t in node.targets if isinstance(t, ast.Attribute)]
                bare += [f"{_place(path)}:{node.lineno} {t}" for t in targets if t in MARKUP_ATTRIBUTES]
    assert bare == []


@pytest.mark.parametrize("name", ["print", "sys.stdout.write", "sys.stderr.write"])
def test_only_the_console_writes(name: str) -> None:
    writers = [
        f"{_place(path)}:{node.lineno}"
        for path, tree in MODULES
        if path.name != "console.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == name
    ]
    assert writers == []
