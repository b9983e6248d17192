"""The commands by name. Adding one is one module with a function ``command`` and one line here.

Help and completion are made from this table alone; a command's module is imported when it runs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command lives, and what it does in one sentence."""

    module: str
    help: str


DEFAULT = "open"
"""The command meant when the first word is a file."""

COMMANDS: dict[str, Entry] = {
    "open": Entry("stashdbg.cli.open", "Open in the debugger; without a terminal, list the events."),
    "show": Entry("stashdbg.cli.show", "List the events, or print one event whole."),
    "stats": Entry("stashdbg.cli.stats", "Count events, errors, values and bytes by channel."),
    "diff": Entry("stashdbg.cli.diff", "Show where two recordings differ, and why; exit 1 if they do."),
    "fork": Entry("stashdbg.cli.fork", "Write a fork of a recording, one outcome put in by hand."),
    "record": Entry("stashdbg.cli.record", "Run a program and record all that it asks of the outside world."),
    "replay": Entry("stashdbg.cli.replay", "Run a recorded program again, offline; exit 1 if it diverges."),
    "continue": Entry("stashdbg.cli.continue_", "Run a program on from a fork: served up to there, then live."),
    "sweep": Entry("stashdbg.cli.sweep", "Run a fork many times; group the runs that end alike."),
    "ablate": Entry("stashdbg.cli.ablate", "Take out earlier outputs, run again, see what changes."),
    "forks": Entry("stashdbg.cli.forks", "Print the recordings of a folder as a tree of branches."),
    "search": Entry("stashdbg.cli.search", "Find a text in keys, labels, inputs and values."),
    "why": Entry("stashdbg.cli.why", "Walk back from a call to the outputs that reached it."),
    "notes": Entry("stashdbg.cli.notebook", "Print or add notes on a recording."),
    "convert": Entry("stashdbg.cli.convert", "Write another tool's file, or a damaged one, as a recording."),
    "export": Entry("stashdbg.cli.export", "Write a recording in a shape for other readers."),
    "redact": Entry("stashdbg.cli.redact", "Write a copy with its secrets masked."),
    "scan": Entry("stashdbg.cli.scan", "List the secrets that a recording still holds."),
    "seal": Entry("stashdbg.cli.seal", "Write a seal beside a recording, so that any change shows."),
    "verify": Entry("stashdbg.cli.verify", "Compare a recording with its seal."),
    "report": Entry("stashdbg.cli.report", "Pack chosen parts of recordings as a bug report."),
    "recent": Entry("stashdbg.cli.recent", "List what was opened here, and the sessions of agents nearby."),
    "demo": Entry("stashdbg.cli.demo", "Open the recorded run that ships with stashdbg."),
    "keys": Entry("stashdbg.cli.keys", "List the debugger's keys."),
}

VALUE_OPTIONS = frozenset(
    {
        "--key",
        "--seal",
        "--signers",
        "--expect",
        "--limit",
        "--run",
        "--filter",
        "--columns",
        "--pointer",
        "--text",
        "--part",
        "--max",
        "--add",
        "--drop",
        "--theme",
        "--at",
        "--output",
        "-o",
        "--rules",
        "--include",
        "--title",
        "--steps",
        "--expected",
        "--actual",
        "--now",
        "--repo",
        "--set",
        "--set-file",
        "--throw",
        "--align",
        "--on-divergence",
        "--ignore",
        "--rerun",
        "--secret",
        "--times",
        "--values",
        "--jobs",
        "-j",
        "--only",
    }
)
"""Options of any command that take the next word; tells a file from a value when options come first."""
