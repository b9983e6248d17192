"""Scan, redact and report, beside a bare regex pass over the same bytes: ``python tests/bench/bench_report.py``.

The recording is made here: model calls of 5 kB of prose, a secret in every thousandth.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from stashdbg import Stash, open_recording
from stashdbg_core.redact import Redactor
from stashdbg_core.redact.recording import redact_recording
from stashdbg_core.redact.scan import scan_recording
from stashdbg_core.report import Fields, Person, describe, open_bundle

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BARE = re.compile(
    rb"(?i)sk-[a-z0-9-]{20,}|AKIA[0-9A-Z]{16}|ghp_[a-z0-9]{30,}|eyJ[a-z0-9_-]{20,}\.|password|api_?key|authorization"
)


def make(path: Path, calls: int) -> None:
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(2000)]
    with Stash.record(path, redact=None) as stash:
        for number in range(calls):
            text = " ".join(rng.choices(words, k=750))
            if number % 1000 == 500:
                text += " sk-" + "ant-api03-" + "Xy7" * 12
            stash.intercept("llm", "model", lambda: {"content": text}, input={"n": number, "q": text[:200]})  # noqa: B023


def timed(work: Callable[[], object]) -> tuple[float, object]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def main(calls: int = 10_000) -> None:
    """Print a table: seconds, MB/s, ratio to the bare pass."""
    with tempfile.TemporaryDirectory() as folder:
        path, archive = Path(folder) / "run.json", Path(folder) / "bug.zip"
        make(path, calls)
        data = path.read_bytes()
        recording = open_recording(path)
        rows: list[tuple[str, float]] = [("bare regex pass", timed(lambda: sum(1 for _ in BARE.finditer(data)))[0])]
        rows.append(("scan", timed(lambda: list(scan_recording(recording)))[0]))
        rows.append(("redact", timed(lambda: redact_recording(recording, Redactor()))[0]))
        seconds, offer = timed(lambda: describe([recording], person=Person(("/home/jane",), ("jane",))))
        rows.append(("report: describe", seconds))
        seconds, bundle = timed(lambda: offer.export(None, Fields("t"), NOW))  # type: ignore[attr-defined]
        rows.append(("report: export", seconds))
        rows.append(("report: another choice", timed(lambda: offer.preview(["conv-1"], NOW))[0]))  # type: ignore[attr-defined]
        archive.write_bytes(bundle.zip())  # type: ignore[attr-defined]
        rows.append(("open the bundle", timed(lambda: open_bundle(archive))[0]))
        print(f"{len(data) / 1e6:.0f} MB, {calls:,} events\n")
        for name, seconds in rows:
            print(f"{name:<24}{seconds:8.2f} s {len(data) / 1e6 / seconds:8.0f} MB/s {seconds / rows[0][1]:7.2f} x")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
