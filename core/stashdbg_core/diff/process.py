"""``python -m stashdbg_core.diff.process A B MODE [LIMIT=N …]``: align two files in a process of its own.

A screen stays free meanwhile, and killing the process is how one stops it. Standard output has three arrays in
this machine's byte order: the partners of the first's events, of the second's, and the verdicts on pairs. Ends with 0
when they are there; says nothing otherwise, for its parent compares itself then.
"""

from __future__ import annotations

import subprocess
import sys
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread
from typing import get_args

from stashdbg_core.diff.align import AlignMode, align
from stashdbg_core.diff.contents import Contents
from stashdbg_core.diff.pairing import Alignment
from stashdbg_core.diff.result import DiffResult
from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.store.index_cache import open_in_process
from stashdbg_core.store.limits import Limits

_FAILED = 65


def diff_in_process(
    a: Recording,
    b: Recording,
    mode: AlignMode,
    *,
    limits: Limits = Limits(),
    cancelled: Callable[[], bool] = lambda: False,
) -> DiffResult | None:
    """Compare two recordings that are files while another process does the work; None when cancelled, or if it failed.

    Blocks the calling thread, not the interpreter.
    """
    settings = [f"{name}={getattr(limits, name)}" for name in limits.__slots__]
    command = [sys.executable, "-P", "-m", __name__, str(a.path), str(b.path), mode, *settings]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    found: list[bytes] = []
    assert process.stdout is not None
    stream = process.stdout
    reader = Thread(target=lambda: found.append(stream.read()), daemon=True)
    reader.start()
    while reader.is_alive():
        reader.join(0.1)
        if cancelled():
            process.kill()
    code = process.wait()
    stream.close()
    if code or cancelled() or not found:
        return None
    alignment = _unpacked(found[0], len(a.events), len(b.events))
    return None if alignment is None else DiffResult(a, b, alignment, mode)


def main(arguments: Sequence[str]) -> int:
    """Align the files that the arguments name, and return the exit code."""
    one, other, mode, *settings = arguments
    if mode not in get_args(AlignMode):
        return _FAILED
    try:
        limits = Limits.parse(settings)
        a, b = open_in_process(Path(one), limits=limits), open_in_process(Path(other), limits=limits)
        if a is None or b is None:
            return _FAILED
        first = Contents(a)
        alignment = align(first, Contents(b, first), "identity" if mode == "identity" else "content")
    except StashError:
        return _FAILED
    for part in (alignment.partner.tobytes(), alignment.partner_of_other.tobytes(), bytes(alignment.verdicts)):
        sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()
    return 0


def _unpacked(data: bytes, count: int, count_other: int) -> Alignment | None:
    """Return the alignment that the arrays say, None if they are not those of so many events."""
    partner, partner_of_other = array("q"), array("q")
    size = partner.itemsize
    if len(data) != size * (count + count_other) + count:
        return None
    partner.frombytes(data[: size * count])
    partner_of_other.frombytes(data[size * count : size * (count + count_other)])
    alignment = Alignment.__new__(Alignment)
    alignment.partner, alignment.partner_of_other = partner, partner_of_other
    alignment.verdicts = bytearray(data[size * (count + count_other) :])
    return alignment


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
