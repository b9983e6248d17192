"""``stashdbg export``: a recording in a shape for other readers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import load_recording, refuse_foreign
from stashdbg.cli.options import FileArgument, ForceOption, JsonOption, LimitOption, RunOption
from stashdbg_core.errors import invalid_input

if TYPE_CHECKING:
    from stashdbg_core.model import Recording

STANDARD_OUTPUT = "-"


def command(
    file: FileArgument,
    flat: Annotated[bool, typer.Option("--flat", help="Every value whole, none shared: plain version 1.")] = False,
    pytest: Annotated[bool, typer.Option("--pytest", help="A pytest test that replays it.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Your bookmarks and notes on it, as Markdown.")] = False,
    otlp: Annotated[
        bool, typer.Option("--otlp", help="OpenTelemetry GenAI spans: OTLP JSON, every prompt whole.")
    ] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="OUT", help="Where to write; standard output if not given.")
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
    limit: LimitOption = None,
    run: RunOption = None,
) -> None:
    """Write a recording in a shape for other readers; print its name, or with --json one object that holds it."""
    shapes = {"--flat": flat, "--pytest": pytest, "--markdown": markdown, "--otlp": otlp}
    asked = [name for name, wanted in shapes.items() if wanted]
    if not asked:
        raise invalid_input("no shape was asked for", hint=f"give one of {', '.join(shapes)}")
    if len(asked) > 1:
        raise invalid_input(f"{' and '.join(asked)} exclude each other", hint="give one of them")
    target = None if output is None or output == STANDARD_OUTPUT else Path(output)
    if as_json and target is None:
        raise invalid_input("--json names the file that was written, and none is", hint="add -o OUT")
    recording = load_recording(file, limit, run)
    write = _write_flat if flat else _write_markdown if markdown else _write_otlp if otlp else _write_pytest
    written = write(recording, target, force)
    if as_json:
        console.ascii_text(json_text({"file": str(written)}) + "\n")
    elif written is not None:
        console.line(str(written))


def _write_flat(recording: Recording, target: Path | None, force: bool) -> Path | None:
    from stashdbg_core.store.writer import encode_recording, write_recording

    if target is not None:
        return write_recording(recording, target, overwrite=force, flat=True)
    console.data(encode_recording(recording, flat=True).encode("utf-8", "surrogatepass"))
    return None


def _write_pytest(recording: Recording, target: Path | None, force: bool) -> Path | None:
    from stashdbg.pytest_export import path_from, pytest_source

    if recording.path is None:
        raise invalid_input("a test names the file of its recording, and this one has none", hint="give a file, not -")
    refuse_foreign(str(recording.path), "a test replays")
    return _write_text(pytest_source(recording, path_from(recording.path, target)), target, force)


def _write_otlp(recording: Recording, target: Path | None, force: bool) -> Path | None:
    from stashdbg_core.formats.otlp_export import otlp_chunks
    from stashdbg_core.store.atomic import write_atomic

    if target is not None:
        return write_atomic(target, lambda file: file.writelines(otlp_chunks(recording)), overwrite=force)
    for chunk in otlp_chunks(recording):
        console.data(chunk)
    return None


def _write_markdown(recording: Recording, target: Path | None, force: bool) -> Path | None:
    from stashdbg_core.errors import not_found
    from stashdbg_core.session.notebook import Notebook
    from stashdbg_core.session.notebook_markdown import notebook_markdown

    notebook = Notebook.of(recording)
    if notebook.problem is not None:
        raise not_found(notebook.problem, hint="move that file away to start a new notebook")
    return _write_text(notebook_markdown(recording, notebook), target, force)


def _write_text(source: str, target: Path | None, force: bool) -> Path | None:
    from stashdbg_core.store.atomic import write_atomic

    if target is not None:
        text = source.encode("utf-8")
        return write_atomic(target, lambda file: file.write(text), overwrite=force)
    for line in source.splitlines():
        console.line(line)
    return None
