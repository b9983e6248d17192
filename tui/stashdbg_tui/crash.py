"""What is printed when the screen fails: the frames, never their variables, which may hold recorded secrets."""

from __future__ import annotations

from rich.console import Console
from rich.segment import Segments
from rich.text import Text

REPORT = (
    "stashdbg's screen stopped on an error of its own; the recording was not changed.\n"
    "Please report it with the lines above, which show no recorded values: https://github.com/stashdbg/stashdbg/issues\n"
    "`stashdbg show FILE` prints the recording without the screen."
)


def crash_report(console: Console) -> Segments:
    """Return the current exception as frames without locals, and what to do about it."""
    from rich.traceback import Traceback  # heavy, and hardly ever needed

    traceback = Traceback(show_locals=False, width=None, max_frames=20, suppress=["rich", "textual"])
    options = console.options
    return Segments([*console.render(traceback, options), *console.render(Text(REPORT), options)])
