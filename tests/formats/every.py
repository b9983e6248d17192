"""What tests of all formats at once share: everything done with a recording, and damage done to files."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from stashdbg.cli.event_json import recording_chunks
from stashdbg.cli.event_text import print_event
from stashdbg.cli.listing import print_listing
from stashdbg_core.diff import diff_recordings
from stashdbg_core.errors import StashError
from stashdbg_core.formats.explain import explain
from stashdbg_core.formats.opening import detect, read_foreign
from stashdbg_core.formats.otlp_export import otlp_chunks
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.model import Recording
from stashdbg_core.redact.scan import scan_recording
from stashdbg_core.redact.user_rules import rule_set
from stashdbg_core.report import describe
from stashdbg_core.seal import seal_recording, verify_recording
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.session.masked_copy import masked_copy
from stashdbg_core.session.notebook import Notebook
from stashdbg_core.session.notebook_markdown import notebook_markdown
from stashdbg_core.session.run_stats import run_stats_steps
from stashdbg_core.session.tasks import Task
from stashdbg_core.store.open import read_recording
from stashdbg_core.store.stats import recording_stats
from stashdbg_core.store.writer import encode_recording

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
DATA = Path(__file__).parent.parent / "data" / "formats"
_LARGEST = 41_000
"""Bytes of a file that is worth damaging again and again."""


def use(recording: Recording) -> None:
    """Do with a recording what the commands do; asserts what holds for every one."""
    events = list(recording.events)
    assert [event.seq for event in events] == list(range(len(events)))
    assert all(event.parent is None or 0 <= event.parent < event.seq for event in events)
    print_listing(recording)
    for event in events[:3]:
        print_event(recording, event)
    assert "".join(recording_chunks(recording, events)).isascii()
    recording_stats(recording).to_json()
    Task(run_stats_steps(recording)).run().usage.to_json()
    assert diff_recordings(recording, recording).same
    masked = masked_copy(recording, rule_set(None, False))
    assert masked.left == []
    assert list(scan_recording(recording, rule_set(None, False).redactor())) == []
    describe([recording], rules=rule_set(None, False)).preview(None, MOMENT, None)
    again = read_recording(encode_recording(recording, flat=True).encode("utf-8", "surrogatepass"))
    assert diff_recordings(recording, again).same
    assert verify_recording(again, seal_recording(again)).valid
    notebook_markdown(recording, Notebook.of(recording))
    b"".join(otlp_chunks(recording))
    explain(recording).to_json()
    for event in events:
        if event.channel == "llm":
            conversation_of(recording, event)


def small_files() -> list[Path]:
    """Return the project's own small files in foreign formats."""
    files = [path for path in sorted(DATA.rglob("*")) if path.is_file() and path.stat().st_size <= _LARGEST]
    return [path for path in files if detect(ForeignSource(path)) is not None]


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return a copy with one to four pieces cut off, flipped, doubled or taken out, by the byte or by the line."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        kind = chance.randrange(8)
        place = chance.randrange(len(out) + 1)
        length = chance.choice([1, 1, 2, 8, 40, 300])
        if kind == 0:
            del out[place:]
        elif kind == 1 and out:
            out[place % len(out)] ^= 1 << chance.randrange(8)
        elif kind == 2:
            out[place:place] = out[place : place + length]
        elif kind == 3:
            del out[place : place + length]
        elif kind == 4:
            out = _shuffled(out, chance)
        else:
            _swap_value(out, place, chance)
    return bytes(out)


_VALUES = (b"null", b"[]", b"{}", b"7", b'"x"', b"true", b"-1e999", b'[{"type":[]}]', b'{"a":{"b":1}}', b"1e300", b'""')


def _swap_value(out: bytearray, place: int, chance: random.Random) -> None:
    """Put another value in the place of one that follows a colon: what damage seldom makes, and other writers do."""
    start = out.find(b":", place) + 1
    if not start:
        return
    while out[start : start + 1] in (b" ", b"\n"):
        start += 1
    end = start
    if out[start : start + 1] == b'"':
        end = out.find(b'"', start + 1) + 1
    elif out[start : start + 1] in (b"{", b"["):
        end = _closing(out, start)
    else:
        while end < len(out) and out[end] not in b",}]\n":
            end += 1
    if end > start:
        out[start:end] = chance.choice(_VALUES)


def _closing(out: bytearray, start: int) -> int:
    depth = 0
    for place in range(start, min(len(out), start + 4000)):
        depth += (out[place] in b"{[") - (out[place] in b"}]")
        if not depth:
            return place + 1
    return start


def _shuffled(out: bytearray, chance: random.Random) -> bytearray:
    """Take out a line, double one, or swap two."""
    lines = out.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    kind = chance.randrange(3)
    if kind == 0:
        del lines[one]
    elif kind == 1:
        lines.insert(other, lines[one])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return bytearray(b"\n".join(lines))


def look(data: bytes, name: str, *, whole: bool) -> bool:
    """Open a damaged file and, if it opens, use it; tell whether it did."""
    try:
        source = ForeignSource(data, name=name)
        known = detect(source)
        if known is None:
            return False
        run = min(1, len(known.runs(source)) - 1)
        recording = read_foreign(source, run=max(0, run))
    except StashError as error:
        check_refusal(error)
        return False
    if whole:
        use(recording)
    else:
        for event in recording.events:
            recording.blobs.tree(event.ref)
            if event.input_ref is not None:
                recording.blobs.tree(event.input_ref)
    return True


def check_refusal(error: StashError) -> None:
    """Assert that a refusal is one line that people can read."""
    assert "\n" not in error.message
    assert 0 < len(error.message) < 600


def survive(files: Sequence[Path], count: int, seed: int, *, every: int = 20) -> tuple[int, float, str]:
    """Look at damaged files, each ``every``-th that opens with every command.

    Returns:
        How many opened, the processor seconds of the slowest, and which file that came of.
    """
    chance = random.Random(seed)
    held = [(path.name, path.read_bytes()) for path in files]
    opened, slowest, worst = 0, 0.0, ""
    for number in range(count):
        name, data = held[number % len(held)]
        made = damaged(data, chance)
        started = time.process_time()
        try:
            opened += look(made, name, whole=number % every == 0)
        except BaseException as error:
            error.add_note(f"{name}, seed {seed}, number {number}: {made[:3000]!r}")
            raise
        took = time.process_time() - started
        if took > slowest:
            slowest, worst = took, name
    return opened, slowest, worst
