"""What a run is called in lists."""

from __future__ import annotations

from stashdbg_core.model import Recording

_LOOKED_AT = 20


def run_title(recording: Recording) -> str:
    """Return a recording's title, what a person said first in it, or the command it is of; empty if it has none."""
    title = recording.meta.get("title")
    if isinstance(title, str) and title:
        return title
    for position in range(min(len(recording.events), _LOOKED_AT)):
        event = recording.events[position]
        if event.channel == "user" and event.label:
            return event.label
    return _command_line(recording)


def _command_line(recording: Recording) -> str:
    command = recording.meta.get("command")
    argv = command.get("argv") if isinstance(command, dict) else None
    if not isinstance(argv, list):
        return ""
    import shlex

    return shlex.join(word for word in argv if isinstance(word, str))
