"""Arguments and options that mean the same on every command."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from stashdbg_core.errors import invalid_input


def output_file(name: str | None) -> str | None:
    """Return the name of a file to write as it was given.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is ``-``, which elsewhere means a stream, or empty.
    """
    if name == "-":
        raise invalid_input("-o takes a file to write, and - is a stream", hint="name a file; ./- is one called -")
    if name == "":
        raise invalid_input("-o takes a file to write, and the name is empty", hint="name a file")
    return name


FileArgument: TypeAlias = Annotated[str, typer.Argument(metavar="FILE", help="A recording; - reads standard input.")]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
RunOption: TypeAlias = Annotated[
    int | None, typer.Option("--run", metavar="N", help="Which run of a file that holds several, from 1.")
]
ExplainOption: TypeAlias = Annotated[
    bool, typer.Option("--explain", help="Say what is exact, inferred, missing and unknown in another tool's file.")
]
LimitOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--limit", metavar="NAME=VALUE", help="Raise a limit, such as depth=5000 or size=2GB; repeatable."),
]
OutputOption: TypeAlias = Annotated[
    str, typer.Option("--output", "-o", metavar="OUT", help="The file to write.", callback=output_file)
]
ForceOption: TypeAlias = Annotated[
    bool, typer.Option("--force", help="Replace OUT if it exists, instead of writing OUT-2.")
]
ThemeOption: TypeAlias = Annotated[
    str | None, typer.Option("--theme", metavar="NAME", help="dark, light, ansi, or a Textual theme.")
]
