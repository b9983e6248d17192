"""Replay per event beside what it is made of: ``python tests/bench/bench_replay.py``. A table, no verdict."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable

from stashdbg_core.model import Recording
from stashdbg_core.record.recorder import Recorder
from stashdbg_core.replay import Replayer

CALLS = 4000
ROUNDS = 5


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
    """Return the median microseconds of CPU a call."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return sorted(times)[ROUNDS // 2] / CALLS * 1e6


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


def main() -> None:
    """Print the table."""
    print(f"{'size':>6}  {'what':<44}  us/event")
    for size in (500, 8000):
        clear, masked = recorded(size, redact=False), recorded(size, redact=True)
        inputs: list[object] = [payload(size, number) for number in range(CALLS)]
        texts = [json.dumps(value).encode() for value in inputs]
        rows: dict[str, Callable[[], object]] = {
            "json.loads + json.dumps + sha256, nothing else": lambda texts=texts: [
                hashlib.sha256(json.dumps(json.loads(text)).encode()).digest() for text in texts
            ],
            "replay, order, input not checked": lambda r=clear, i=inputs: replay(r, i, strict=False),
            "replay, order": lambda r=clear, i=inputs: replay(r, i),
            "replay, order, redacted recording": lambda r=masked, i=inputs: replay(r, i),
            "replay, by input": lambda r=clear, i=inputs: replay(r, i, match="input"),
            "replay, by input, redacted recording": lambda r=masked, i=inputs: replay(r, i, match="input"),
        }
        for name, run in rows.items():
            print(f"{size:>6}  {name:<44}  {per_call(run):8.1f}")


if __name__ == "__main__":
    main()
