"""``stashdbg verify``: whether a recording is what was sealed, in one word, and where it is not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stashdbg.cli import console, exit_codes
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import STANDARD_INPUT, load_recording, own_name
from stashdbg.cli.notes import narrate_notes
from stashdbg.cli.options import FileArgument, JsonOption, LimitOption, RunOption
from stashdbg_core.errors import invalid_input

if TYPE_CHECKING:
    from stashdbg_core.seal import VerifyResult

_SHOWN = 50


def command(
    file: FileArgument,
    seal: Annotated[
        str | None, typer.Option("--seal", metavar="F", help="The seal file; FILE's name with .seal.json if not given.")
    ] = None,
    signers: Annotated[
        str | None,
        typer.Option("--signers", metavar="F", help="Allowed signers, as ssh-keygen reads them; one must have signed."),
    ] = None,
    expect: Annotated[
        str | None,
        typer.Option(
            "--expect",
            metavar="ROOT",
            help="The root kept elsewhere; without it, or --signers, whoever has both files can seal a change anew.",
        ),
    ] = None,
    as_json: JsonOption = False,
    limit: LimitOption = None,
    run: RunOption = None,
) -> int:
    """Compare a recording with its seal; exit 1 if anything that the seal covers has changed.

    Without --expect or --signers this shows accidents and careless edits alone: whoever holds recording and seal can
    seal a changed recording anew.
    """
    from stashdbg_core.seal import seal_path, verify_with_file

    if seal is None and file == STANDARD_INPUT:
        raise invalid_input("standard input has no seal beside it", hint="name one with --seal")
    path = seal_path(own_name(file, run)) if seal is None else Path(seal)
    result = verify_with_file(load_recording(file, limit, run), path, signers=signers, expect=expect)
    if as_json:
        console.ascii_text(json_text(result.to_json()) + "\n")
    else:
        _print(result)
    return exit_codes.OK if result.valid else exit_codes.DIFFERENT


def _print(result: VerifyResult) -> None:
    from stashdbg_core.seal.result import SIGNATURE_WORDS

    if result.valid:
        console.line(Styled(result.message, "bold"))
    else:
        console.line(Styled(str(result.verdict), "error"), f": {result.message}")
    for broken in result.broken[1:_SHOWN]:
        console.line(f"  {broken.verdict}: {broken.part} of event {broken.seq}")
    if len(result.broken) > _SHOWN:
        console.line(f"  … and {len(result.broken) - _SHOWN:,} more")
    for part in result.uncovered[:_SHOWN]:
        where = part.part if part.seq is None else f"{part.part} of event {part.seq}"
        console.line(f"  not covered: {where}", "" if part.masked else " (holds no placeholder)")
    if len(result.uncovered) > _SHOWN:
        console.line(f"  … and {len(result.uncovered) - _SHOWN:,} more; --json lists all")
    if result.root is not None:
        console.line(f"root       {result.root}", " (as expected)" if result.pinned else "")
        by = result.signature.by or "unknown"
        console.line("signature  ", SIGNATURE_WORDS[result.signature.state].format(by=by))
    narrate_notes(result.notes)
