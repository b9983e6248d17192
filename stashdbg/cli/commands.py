"""The commands by name. Adding one is one module with a function ``command`` and one entry here.

Help and completion are made from this table alone; a command's module is imported when it runs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command lives, and what help says of it."""

    group: str
    """The heading it stands under in the list of commands; those of one group follow each other."""
    module: str
    help: str
    """What it does, in one sentence."""
    examples: tuple[str, ...]
    """Command lines, as typed."""


DEFAULT = "open"
"""The command meant when the first word is a file."""

_LOOK = "Look at a run"
_RUN = "Record and run a program"
_FORK = "Fork and experiment"
_TRUST = "Share and trust"
_OTHERS = "Other tools' files"
_HELP = "Find your way"

COMMANDS: dict[str, Entry] = {
    "open": Entry(
        _LOOK,
        "stashdbg.cli.open",
        "Open in the debugger; without a terminal, list the events.",
        ("stashdbg run.json", "stashdbg runs/", "stashdbg open traces.jsonl --run 2 --theme light"),
    ),
    "show": Entry(
        _LOOK,
        "stashdbg.cli.show",
        "List the events, or print one event whole.",
        (
            "stashdbg show run.json --at 65",
            "stashdbg show run.json --filter 'is:error channel:tool' --head 5",
            "stashdbg show run.json --columns cost=value.usage.total_tokens",
        ),
    ),
    "stats": Entry(
        _LOOK,
        "stashdbg.cli.stats",
        "Count events, errors, values and bytes by channel.",
        ("stashdbg stats run.json --json",),
    ),
    "search": Entry(
        _LOOK,
        "stashdbg.cli.search",
        "Find a text in keys, labels, inputs and values.",
        ("stashdbg search run.json 129.35", "stashdbg search run.json '/rate.*EUR/i' --first"),
    ),
    "why": Entry(
        _LOOK,
        "stashdbg.cli.why",
        "Walk back from a call to the outputs that reached it.",
        ("stashdbg why run.json --at 60", "stashdbg why run.json --at 65 --pointer /amount"),
    ),
    "diff": Entry(
        _LOOK,
        "stashdbg.cli.diff",
        "Show where two recordings differ, and why; exit 1 if they do.",
        ("stashdbg diff good.json bad.json", "stashdbg diff good.json bad.json --explain --text"),
    ),
    "notes": Entry(
        _LOOK,
        "stashdbg.cli.notebook",
        "Print or add notes on a recording.",
        ("stashdbg notes run.json", "stashdbg notes run.json --add 59 'the rate is upside down'"),
    ),
    "record": Entry(
        _RUN,
        "stashdbg.cli.record",
        "Run a program and record all that it asks of the outside world.",
        ("stashdbg record -- python agent.py", "stashdbg record -o bad.json -- pytest -k refund"),
    ),
    "replay": Entry(
        _RUN,
        "stashdbg.cli.replay",
        "Run a recorded program again, offline; exit 1 if it diverges.",
        ("stashdbg replay run.json", "stashdbg replay run.json --times 5"),
    ),
    "continue": Entry(
        _RUN,
        "stashdbg.cli.continue_",
        "Run a program on from a fork: served up to there, then live.",
        ("stashdbg continue run-fork.json --dry-run", "stashdbg continue run-fork.json --yes"),
    ),
    "fork": Entry(
        _FORK,
        "stashdbg.cli.fork",
        "Write a fork of a recording, one outcome put in by hand.",
        (
            "stashdbg fork run.json --at 59 --set '{\"rate\": 0.92}'",
            "stashdbg fork run.json --at 59 --throw 'TimeoutError:no answer'",
        ),
    ),
    "forks": Entry(
        _FORK,
        "stashdbg.cli.forks",
        "Print the recordings of a folder as a tree of forks.",
        ("stashdbg forks",),
    ),
    "sweep": Entry(
        _FORK,
        "stashdbg.cli.sweep",
        "Run a fork many times; group the runs that end alike.",
        ("stashdbg sweep run-fork.json --times 10", "stashdbg sweep run-fork.json --values rates.json --yes"),
    ),
    "ablate": Entry(
        _FORK,
        "stashdbg.cli.ablate",
        "Take out earlier outputs, run again, see what changes.",
        ("stashdbg ablate run.json --at 60 --dry-run",),
    ),
    "scan": Entry(
        _TRUST,
        "stashdbg.cli.scan",
        "List the secrets a recording still holds; exit 1 if there are any.",
        ("stashdbg scan run.json",),
    ),
    "redact": Entry(
        _TRUST,
        "stashdbg.cli.redact",
        "Write a copy with its secrets masked.",
        ("stashdbg redact run.json -o masked.json --pii",),
    ),
    "seal": Entry(
        _TRUST,
        "stashdbg.cli.seal",
        "Write a seal beside a recording, so that any change shows.",
        ("stashdbg seal run.json", "stashdbg seal run.json --key ~/.ssh/id_ed25519"),
    ),
    "verify": Entry(
        _TRUST,
        "stashdbg.cli.verify",
        "Compare a recording with its seal; exit 1 if it does not hold.",
        ("stashdbg verify run.json", "stashdbg verify run.json --signers allowed_signers"),
    ),
    "report": Entry(
        _TRUST,
        "stashdbg.cli.report",
        "Pack chosen parts of recordings as a bug report.",
        ("stashdbg report run.json --list", "stashdbg report run.json --title 'Refund of H-52 refused' -o bug.zip"),
    ),
    "convert": Entry(
        _OTHERS,
        "stashdbg.cli.convert",
        "Write another tool's file, or a damaged one, as a recording.",
        ("stashdbg convert session.jsonl -o run.json",),
    ),
    "export": Entry(
        _OTHERS,
        "stashdbg.cli.export",
        "Write a recording in a shape for other readers.",
        ("stashdbg export run.json --pytest -o test_run.py", "stashdbg export run.json --otlp -o spans.json"),
    ),
    "recent": Entry(
        _HELP,
        "stashdbg.cli.recent",
        "List what was opened here, and the sessions of agents nearby.",
        ("stashdbg recent", "stashdbg recent claude refund"),
    ),
    "demo": Entry(
        _HELP,
        "stashdbg.cli.demo",
        "Open the recorded run that ships with stashdbg.",
        ("stashdbg demo",),
    ),
    "keys": Entry(
        _HELP,
        "stashdbg.cli.keys",
        "List the debugger's keys.",
        ("stashdbg keys",),
    ),
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
        "--head",
        "-n",
        "--tail",
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
        "--max-calls",
    }
)
"""Options of any command that take the next word; tells a file from a value when options come first."""
