"""Sealing and verifying beside raw ``hashlib.sha256`` of the same bytes: ``python tests/bench/bench_seal.py [MB]``.

Files of model-like calls, each with an input and a value of its own, and one growing chat whose values share
pieces; there the bytes are those of the whole values. Opening is not counted. Best of three, in processor time.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rows import Row, compared, medians

from stashdbg_core.canonical import stored_form
from stashdbg_core.model import RawObject, RecordedEvent, Recording
from stashdbg_core.seal import parse_seal, seal_recording, verify_recording, write_seal
from stashdbg_core.seal.whole import WholeValues
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import encode_recording, write_recording

WORDS = ["the", "agent", "asked", "for", "a", "result", "that", "said", '"no', 'file"\nand', "é", "→", "{[]}", "plan"]


def best(work: Callable[[], object]) -> float:
    """Return seconds of processor time, the best of three."""
    times = []
    for _ in range(3):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def calls(size: int, each: int) -> Recording:
    """A recording of ``size`` bytes of values, an input and an answer of ``each`` bytes together a call."""
    chance = random.Random(1)
    pool = [" ".join(chance.choices(WORDS, k=each // 8)) for _ in range(40)]
    blobs, events = BlobStore(), []
    for seq in range(size // each):
        messages = [{"role": "user", "content": chance.choice(pool)[: each // 2], "n": seq}]
        answer = {
            "id": f"c{seq}",
            "choices": [{"index": 0, "text": chance.choice(pool)[: each // 2]}],
            "usage": {"n": 1},
        }
        events.append(
            event(
                seq,
                blobs.put_stored(stored_form(answer)),
                blobs.put_stored(stored_form({"messages": messages})),
            )
        )
    return Recording("bench", EventList(events), blobs, RawObject.of({"complete": True}))


def chat(turns: int, each: int) -> Recording:
    """A chat that grows by a message of ``each`` bytes a turn."""
    chance = random.Random(2)
    blobs, events, messages = BlobStore(), [], []
    for seq in range(turns):
        messages.append({"role": "user", "content": " ".join(chance.choices(WORDS, k=each // 5))})
        events.append(event(seq, blobs.put({"text": f"answer {seq}"}), blobs.put({"messages": list(messages)})))
    return Recording("bench", EventList(events), blobs, RawObject.of({"complete": True}))


def event(seq: int, ref: str, input_ref: str) -> RecordedEvent:
    return RecordedEvent(seq, "llm", "chat", seq, "return", ref, input_ref, 1760000000000 + seq, ms=812.5)


def rows(size: int = 100_000_000) -> Iterator[Row]:
    """Yield sealing and verifying large, usual and small calls; opening is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        for each in (50_000, 4_000, 1_000):
            path = write_recording(calls(size, each), Path(folder) / "run.json", overwrite=True)
            yield from _rows_of(path, f"{each / 1000:g} kB a call")


def _rows_of(path: Path, shape: str) -> Iterator[Row]:
    recording = open_recording(path)
    values = WholeValues(recording.blobs)
    whole = b"".join(values.text(ref) for e in recording.events for ref in (e.ref, e.input_ref) if ref)
    seal = seal_recording(recording)
    work: dict[str, Callable[[], object]] = {
        "seal": lambda: seal_recording(open_recording(path)),
        "verify": lambda: verify_recording(open_recording(path), seal),
        "open": lambda: open_recording(path),
        "sha256": lambda: hashlib.sha256(whole).digest(),
    }
    times = medians(work, 3)
    for verb in ("seal", "verify"):
        what = f"{verb} {len(whole) / 1e6:.0f} MB, {shape}"
        yield compared(what, times[verb] - times["open"], "hashlib.sha256 of the values", times["sha256"], "3 ×")


def main() -> None:
    size = int(sys.argv[1]) * 1_000_000 if len(sys.argv) > 1 else 100_000_000
    shapes = [(f"{each / 1000:g} kB a call", calls(size, each)) for each in (50_000, 10_000, 4_000, 1_000)]
    shapes.append(("growing chat", chat(int((size / 1000) ** 0.5 * 2**0.5), 1000)))
    print(
        f"{'recording':16} {'events':>8} {'MB hashed':>10} {'sha256':>9} {'seal':>16} {'verify':>16} {'after jq .':>16}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, made in shapes:
            path = write_recording(made, Path(folder) / "run.json", overwrite=True)
            row(name, path, Path(folder) / "run.seal.json")


def row(name: str, path: Path, seal_file: Path) -> None:
    """Measure one file and print its line."""
    recording = open_recording(path)
    values = WholeValues(recording.blobs)
    texts = [values.text(ref) for e in recording.events for ref in (e.ref, e.input_ref) if ref is not None]
    whole = b"".join(texts)
    raw = best(lambda: hashlib.sha256(whole).digest())
    opened = [open_recording(path) for _ in range(3)]
    sealed = best(lambda: write_seal(seal_recording(opened.pop()), seal_file, overwrite=True))
    seal = parse_seal(seal_file.read_bytes())
    verified = best(lambda: verify_recording(recording, parse_seal(seal_file.read_bytes())))
    assert verify_recording(recording, seal).valid
    line = f"{name:16} {len(recording.events):8,} {len(whole) / 1e6:10.1f} {raw * 1e3:6.0f} ms"
    for seconds in (sealed, verified):
        line += f"{seconds * 1e3:7.0f} ms {seconds / raw:4.1f} x"
    pretty = path.with_name("pretty.json")
    pretty.write_text(json.dumps(json.loads(encode_recording(recording)), indent=2, ensure_ascii=False))
    reformatted = open_recording(pretty)
    seconds = best(lambda: verify_recording(reformatted, seal))
    print(line + f"{seconds * 1e3:7.0f} ms {seconds / raw:4.1f} x")


if __name__ == "__main__":
    main()
