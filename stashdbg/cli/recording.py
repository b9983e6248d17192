"""Recording a program: what ``stashdbg record`` does once its words are understood, and the usual words, understood.

The program waits while this is imported, so the usual command line is read without a parser.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stashdbg.cli.program_words import narrate_error, narrate_recording, say

if TYPE_CHECKING:
    from stashdbg_core.redact.rule_file import RuleSet

DEFAULT_OUTPUT = "run.json"
_OUTPUT = ("-o", "--output")


@dataclass(frozen=True, slots=True)
class PlainRecord:
    """A command line of ``record`` that needs no parser: an output at most, ``--force`` at most, and a program."""

    program: tuple[str, ...]
    output: str = DEFAULT_OUTPUT
    force: bool = False


def plain_record(args: Sequence[str]) -> PlainRecord | None:
    """Return what a command line asks for, or None if it takes a parser to say."""
    if not args or args[0] != "record" or "--" not in args:
        return None
    cut = args.index("--")
    words, program = list(args[1:cut]), tuple(args[cut + 1 :])
    output, force = DEFAULT_OUTPUT, False
    while words:
        word = words.pop(0)
        if word in _OUTPUT and words and not words[0].startswith("-"):
            output = words.pop(0)
        elif word == "--force":
            force = True
        else:
            return None
    return PlainRecord(program, output, force) if program else None


def record(program: Sequence[str], output: str, *, force: bool = False, rules: str | None = None) -> int:
    """Run a program, record it, and return its exit code.

    Raises:
        StashError: It cannot be started, or the recording cannot be written.
    """
    from stashdbg_core.programs.runs import unhooked
    from stashdbg_core.programs.starting import record_program

    run = record_program(list(program), Path(output), rules=_rules(rules), force=force, say=say, streams="ours")
    run.start()
    from stashdbg_core.programs import counts  # noqa: F401 -- while the program runs there is time

    result = run.wait()
    if result.path is None:
        narrate_error(unhooked(run.command))
        return result.exit_code
    narrate_recording(result.path, result.notes)
    return result.exit_code


def _rules(rules: str | None) -> Callable[[], RuleSet] | None:
    """Return what gives the rules asked for or configured; None, quickly, where neither is so."""
    import platformdirs

    if rules is None and not os.path.exists(platformdirs.user_config_dir("stashdbg")):
        return None

    def load() -> RuleSet:
        from stashdbg_core.redact.user_rules import rule_set

        return rule_set(rules)

    return load
