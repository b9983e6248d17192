"""Recording a program: what ``stashdbg record`` does once its words are understood.

The program is running meanwhile, so what is loaded here is loaded in the order in which it is needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stashdbg.cli.program_words import narrate_error, narrate_recording, print_recording, say

if TYPE_CHECKING:
    from stashdbg_core.programs.process.launch import Streams
    from stashdbg_core.programs.runs.head_start import HeadStart
    from stashdbg_core.redact.rule_file import RuleSet


def record(
    program: Sequence[str],
    output: str,
    *,
    force: bool = False,
    rules: str | None = None,
    begun: HeadStart | None = None,
    as_json: bool = False,
) -> int:
    """Run a program, record it, and return its exit code.

    Args:
        program: The program and its arguments.
        output: Where the recording goes.
        force: Replace the file.
        rules: A file of redaction rules.
        begun: The program, if it was started already.
        as_json: Print one JSON object; what the program prints goes to standard error.

    Raises:
        StashError: It cannot be started, or the recording cannot be written.
    """
    try:
        from stashdbg_core.programs.runs.starting import load_the_rest, record_program

        path, wanted = Path(output), _rules(rules)
        streams: Streams = "errors" if as_json else "ours"
        run = record_program(program, path, rules=wanted, force=force, say=say, streams=streams, begun=begun)
        run.start()
    except BaseException:
        if begun is not None:
            begun.abandon()
        raise
    load_the_rest()
    from stashdbg_core.programs.runs.program_run import unhooked

    if begun is not None:
        begun.settle()
    result = run.wait()
    if result.path is None:
        narrate_error(unhooked(run.command), as_json=as_json)
    elif as_json:
        print_recording(result.path, result)
    else:
        narrate_recording(result.path, result)
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
