"""``stashdbg report``: what of recordings can be reported, and the archive of what is chosen."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from stashdbg.cli import console
from stashdbg.cli.cells import clip
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import load_recordings
from stashdbg.cli.options import ForceOption, JsonOption, LimitOption, RunOption, output_file
from stashdbg.cli.redaction import PiiOption, RulesOption
from stashdbg_core.errors import invalid_input
from stashdbg_core.redact.user_rules import rule_set
from stashdbg_core.report import Bundle, Fields, Offer, describe, issue_body, issue_url
from stashdbg_core.session.words import counted, size_words

EPOCH = "SOURCE_DATE_EPOCH"
_LABEL = 80


def command(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Recordings of one problem.")],
    listing: Annotated[bool, typer.Option("--list", help="Only say what there is to include, and how large.")] = False,
    include: Annotated[
        list[str] | None,
        typer.Option(
            "--include", metavar="ID", help="A unit of --list, or several with commas; repeatable. All if not given."
        ),
    ] = None,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="One line: what went wrong.")] = "",
    steps: Annotated[str, typer.Option("--steps", metavar="TEXT", help="How to get there.")] = "",
    expected: Annotated[str, typer.Option("--expected", metavar="TEXT", help="What should have happened.")] = "",
    actual: Annotated[str, typer.Option("--actual", metavar="TEXT", help="What happened instead.")] = "",
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT.zip",
            help="The archive; named by date and title if not given.",
            callback=output_file,
        ),
    ] = None,
    repo: Annotated[
        str | None,
        typer.Option("--repo", metavar="OWNER/NAME", help="Print the address of its filled-in issue form too."),
    ] = None,
    now: Annotated[
        str | None,
        typer.Option(
            "--now", metavar="ISO", help="The time of the report, for an archive that is the same to the byte."
        ),
    ] = None,
    rules: RulesOption = None,
    pii: PiiOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
    limit: LimitOption = None,
    run: RunOption = None,
) -> None:
    """Pack chosen parts of recordings, masked, as a bug report; nothing is sent anywhere."""
    moment = moment_of(now)
    fields = Fields(title, steps, expected, actual)
    recordings = [recording for file in files for recording in load_recordings(file, limit, run)]
    offer = describe(recordings, rules=rule_set(rules, pii))
    chosen = None
    if include is not None:
        chosen = [name.strip() for names in include for name in names.split(",") if name.strip()]
    if listing:
        _print_offer(offer, offer.preview(chosen, moment, fields if title else None), as_json)
        return
    bundle = offer.export(chosen, fields, moment)
    url = issue_url(repo, bundle.manifest) if repo is not None else None
    _write(bundle, Path(output if output is not None else bundle.file_name), url, force=force, as_json=as_json)


def moment_of(spelled: str | None) -> datetime:
    """Return the moment given, that of ``SOURCE_DATE_EPOCH``, or the present one; without a zone it is UTC.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is no moment.
    """
    epoch = os.environ.get(EPOCH, "")
    try:
        if spelled is not None:
            found = datetime.fromisoformat(spelled)
            return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        if epoch:
            return datetime.fromtimestamp(int(epoch), UTC)
    except (ValueError, OverflowError, OSError):
        wrong = f"--now {spelled[:40]!r}" if spelled is not None else f"{EPOCH}={epoch[:40]!r}"
        hint = "write it like 2026-11-30T12:00:00Z" if spelled is not None else "it counts seconds since 1970"
        raise invalid_input(f"{wrong} is no moment", hint=hint) from None
    return datetime.now(UTC)


def _print_offer(offer: Offer, preview: Bundle, as_json: bool) -> None:
    if as_json:
        tree = {"units": [unit.to_json() for unit in offer.units], "manifest": preview.manifest}
        console.ascii_text(json_text(tree) + "\n")
        return
    wide = max(len(unit.id) for unit in offer.units)
    console.line(Styled("to include", "dim"))
    for unit in offer.units:
        size = size_words(unit.bytes)
        console.line(Styled(unit.id.ljust(wide), "key"), f"  {size:>8}  ", clip(unit.label, _LABEL))
    console.line()
    console.line(Styled("in the archive", "dim"))
    for file in preview.files:
        masked = f"  {counted(file.masked, 'place')} masked" if file.masked else ""
        console.line(f"{file.name.ljust(24)}  {size_words(len(file.data)):>8}{masked}")
    console.line(f"{size_words(preview.total_bytes)} in all")
    _narrate(preview.manifest)


def _write(bundle: Bundle, path: Path, url: str | None, *, force: bool, as_json: bool) -> None:
    written = bundle.write(path, overwrite=force)
    if as_json:
        issue = {"title": bundle.manifest["report"]["title"], "body": issue_body(bundle.manifest), "url": url}
        tree: dict[str, Any] = {
            "file": str(written.path),
            "bytes": written.bytes,
            "sha256": written.sha256,
            "issue": issue,
            "manifest": bundle.manifest,
        }
        console.ascii_text(json_text(tree) + "\n")
        return
    console.line(str(written.path))
    if url is not None:
        console.line(url)
    counts = bundle.manifest["counts"]
    console.narrate(
        f"{counted(counts['conversations'], 'conversation')}, {counted(counts['events'], 'event')}, "
        f"{counted(counts['files'], 'file')}, {size_words(written.bytes)}; {counted(bundle.masked, 'place')} masked; "
        f"sha256 {written.sha256}"
    )
    _narrate(bundle.manifest)


def _narrate(manifest: dict[str, Any]) -> None:
    for kind, style in (("warning", "error"), ("note", "warning")):
        texts: Sequence[str] = manifest[f"{kind}s"]
        for text in texts:
            console.narrate(Styled(f"{kind}: ", style), text)  # type: ignore[arg-type]
