"""A pytest test written from a recording: the calls a program would make, and what each is answered with.

It is made by replaying: what is written down is what the replay really served, so the test passes as it is. It stands
in for the program; whoever has the program puts it in its place.
"""

from __future__ import annotations

import asyncio
import builtins
import os
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from pprint import pformat
from types import AsyncGeneratorType, GeneratorType
from typing import Any

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.replay.replayer import Replayer
from stashdbg_core.sanitize import sanitize_line, shorten
from stashdbg_core.store.atomic import safe_file_name
from stashdbg_core.values import decode_value

_MOST_CALLS = 200
_LONGEST_INPUT = 2_000
_LONGEST_VALUE = 400
_MOST_CHUNKS = 20
_MOST_ITEMS = 1_000
"""Items of a value that are looked at to tell whether it can be written down."""
_WIDTH = 100
_IMPORTS = (
    "import asyncio",
    "from itertools import islice",
    "",
    "import pytest",
    "",
    "from stashdbg import StashError",
)
_TAKEN = """async def taken(stream, count):
    chunks = []
    while count is None or len(chunks) < count:
        try:
            chunks.append(await anext(stream))
        except StopAsyncIteration:
            break
    await stream.aclose()
    return chunks


"""
_LITERALS = (str, bytes, int, float, bool, type(None))
_SHOWN = 100


@dataclass(slots=True)
class _Written:
    """The test as far as it is written."""

    lines: list[str] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    calls: int = 0
    statements: int = 0
    diverged: set[tuple[str, str]] = field(default_factory=set)
    """Calls that are not numbered as a program would number them."""
    left_out: bool = False
    """Whether a recorded call is not made."""
    unchecked: bool = False
    """Whether a recorded input is not given."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call as source."""

    before: tuple[str, ...]
    """Lines that come before it."""
    text: str


def pytest_source(recording: Recording, path: str) -> str:
    """Return the source of a test module that replays a recording and passes.

    Args:
        recording: What to replay.
        path: Its file, as the marker of the test names it.
    """
    written = _Written()
    replayer = Replayer(recording, strict=False)
    for event in recording.events:
        if event.parent is not None or (event.channel, event.key) in written.diverged:
            continue
        if written.calls == _MOST_CALLS:
            written.left_out = True
            written.lines.append(
                f"# the calls from seq {event.seq} on are left out; {len(recording.events)} events are recorded"
            )
            break
        _write_call(written, recording, replayer, event)
    if not written.statements:
        written.lines.append("assert stash.consumed() == 0  # nothing was recorded that can be replayed")
    return _module(written, recording, path)


def name_of_test(recording: Recording) -> str:
    """Return the name of the test of a recording: that of its file, as an identifier."""
    stem = recording.path.name.split(".")[0] if recording.path is not None else safe_file_name(recording.id)
    return "test_" + (re.sub(r"\W+", "_", stem, flags=re.ASCII).strip("_").lower()[:60] or "run")


def path_from(recording: Path, test: Path | None) -> str:
    """Return the path of a recording as seen from the folder of a test file, or from the working directory."""
    folder = Path.cwd() if test is None else test.absolute().parent
    return Path(os.path.relpath(recording.absolute(), folder)).as_posix()


def _module(written: _Written, recording: Recording, path: str) -> str:
    options = [_literal(path.replace("{", "{{").replace("}", "}}")) or '""']
    notes = []
    if written.unchecked:
        options.append("strict=False")
        notes.append(
            "strict=False: some inputs are not repeated here, being long or no literals; your program gives them."
        )
    if written.left_out:
        options.append('unused="ignore"')
        notes.append('unused="ignore": not every recorded call is made below.')
    helper = _TAKEN if "import asyncio" in written.imports else ""
    body = "\n".join(f"    {line}" if line else "" for line in written.lines)
    imports = "\n".join(line for line in _IMPORTS if not line or line == "import pytest" or line in written.imports)
    about = "".join(f"\n{note}" for note in ("", *notes)) if notes else ""
    return (
        f'"""Replays {_one_line(path)}; written by `stashdbg export --pytest`.\n\n'
        "The calls below are those of the recorded run. Put your own program, given `stash`, in their place: the test\n"
        f"then fails, with a report, as soon as the program does something else than it did.{about}\n"
        '"""\n\n'
        f"{imports.strip()}\n\n\n"
        "def live():\n"
        '    raise AssertionError("a replay runs nothing for real")\n\n\n'
        f"{helper}@pytest.mark.stash({', '.join(options)})\n"
        f"def {name_of_test(recording)}(stash):\n"
        f"{body}\n"
    )


def _write_call(written: _Written, recording: Recording, replayer: Replayer, event: RecordedEvent) -> None:
    written.calls += 1
    call = _call(written, recording, event)
    try:
        served = replayer.call(event.channel, event.key, _never)
    except StashError as problem:
        _write_refusal(written, call, event, problem)
    except BaseException as error:  # noqa: BLE001 - a recorded error, of whatever class
        _write_error(written, call, error)
    else:
        written.statements += 1
        if type(served) is GeneratorType:
            _write_stream(written, call, _drained(served), "sync")
        elif type(served) is AsyncGeneratorType:
            _write_stream(written, call, asyncio.run(_drained_async(served)), "async")
        else:
            _write_value(written, call, served)


def _write_refusal(written: _Written, call: _Call, event: RecordedEvent, problem: StashError) -> None:
    """Write a call that is refused whenever it is replayed; one that would diverge, and all like it, are left out."""
    if "kind" in problem.details:
        written.left_out = True
        written.diverged.add((event.channel, event.key))
        written.lines.append(f"# seq {event.seq} is left out: {_one_line(str(problem.details['reason']))}")
        return
    written.statements += 1
    written.imports.add("from stashdbg import StashError")
    written.lines += [*call.before, "with pytest.raises(StashError):  # it is not all there", f"    {call.text}"]


def _call(written: _Written, recording: Recording, event: RecordedEvent) -> _Call:
    channel, key = (_literal(name) or ascii(name) for name in (event.channel, event.key))
    head = f"stash.intercept({channel}, {key}, live"
    if event.input_ref is None:
        return _Call((), f"{head})")
    text = _input(recording, event.input_ref)
    if text is None:
        written.unchecked = True
        return _Call((), f"{head})")
    if "\n" in text or len(head) + len(text) > _WIDTH:
        return _Call(_assignment("given", text), f"{head}, input=given)")
    return _Call((), f"{head}, input={text})")


def _input(recording: Recording, ref: str) -> str | None:
    if recording.blobs.payload(ref).state != "ok":
        return None
    try:
        return _literal(decode_value(recording.blobs.tree(ref)), _LONGEST_INPUT)
    except StashError:
        return None


def _write_value(written: _Written, call: _Call, value: Any) -> None:
    text = _literal(value, _LONGEST_VALUE)
    written.lines += call.before
    if text is None:
        kind = type(value)
        named = getattr(builtins, kind.__name__, None) is kind
        written.lines.append(f"assert isinstance({call.text}, {kind.__name__})" if named else call.text)
    elif value is None or value is True or value is False:
        written.lines.append(f"assert {call.text} is {text}")
    elif "\n" in text or len(call.text) + len(text) > _WIDTH:
        written.lines += (*_assignment("expected", text), f"assert {call.text} == expected")
    else:
        written.lines.append(f"assert {call.text} == {text}")


def _assignment(name: str, text: str) -> tuple[str, ...]:
    first, *more = text.split("\n")
    return (f"{name} = {first}", *(" " * (len(name) + 3) + line for line in more))


def _write_error(written: _Written, call: _Call, error: BaseException) -> None:
    written.statements += 1
    name = type(error).__name__
    if getattr(builtins, name, None) is not type(error):
        name = "Exception" if isinstance(error, Exception) else "BaseException"
    text = str(error)
    match = f", match={re.escape(text[:_LONGEST_VALUE])!a}" if text else ""
    written.lines += [*call.before, f"with pytest.raises({name}{match}):", f"    {call.text}"]


@dataclass(slots=True)
class _Chunks:
    """What a stream gave when it was played."""

    given: list[Any]
    error: BaseException | None = None
    more: bool = False
    """Whether asking for another chunk is no longer what was recorded."""


def _write_stream(written: _Written, call: _Call, chunks: _Chunks, kind: str) -> None:
    """Write a loop that takes what was taken: all, or as many chunks as the recorded program asked for."""
    count = len(chunks.given)
    if kind == "async":
        written.imports.add("import asyncio")
        text = f"asyncio.run(taken({call.text}, {count if chunks.more else None}))"
    elif chunks.more:
        written.imports.add("from itertools import islice")
        text = f"list(islice({call.text}, {count}))"
    else:
        text = f"list({call.text})"
    taken = _Call(call.before, text)
    if chunks.error is not None:
        _write_error(written, taken, chunks.error)
    elif count <= _MOST_CHUNKS:
        _write_value(written, taken, chunks.given)
    else:
        written.lines += (*taken.before, f"assert len({taken.text}) == {count}")


def _drained(stream: Iterator[Any]) -> _Chunks:
    chunks = _Chunks([])
    try:
        chunks.given.extend(stream)
    except BaseException as error:  # noqa: BLE001 - a recorded error, of whatever class
        _note_end(chunks, error)
    return chunks


async def _drained_async(stream: AsyncIterator[Any]) -> _Chunks:
    chunks = _Chunks([])
    try:
        async for chunk in stream:
            chunks.given.append(chunk)
    except BaseException as error:  # noqa: BLE001 - a recorded error, of whatever class
        _note_end(chunks, error)
    return chunks


def _note_end(chunks: _Chunks, error: BaseException) -> None:
    chunks.more = isinstance(error, StashError) and error.code in (ErrorCode.DIVERGENCE, ErrorCode.RECORDING_EXHAUSTED)
    chunks.error = None if chunks.more else error


def _literal(value: Any, limit: int = _SHOWN * 10) -> str | None:
    """Return a value as Python source, or None if it has no literal or one that is too long."""
    if not _has_literal(value):
        return None
    text = pformat(value, width=_WIDTH, sort_dicts=False)
    if any(sanitize_line(line) != line for line in text.split("\n")):
        text = ascii(value)
    return text if len(text) <= limit else None


def _has_literal(value: Any) -> bool:
    pending, looked_at = [value], 0
    while pending:
        item = pending.pop()
        looked_at += 1
        if looked_at > _MOST_ITEMS:
            return False
        kind = type(item)
        if kind in (list, tuple):
            pending.extend(islice(item, _MOST_ITEMS))
        elif kind is dict:
            pending.extend(islice(item.keys(), _MOST_ITEMS))
            pending.extend(islice(item.values(), _MOST_ITEMS))
        elif kind not in _LITERALS or item != item or item in (float("inf"), float("-inf")):
            return False
    return True


def _one_line(text: str) -> str:
    return shorten(text, _SHOWN).replace("\\", "/").replace('"""', "'''")


def _never() -> Any:
    raise AssertionError("a replay runs nothing for real")
