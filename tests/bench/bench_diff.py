"""``python tests/bench/bench_diff.py [--quick]``: a run and a copy of it with 1 % edits, beside other tools.

Files are generated into a temporary folder: 0.75 % of the events changed, 0.12 % deleted, 0.12 % inserted. Opening both
files counts. Seconds of wall clock, one run each; ``found`` is how many differences are reported.
"""

from __future__ import annotations

import importlib.util
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
from rows import Row, children_time, compared, medians

from stashdbg_core.canonical import content_ref, stored_form
from stashdbg_core.diff import diff_recordings
from stashdbg_core.diff.structure import differences
from stashdbg_core.diff.text import word_spans
from stashdbg_core.store.open import open_recording

WORDS = ["the", "agent", "asked", "for", "a", "result", "that", "said", '"no', 'file"\nand', "é", "→", "{[]}", "plan"]
CALLS = [("llm", "chat"), ("llm", "plan"), ("tool", "search"), ("tool", "read_file"), ("clock", "now")]

Call = tuple[tuple[str, str], bytes, bytes]


def calls(count: int, characters: int) -> list[Call]:
    """Return calls with distinct inputs and values of about ``characters`` characters each."""
    chance = random.Random(1)
    pool = " ".join(chance.choice(WORDS) for _ in range(characters))
    made = []
    for number in range(count):
        start, end = chance.randint(0, characters // 2), chance.randint(characters // 2, characters)
        asked = stored_form({"role": "user", "content": pool[start:end], "n": number})
        made.append((chance.choice(CALLS), asked, stored_form({"text": pool[start // 2 : end], "n": number})))
    return made


def edited(made: list[Call]) -> list[Call]:
    chance = random.Random(2)
    out: list[Call] = []
    for call in made:
        dice = chance.random()
        if dice < 0.0012:
            continue
        if dice < 0.0024:
            out.append((call[0], b'{"inserted":%d}' % len(out), b'"new"'))
        if 0.0024 <= dice < 0.0099:
            out.append((call[0], call[1], call[2].replace(b"agent", b"robot", 1)))
        else:
            out.append(call)
    return out


def write(path: Path, made: list[Call], start: float) -> None:
    events, blobs, counts = [], {}, {}
    for seq, ((channel, key), asked, value) in enumerate(made):
        refs = content_ref(asked), content_ref(value)
        blobs[refs[0]], blobs[refs[1]] = asked, value
        ordinal = counts[channel, key] = counts.get((channel, key), -1) + 1
        event = {"seq": seq, "channel": channel, "key": key, "ordinal": ordinal, "outcome": "return"}
        events.append(stored_form(event | {"ref": refs[1], "inputRef": refs[0], "at": start + seq, "ms": 12.5}))
    values = b",\n".join(b'"%b":%b' % (ref.encode(), raw) for ref, raw in blobs.items())
    body = b'{"version":1,"id":"bench","events":[\n' + b",\n".join(events)
    path.write_bytes(body + b'\n],"blobs":{\n' + values + b'\n},"meta":{}}\n')


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    found = action()
    return time.perf_counter() - started, found


def ours(a: Path, b: Path) -> int:
    result = diff_recordings(open_recording(a), open_recording(b))
    return sum(len(result.changes(row)) or 1 for row in result.differing)


def git_lines(a: Path, b: Path) -> int | None:
    command = ["git", "-c", "core.bigFileThreshold=8g", "diff", "--no-index", "--numstat", str(a), str(b)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return int(done.stdout.split()[0]) if done.stdout else None


def pretty(path: Path) -> Path:
    written = path.with_suffix(".pretty.json")
    written.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()), option=orjson.OPT_INDENT_2))
    return written


def deep(a: Path, b: Path) -> int:
    from deepdiff import DeepDiff

    return sum(len(found) for found in DeepDiff(orjson.loads(a.read_bytes()), orjson.loads(b.read_bytes())).values())


def rewind_trace(path: Path, made: list[Call]) -> Path:
    """Record the same calls with agent-rewind."""
    import rewind  # type: ignore[import-not-found]

    answers: dict[int, Any] = {}
    tools = {name: rewind.tool(name="/".join(name))(lambda number, asked: answers[number]) for name in CALLS}
    with rewind.record(str(path)):
        for number, (name, asked, value) in enumerate(made):
            answers[number] = orjson.loads(value)
            tools[name](number, orjson.loads(asked))
    return path


def rewind_changes(a: Path, b: Path) -> int:
    from rewind.diff import diff_traces  # type: ignore[import-not-found]

    return sum(entry.op != "equal" for entry in diff_traces(a, b).entries)


def rows(count: int = 10_000, characters: int = 4000) -> Iterator[Row]:
    """Yield the comparison of two runs with 1 % edits, opening included."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = calls(count, characters)
        a, b = folder / "a.json", folder / "b.json"
        write(a, made, 1.75e12)
        write(b, edited(made), 1.76e12)
        plain_a, plain_b = pretty(a), pretty(b)
        found = ours(a, b)
        times = medians({"ours": lambda: ours(a, b)}, 3)["ours"]
        loads = medians({"loads": lambda: [orjson.loads(path.read_bytes()) for path in (a, b)]}, 3)["loads"]
        what = f"diff of 2 x {count:,} events, 2 x {a.stat().st_size / 1e6:.0f} MB: {found} differences"
        yield compared(what, times, "orjson.loads of both", loads, "0.5 s")
        if shutil.which("git"):
            lines = git_lines(plain_a, plain_b)
            git = medians({"git": lambda: git_lines(plain_a, plain_b)}, 3, children_time)["git"]
            yield compared(what, times, f"git diff of pretty-printed files ({lines:,} lines)", git, "")


def runs(folder: Path, count: int, characters: int, *, slow: bool) -> None:
    made = calls(count, characters)
    a, b = folder / "a.json", folder / "b.json"
    write(a, made, 1.75e12)
    write(b, edited(made), 1.76e12)
    tools: list[tuple[str, Callable[[], Any]]] = [
        ("orjson.loads of both", lambda: orjson.loads(a.read_bytes()) and orjson.loads(b.read_bytes()) and None),
        ("stashdbg", lambda: ours(a, b)),
    ]
    if shutil.which("git"):
        plain_a, plain_b = pretty(a), pretty(b)
        tools.append(("git diff, pretty files", lambda: git_lines(plain_a, plain_b)))
    if slow and importlib.util.find_spec("rewind"):
        others = rewind_trace(folder / "a.rewind", made), rewind_trace(folder / "b.rewind", edited(made))
        tools.append(("agent-rewind, own files", lambda: rewind_changes(*others)))
    if slow:
        tools.append(("deepdiff, whole files", lambda: deep(a, b)))
    for name, action in tools:
        seconds, found = timed(action)
        sizes = f"2 x {count:,} events, 2 x {a.stat().st_size / 1e6:.0f} MB"
        print(f"{sizes:<34} {name:<24} {seconds:>8.2f} s {'' if found is None else f'{found:>9,}'}", flush=True)


def payloads() -> None:
    rows = [{"i": number, "t": f"text {number}"} for number in range(20_000)]
    numbers = list(range(100_000))
    nested: Any = 0
    other: Any = 1
    for _ in range(10_000):
        nested, other = [nested], [other]
    line = "word " * 1_000_000
    pairs: list[tuple[str, Callable[[], int]]] = [
        ("20,000 rows, every text changed",
         lambda: sum(1 for _ in differences(rows, [{**row, "t": row["t"] + "!"} for row in rows]))),
        ("100,000 numbers shifted by one",
         lambda: sum(1 for _ in differences(numbers, [number + 1 for number in numbers]))),
        ("100,000 of two numbers, 1 % edits", lambda: sum(1 for _ in differences(*few_numbers(100_000)))),
        ("3,000 rows reversed", lambda: sum(1 for _ in differences(rows[:3000], rows[:3000][::-1]))),
        ("10,000 lists deep", lambda: sum(1 for _ in differences(nested, other))),
        ("5 MB on one line, two words",
         lambda: len(word_spans(line, "other" + line[4:3_000_000] + "x" + line[3_000_001:]))),
    ]  # fmt: skip
    for name, action in pairs:
        seconds, found = timed(action)
        print(f"{name:<34} {'stashdbg':<24} {seconds:>8.2f} s {found:>9,}", flush=True)


def few_numbers(count: int) -> tuple[list[int], list[int]]:
    chance = random.Random(3)
    one = [chance.randint(0, 1) for _ in range(count)]
    other = list(one)
    for _ in range(count // 100):
        place = chance.randrange(len(other))
        other[place : place + chance.randint(0, 1)] = [chance.randint(0, 1)]
    return one, other


def main() -> None:
    payloads()
    with tempfile.TemporaryDirectory() as folder:
        for count, characters, slow in ((10_000, 4000, True), (100_000, 2000, False)):
            runs(Path(folder), count, characters, slow=slow)
            if "--quick" in sys.argv:
                break


if __name__ == "__main__":
    main()
