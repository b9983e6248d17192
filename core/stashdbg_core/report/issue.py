"""An issue for the tracker: Markdown body and the address that opens it filled in. Nothing here touches a network."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_input
from stashdbg_core.sanitize import sanitize, sanitize_line
from stashdbg_core.session.words import size_words

_MAX_URL: Final = 8000
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}")
_CUT: Final = "\n\n_The rest did not fit into the address: see manifest.json in the bundle._"


def issue_body(manifest: Mapping[str, Json]) -> str:
    """Return the body of an issue about a bundle, from its manifest."""
    report = manifest.get("report") or {}
    parts = [
        f"### {heading}\n\n{sanitize(str(report.get(key) or '')).strip() or '_(not given)_'}\n"
        for heading, key in (("Steps to reproduce", "steps"), ("Expected", "expected"), ("Actual", "actual"))
    ]
    parts.append(_contents(manifest))
    redacted = manifest["redacted"]
    if redacted["kinds"]:
        kinds = ", ".join(f"{count} × {kind}" for kind, count in redacted["kinds"].items())
        names = f"; under the names {_names(redacted['names'])}" if redacted["names"] else ""
        parts.append(f"### Masked\n\n{kinds}{names}\n")
    if manifest["warnings"]:
        parts.append("### Warnings\n\n" + "".join(f"- {_line(text)}\n" for text in manifest["warnings"]))
    if manifest["notes"]:
        parts.append("### Notes\n\n" + "".join(f"- {_line(text)}\n" for text in manifest["notes"]))
    return "\n".join(parts)


def issue_url(repository: str, manifest: Mapping[str, Json], labels: Sequence[str] = ()) -> str:
    """Return the address of GitHub's form for a new issue, filled in; at most 8,000 characters, the body cut to fit.

    Args:
        repository: ``OWNER/NAME``.
        manifest: Of a bundle with the reporter's words.
        labels: Labels to ask for.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: the repository is none.
    """
    if _REPOSITORY.fullmatch(repository) is None:
        raise invalid_input(f"{repository[:80]!r} is no repository", hint="write OWNER/NAME")
    title = str((manifest.get("report") or {}).get("title") or "")
    head = f"https://github.com/{repository}/issues/new?title={_quoted(sanitize_line(title)[:250])}"
    if labels:
        head += f"&labels={_quoted(','.join(labels))}"
    body = issue_body(manifest)
    room = _MAX_URL - len(head) - len("&body=")
    if len(_quoted(body)) > room:
        body = _cut(body, room - len(_quoted(_CUT))) + _CUT
    return f"{head}&body={_quoted(body)}"


def _contents(manifest: Mapping[str, Json]) -> str:
    counts, excluded = manifest["counts"], manifest["excluded"]
    rows = ["| file | size | masked |", "|---|---:|---:|"]
    rows += [f"| {_cell(f['name'])} | {size_words(f['bytes'])} | {f['masked']} |" for f in manifest["files"]]
    units = [f"- {_line(unit['label'])}" for unit in manifest["units"] if unit["kind"] == "conversation"]
    flight = f", {counts['inFlight']} never finished" if counts["inFlight"] else ""
    said = f"{counts['events']} events, {counts['failed']} failed{flight}; {size_words(manifest['totalBytes'])} in all."
    if excluded["conversations"] or excluded["files"]:
        said += f" **A subset: {excluded['conversations']} conversations and {excluded['files']} files left out.**"
    return "### What is in the bundle\n\n" + "\n".join([*units, "", *rows, "", said, ""])


def _cut(body: str, room: int) -> str:
    """Return the head of a body whose quoted form has ``room`` characters, cut at a line's end if that is not far."""
    low, high = 0, len(body)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(_quoted(body[:middle])) <= room else (low, middle - 1)
    line_end = body.rfind("\n", low // 2, low)
    return body[: line_end if line_end > 0 else low]


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{_cell(name)}`" for name in names[:20])
    return shown if len(names) <= 20 else f"{shown} and {len(names) - 20} more"


def _line(text: str) -> str:
    return sanitize_line(text)


def _cell(text: str) -> str:
    return sanitize_line(text).replace("|", "\\|").replace("`", "'")


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")
