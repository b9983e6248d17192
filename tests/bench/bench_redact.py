"""Redaction, beside bare passes over the same bytes: ``python tests/bench/bench_redact.py``.

The prefilter runs on every recorded value; the full pass only on what it suspects.
"""

from __future__ import annotations

import base64
import random
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / "core")]

from stashdbg_core.canonical import stored_form  # noqa: E402
from stashdbg_core.redact import Redactor  # noqa: E402

WORDS = [
    "please",
    "look",
    "at",
    "the",
    "weather",
    "in",
    "Paris",
    "and",
    "tell",
    "me",
    "whether",
    "it",
    "will",
    "rain",
    "tomorrow",
    "before",
    "we",
    "choose",
    "a",
    "file",
    "to",
    "open",
    "and",
    "run",
    "the",
    "tests",
    "again",
    "because",
    "one",
    "of",
    "them",
    "fails",
    "with",
    "a",
    "message",
    "about",
    "the",
    "parser",
    "state",
]


def prose(rng: random.Random, size: int) -> str:
    return " ".join(rng.choices(WORDS, k=size // 5))[:size]


def answer(rng: random.Random, size: int) -> dict[str, object]:
    """A model call's answer: ids, token counts, a tool call, prose."""
    return {
        "id": f"chatcmpl-{rng.getrandbits(120):030x}",
        "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": prose(rng, max(size - 330, 20))}}],
        "tool_calls": [
            {"id": f"call_{rng.getrandbits(96):024x}", "function": {"name": "read", "arguments": '{"n":1}'}}
        ],
        "usage": {"prompt_tokens": 12, "completion_tokens": 33, "total_tokens": 45},
    }


def best(work: Callable[[], object], seconds: float = 0.15) -> float:
    """Return seconds a call, the best of five rounds."""
    work()
    started = time.process_time()
    work()
    rounds = max(1, int(seconds / 5 / max(time.process_time() - started, 1e-7)))
    times = []
    for _ in range(5):
        started = time.process_time()
        for _ in range(rounds):
            work()
        times.append((time.process_time() - started) / rounds)
    return min(times)


def main() -> None:
    rng = random.Random(7)
    redactor = Redactor()
    bare = re.compile(rb"sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16}|eyJ[A-Za-z0-9_-]{14,}")
    values: list[tuple[str, object]] = [
        ("a number", 1700000000.123),
        ("prose 500 B", {"role": "user", "content": prose(rng, 460)}),
        ("answer 500 B", answer(rng, 500)),
        ("answer 8 kB", answer(rng, 8_000)),
        ("answer 1 MB", answer(rng, 1_000_000)),
        (
            "base64 1 MB",
            {"data": base64.b64encode(rng.randbytes(750_000)).decode()},
        ),
        ("one key, 500 B", {**answer(rng, 440), "api_key": "x" * 40}),
        ("one key, 8 kB", {**answer(rng, 8_000), "note": "sk-" + "Ab1" * 12}),
    ]
    print(f"{'value':16} {'bytes':>9} {'suspects':>20} {'four-shape regex':>20} {'redact_tree':>20}  suspected")
    for name, tree in values:
        raw = stored_form(tree)
        line = f"{name:16} {len(raw):9,}"
        for work in (lambda: redactor.suspects(raw), lambda: bare.search(raw), lambda: redactor.redact_tree(tree)):  # noqa: B023
            seconds = best(work)
            line += f" {seconds * 1e6:9.1f} us {len(raw) / seconds / 1e6:5.0f} MB/s"[:21].rjust(21)
        print(line, "", redactor.suspects(raw))


if __name__ == "__main__":
    main()
