"""The usual command line of ``record``, understood without a parser: the program starts before anything is loaded."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_OUTPUT = "run.json"
_OUTPUT = ("-o", "--output")
PlainRecord = tuple[tuple[str, ...], str, bool]
"""The program, the output, and whether it is forced."""


def plain_record(args: Sequence[str]) -> PlainRecord | None:
    """Return what a command line asks for, or None if it takes a parser to say."""
    if not args or args[0] != "record" or "--" not in args:
        return None
    cut = args.index("--")
    words, program = list(args[1:cut]), tuple(args[cut + 1 :])
    output, force = DEFAULT_OUTPUT, False
    while words:
        word = words.pop(0)
        if word in _OUTPUT and words and words[0] and not words[0].startswith("-"):
            output = words.pop(0)
        elif word == "--force":
            force = True
        else:
            return None
    return (program, output, force) if program else None
