"""A notebook as Markdown: bookmarks and notes with the events they are about, for a report or an issue.

Recorded text goes into code spans and fences longer than any run of backticks in it, so it stays text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stashdbg_core.model import Recording
from stashdbg_core.sanitize import sanitize, shorten
from stashdbg_core.session.notebook import Notebook
from stashdbg_core.session.summary import outcome_word, summary
from stashdbg_core.session.words import counted, duration_words

_SUMMARY = 200
_TICKS = re.compile("`+")
_BLOCK_START = re.compile(r"^(\s*)([#>\-+*=|~]|\d+[.)]|<)", re.MULTILINE)


def notebook_markdown(recording: Recording, notebook: Notebook) -> str:
    """Return the notebook as Markdown, marked events in the order of the run."""
    count = len(recording.events)
    name = recording.path.name if recording.path is not None else recording.id
    ended = "complete" if recording.complete else "incomplete"
    lines = [
        f"# Notes on {code(name, 120)}",
        "",
        f"Run {code(recording.id, 120)}, {counted(count, 'event')}, {ended}.",
    ]
    if notebook.breakpoints:
        lines += ["", "Breakpoints: " + ", ".join(code(query, 200) for query in notebook.breakpoints)]
    if notebook.watches:
        lines += ["", "Watches: " + ", ".join(code(expression, 200) for expression in notebook.watches)]
    marked = sorted({*notebook.bookmarks, *(note.seq for note in notebook.notes)})
    for seq in marked:
        lines += ["", *_event(recording, notebook, seq)]
    if not marked:
        lines += ["", "No event is marked."]
    return "\n".join(lines) + "\n"


def code(text: str, limit: int) -> str:
    """Return recorded text as a code span that nothing in it can end."""
    safe = shorten(text, limit)
    ticks = "`" * (max((len(run) for run in _TICKS.findall(safe)), default=0) + 1)
    padding = " " if safe[:1] in ("`", " ") or safe[-1:] in ("`", " ") else ""
    return f"{ticks}{padding}{safe or ' '}{padding}{ticks}"


def _event(recording: Recording, notebook: Notebook, seq: int) -> Iterator[str]:
    position = recording.events.position_of(seq)
    star = "★ " if seq in notebook.bookmarks else ""
    if position is None:
        yield f"## {star}Event {seq}"
        yield ""
        yield "Not in this recording."
    else:
        event = recording.events[position]
        took = f", {duration_words(event.ms)}" if event.ms is not None else ""
        yield f"## {star}Event {seq}: {code(f'{event.channel} {event.key}', 120)} {outcome_word(event)}{took}"
        yield ""
        yield code(summary(recording, event, _SUMMARY), _SUMMARY)
        if event.site:
            yield ""
            yield f"at {code(event.site, 200)}"
    for note in notebook.notes:
        if note.seq == seq:
            yield ""
            yield _BLOCK_START.sub(r"\1\\\2", sanitize(note.text))
