"""``stashdbg seal``: a file beside the recording by which any later change of it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import STANDARD_INPUT, load_recording, refuse_foreign
from stashdbg.cli.notes import narrate_notes
from stashdbg.cli.options import JsonOption, LimitOption
from stashdbg_core.errors import invalid_input
from stashdbg_core.session.words import counted

_ADVICE = (
    "keep the root out of reach of whoever can change the files: stashdbg verify --expect ROOT compares it",
    "without a kept root or a signature, whoever holds both files can seal them anew",
)


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A recording.")],
    key: Annotated[
        str | None, typer.Option("--key", metavar="SSHKEY", help="Sign with this SSH key, through ssh-keygen.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a seal that is there.")] = False,
    as_json: JsonOption = False,
    limit: LimitOption = None,
) -> None:
    """Seal a recording, and print the seal's root.

    The seal, FILE's name with .seal.json, commits to every event, value and fact about the run. It shows any change.
    Who sealed it is known only if it is signed or its root was kept elsewhere.
    """
    from stashdbg_core.seal import seal_path, seal_recording, sign_seal, write_seal
    from stashdbg_core.seal.seal_file import refuse_existing

    if file == STANDARD_INPUT:
        raise invalid_input("a seal lies beside its recording, and standard input has no place", hint="name a file")
    refuse_foreign(file, "a seal covers")
    path = seal_path(Path(file))
    if not force:
        refuse_existing(path)
    seal = seal_recording(load_recording(file, limit))
    if key is not None:
        seal = sign_seal(seal, key)
    written = write_seal(seal, path, overwrite=force)
    root = seal.root.hex()
    if as_json:
        facts = {"file": str(written), "root": root, **seal.counts._asdict(), "signed": seal.signature is not None}
        console.ascii_text(json_text(facts) + "\n")
        return
    console.line(Styled(root, "bold"))
    events = counted(seal.counts.events, "event")
    console.narrate(f"{'signed and sealed' if key else 'sealed'} {events}: {written}")
    narrate_notes(_ADVICE[:1] if key else _ADVICE)
