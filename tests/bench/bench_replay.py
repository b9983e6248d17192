"""Replay per event beside what it is made of: ``python tests/bench/bench_replay.py``. A table, no verdict.

CPU time of the process, medians of rounds that take turns, in microseconds an event; trust the ratios.
"""

from __future__ import annotations

import gc
import hashlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / "core")]

from rows import Row, compared, medians  # noqa: E402

from stashdbg_core.model import Recording  # noqa: E402
from stashdbg_core.record.recorder import Recorder  # noqa: E402
from stashdbg_core.replay import Replayer  # noqa: E402
from stashdbg_core.store.open import open_recording  # noqa: E402
from stashdbg_core.store.writer import write_recording  # noqa: E402

CALLS = 2000
ROUNDS = 5
SIZES = (500, 8_000)
REFERENCE = "json.loads + json.dumps + sha256, no more"


def payload(size: int, number: int) -> dict[str, object]:
    """Return a dict of about ``size`` bytes as JSON with some fifteen leaves."""
    text = "the quick brown fox jumps over the lazy dog " * (size // 44 + 1)
    leaf = max((size - 200) // 8, 4)
    return {
        "id": f"msg_{number:08d}",
        "model": "demo-1",
        "usage": {"input_tokens": number, "output_tokens": 7, "cached": False},
        "temperature": 0.7,
        "stop": None,
        "content": [{"type": "text", "text": text[at : at + leaf]} for at in range(8)],
    }


def recorded(size: int, *, redact: bool) -> Recording:
    """Record ``CALLS`` calls with input and value of ``size`` bytes."""
    options = {} if redact else {"redact": None}
    recorder = Recorder(**options)
    for number in range(CALLS):
        recorder.call("llm", "chat", lambda n=number: payload(size, -n), input=payload(size, number))
    return recorder.recording()


def per_call(run: Callable[[], object]) -> float:
    """Return the microseconds of CPU a call."""
    start = time.process_time()
    run()
    return (time.process_time() - start) / CALLS * 1e6


def replay(recording: Recording, inputs: list[object] | None, **options: object) -> None:
    """Replay all calls, the index of the recording built anew."""
    replayer = Replayer(recording, **options)  # type: ignore[arg-type]
    for number in range(CALLS):
        if inputs is None:
            replayer.call("llm", "chat", int)
        else:
            replayer.call("llm", "chat", int, input=inputs[number])
    if inputs is not None and not replayer.report().ok:
        raise SystemExit(str(replayer.report()))


def measured(size: int, folder: Path) -> dict[str, Callable[[], object]]:
    """Return what is measured for inputs and values of one size."""
    clear, masked = recorded(size, redact=False), recorded(size, redact=True)
    file = write_recording(masked, folder / f"{size}.json")
    inputs: list[object] = [payload(size, number) for number in range(CALLS)]
    texts = [json.dumps(value).encode() for value in inputs]
    return {
        REFERENCE: lambda: [hashlib.sha256(json.dumps(json.loads(text)).encode()).digest() for text in texts],
        "order, inputs not compared": lambda: replay(clear, inputs, strict=False),
        "order": lambda: replay(clear, inputs),
        "order, redacted recording": lambda: replay(masked, inputs),
        "by input": lambda: replay(clear, inputs, match="input"),
        "by input, redacted recording": lambda: replay(masked, inputs, match="input"),
        "order, redacted, from a file": lambda: replay(open_recording(file), inputs),
        "by input, redacted, from a file": lambda: replay(open_recording(file), inputs, match="input"),
        "opening the file alone": lambda: open_recording(file),
    }


def rows() -> Iterator[Row]:
    """Yield what replaying 500 B costs, in order and by input, from memory and from a file."""
    with tempfile.TemporaryDirectory() as name:
        work = measured(500, Path(name))
        gc.collect()
        times = medians({label: run for label, run in work.items() if label == REFERENCE or label in _ROWS}, ROUNDS)
    for label in _ROWS:
        seconds, reference = times[label] / CALLS, times[REFERENCE] / CALLS
        yield compared(f"replay an event of 500 B: {label}", seconds, REFERENCE, reference, "15 µs")


_ROWS = ("order", "by input", "order, redacted, from a file")


def main() -> None:
    """Print the table."""
    table: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        for size in SIZES:
            work = measured(size, Path(name))
            gc.collect()
            gc.freeze()  # what lies here for the bench's sake costs the measured nothing
            runs: dict[str, list[float]] = {}
            for _ in range(ROUNDS):
                for label, run in work.items():
                    runs.setdefault(label, []).append(per_call(run))
            for label, times in runs.items():
                table.setdefault(label, []).append(statistics.median(times))
    print(f"{'µs of CPU an event, median':42}" + "".join(f"{size:>12,} B{'ratio':>8}" for size in SIZES))
    for label, each in table.items():
        cells = zip(each, table[REFERENCE], strict=True)
        print(f"{label:42}" + "".join(f"{median:14.1f}{median / bare:7.1f}x" for median, bare in cells))


if __name__ == "__main__":
    main()
