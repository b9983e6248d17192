"""``python -m stashdbg_core.formats.convert_process FILE RUN OUT [LIMIT=N …]``: one run made a recording in OUT.

Standard output has a line for each step, as ``process_lines`` says. Ends with 0 when OUT is there.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from select import select
from time import monotonic, time

from stashdbg_core.errors import StashError, invalid_recording, not_found
from stashdbg_core.formats.converted import cache_folder, conversion_key, open_converted
from stashdbg_core.formats.opening import detect, read_into
from stashdbg_core.formats.process_lines import Progress, command, failure_in, say, say_failure
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import Cancelled, ForeignSource
from stashdbg_core.model import Recording
from stashdbg_core.record.ledger import JournalLedger
from stashdbg_core.store.index_cache import BIG, cache_path, prepare_folder, save_index
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.open import index_source
from stashdbg_core.store.source import FileSource

KEPT = 16
"""Recordings kept at most."""
KEPT_BYTES = 6_000_000_000
_SECONDS = 0.1
_STALE_SECONDS = 3600
"""After so long a half-made recording belongs to nobody."""
_FAILED = 65


def convert_in_process(
    source: FileSource,
    run: int,
    limits: Limits,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Recording:
    """Return a run of a large file, converted by another process unless that was done before.

    Blocks the calling thread, not the interpreter.

    Raises:
        StashError: As ``formats.conversion.read_known``.
        Cancelled: It was cancelled.
    """
    known = open_converted(source, run, limits)
    if known is not None:
        return known
    file = cache_folder() / f"{conversion_key(source, run)}.json"
    prepare_folder(file)
    make_room(file.parent)
    process = subprocess.Popen(
        command(__name__, source.path, run, file, limits),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        _listen(process, source.size, progress, cancelled or (lambda: False))
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
        _remove(_work_file(file, process.pid))
    recording = open_converted(source, run, limits)
    if recording is None:
        raise invalid_recording(
            f"{source.name} could not be read by the process that converts it", hint="it may have been changed"
        )
    return recording


def main(arguments: Sequence[str]) -> int:
    """Convert the run that the arguments name, and return the exit code."""
    path, run, out, *settings = arguments
    try:
        limits = Limits.parse(settings)
        _convert(Path(path), int(run), Path(out), limits)
        gc.collect()  # readers, lanes and conversations hold one another
        _index(Path(out), limits)
    except (StashError, OSError) as error:
        say_failure(error)
        return _FAILED
    return 0


def make_room(folder: Path) -> None:
    """Drop what was not looked at for longest, until count and size are within bounds; half-made ones when stale."""
    try:
        found = sorted(
            ((file, file.stat()) for file in folder.iterdir()),
            key=lambda entry: max(entry[1].st_atime, entry[1].st_mtime),
            reverse=True,
        )
    except OSError:
        return
    total = kept = 0
    for file, facts in found:
        half_made = file.name.endswith(".journal") or "-" in file.name
        if half_made and time() - facts.st_mtime < _STALE_SECONDS:
            continue
        total, kept = total + facts.st_size, kept + 1
        if half_made or kept > KEPT or total > KEPT_BYTES:
            _remove(file)


def _convert(path: Path, run: int, out: Path, limits: Limits) -> None:
    last = [0.0]

    def progress(done: int) -> None:
        now = monotonic()
        if now - last[0] >= _SECONDS:
            last[0] = now
            say(str(done))

    source = ForeignSource(path, limits=limits, progress=progress)
    known = detect(source)
    if known is None:
        raise not_found(f"{source.name} is in no format that stashdbg knows")
    work = _work_file(out, os.getpid())
    ledgers: list[JournalLedger] = []

    def open_ledger(recording_id: str) -> JournalLedger:
        ledgers.append(JournalLedger(work, recording_id, {"complete": False}, force=True))
        return ledgers[-1]

    sink = RunSink(known.name, source, run, open_ledger=open_ledger)
    read_into(known, source, run, sink)
    sink.end()
    sink.ledger.finish(sink.meta_tree, ())
    os.replace(work, out)


def _index(out: Path, limits: Limits) -> None:
    """Keep the index of a large recording; what its making held is free by now."""
    made = FileSource(out)
    if made.size >= BIG:
        index = cache_path(made)
        prepare_folder(index)
        save_index(index_source(made, limits), made, index)


def _listen(
    process: subprocess.Popen[bytes], size: int, progress: Progress | None, cancelled: Callable[[], bool]
) -> None:
    """Follow what the process says until it ends."""
    assert process.stdout is not None
    held = b""
    while True:
        if cancelled():
            raise Cancelled
        if not select([process.stdout], [], [], _SECONDS)[0]:
            continue
        part = os.read(process.stdout.fileno(), 1 << 16)
        if not part:
            return
        *lines, held = (held + part).split(b"\n")
        for line in lines:
            failure = failure_in(line)
            if failure is not None:
                raise failure
            if progress is not None and line.isdigit():
                progress(int(line), size)


def _work_file(out: Path, process: int) -> Path:
    return out.with_name(f"{out.stem}-{process}.json")


def _remove(file: Path) -> None:
    for half in (file, file.with_name(f"{file.name}.journal")):
        try:
            half.unlink(missing_ok=True)
        except OSError:
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
