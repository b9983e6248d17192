"""``python tests/bench/soak.py [PART…] [--minutes M] [--events N | --diverse] [--seed S]``: long, outside the suite.

The parts take turns of M minutes each, ten by default; all of them if none is named:

- ``pilot``: random keys at full speed into the screen over a recording of a million events, or over small ones of many
  kinds, without a terminal;
- ``terminal``: the same keys through a pseudo-terminal that is resized all the while;
- ``mutants``: damaged copies of every fixture of every format through show, diff, verify, convert and report;
- ``recorders``: ten recorders at once that want the same file name, five ``stashdbg record``, five the library.

Each prints what it did and, twice a minute, how much memory is resident. A part that fails says with which seed.
"""

from __future__ import annotations

import argparse
import asyncio
import faulthandler
import fcntl
import gc
import io
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from soak_diary import Diary  # noqa: E402
from soak_inputs import CALLS, ODD_BYTES, PROGRAM, keys_of, spelled, write_diverse, write_run  # noqa: E402

from stashdbg_core.errors import StashError  # noqa: E402
from stashdbg_core.store.open import open_recording  # noqa: E402

KEYS_AT_ONCE = 10
"""Keys that the screen gets before it may come to rest."""
RECORDERS = 10
STUCK_SECONDS = 20.0
"""After so long without rest the stacks of all threads are printed."""
AT_REST_SECONDS = 0.012
"""So long a program must wait to count as waiting for keys."""
RECORDED = f"""
import random, sys, time
from stashdbg import Stash
with Stash.record(sys.argv[1]) as stash:
    for number in range({CALLS}):
        stash.intercept("tool", "search", lambda: {{"n": number, "text": "x" * random.randint(1, 3000)}}, input=number)
        time.sleep(random.random() * 0.002)
"""


def pilot(paths: list[Path], minutes: float, seed: int) -> None:
    """Press keys as fast as the screen takes them, and start anew where it was left."""
    from stashdbg_tui.app import StashApp

    keys = keys_of(random.Random(seed))
    last: deque[str] = deque(maxlen=60)
    diary = Diary("pilot", minutes)
    pressed = starts = 0

    async def session() -> bool:
        nonlocal pressed
        app = StashApp(paths[starts % len(paths) :] + paths[: starts % len(paths)])
        async with app.run_test(size=(120, 40)) as driver:
            await driver.pause()
            while diary.goes_on(f"{pressed:,} keys, {starts} starts"):
                faulthandler.dump_traceback_later(STUCK_SECONDS, file=sys.__stderr__)
                sent = time.monotonic()
                for _ in range(KEYS_AT_ONCE):
                    last.append(next(keys))
                    app.simulate_key(last[-1])
                    pressed += 1
                try:
                    await driver.pause(0)
                except Exception:
                    traceback.print_exc()  # or the end of the app would hide it
                    raise
                diary.waited(time.monotonic() - sent, list(last)[-KEYS_AT_ONCE:])
                if app._exit or not app._running:  # an error that ended it is raised when it is left
                    return True
            app.exit()
        return False

    try:
        while True:
            starts += 1
            gc.collect()
            if not asyncio.run(session()):
                break
    except BaseException:
        print(f"pilot: seed {seed}, after {pressed:,} keys, the last: {' '.join(last)}", flush=True)
        raise
    diary.end(f"{pressed:,} keys, {starts} starts")


def crash(tail: bytearray) -> list[str]:
    """Return the frames and the error that a program wrote last."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", tail.decode("utf-8", "replace"))
    frames = re.findall(r"\S+\.py:\d+ in \w+", text)
    return [*frames[-12:], *re.findall(r"^\w+(?:Error|Failed|Matches): .*", text, re.MULTILINE)] or [repr(text[-3000:])]


def read_until_idle(fd: int, pid: int, seen: bytearray) -> float:
    """Read what a program writes until it waits for keys: without this they would pile up within it.

    Returns:
        When it was last seen to do something.

    Raises:
        OSError: It has ended.
    """
    until = time.monotonic() + STUCK_SECONDS
    busy = time.monotonic()
    while time.monotonic() < until:
        if select.select([fd], [], [], 0.003)[0]:
            seen += os.read(fd, 1 << 16)
            busy = time.monotonic()
            continue
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state == "T":  # it was suspended by a key
            os.kill(pid, signal.SIGCONT)
        if state in "RT":
            busy = time.monotonic()
        elif time.monotonic() - busy > AT_REST_SECONDS:
            return busy
    raise TimeoutError(f"it did not come to rest within {STUCK_SECONDS:.0f} s")


def terminal(paths: list[Path], minutes: float, seed: int) -> None:
    """Type into the real program at full speed, resize its window all the while, and read what it writes."""
    chance = random.Random(seed)
    keys = keys_of(chance)
    diary = Diary("terminal", minutes)
    typed = starts = resizes = 0
    pid = fd = -1
    tail = bytearray()
    done = ""
    while diary.goes_on(done):
        if pid < 0:
            pid, fd = pty.fork()
            if not pid:
                os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
                os.execv(sys.executable, [sys.executable, "-m", "stashdbg", *map(str, paths)])
            starts += 1
            diary.follow(pid)
            fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            tail.clear()
        if chance.random() < 0.02 * KEYS_AT_ONCE:
            size = struct.pack(
                "HHHH", chance.choice([1, 2, 5, 24, 60, 90]), chance.choice([60, 80, 80, 120, 200, 250]), 0, 0
            )
            fcntl.ioctl(fd, termios.TIOCSWINSZ, size)
            resizes += 1
        try:
            sent = time.monotonic()
            keys_sent = [
                chance.choice(ODD_BYTES) if chance.random() < 0.01 else next(keys) for _ in range(KEYS_AT_ONCE)
            ]
            for key in keys_sent:
                os.write(fd, (key if key in ODD_BYTES else spelled(key)).encode())
            typed += KEYS_AT_ONCE
            diary.waited(read_until_idle(fd, pid, tail) - sent, keys_sent)
            del tail[:-60_000]
        except TimeoutError as error:
            print(f"terminal: seed {seed}, after {typed:,} keys {error}: {keys_sent}", flush=True)
            os.kill(pid, signal.SIGKILL)
            raise
        except OSError:
            with suppress(OSError):
                while chunk := os.read(fd, 1 << 16):
                    tail += chunk
            _, status = os.waitpid(pid, 0)
            os.close(fd)
            pid = -1
            if (code := os.waitstatus_to_exitcode(status)) != 0:
                print(f"terminal: seed {seed}, after {typed:,} keys it ended with {code}:", *crash(tail), sep="\n")
                raise SystemExit(1) from None
        done = f"{typed:,} keys, {resizes:,} resizes, {starts} starts"
    diary.end(done)
    if pid >= 0:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(fd)


def try_all(data: bytes) -> int:
    """Do with a damaged recording what the commands do; each may refuse it in one line. Returns how many did not."""
    from stashdbg.cli.event_json import recording_chunks
    from stashdbg.cli.listing import print_listing
    from stashdbg_core.diff import diff_recordings
    from stashdbg_core.redact.user_rules import rule_set
    from stashdbg_core.report import describe
    from stashdbg_core.seal import seal_recording, verify_recording
    from stashdbg_core.store.open import read_recording
    from stashdbg_core.store.writer import encode_recording
    from tests.formats.every import MOMENT

    try:
        recording = read_recording(data)
    except StashError as error:
        one_line(error)
        return 0
    verbs: list[Callable[[], object]] = [
        lambda: print_listing(recording),
        lambda: "".join(recording_chunks(recording, recording.events)),
        lambda: diff_recordings(recording, recording),
        lambda: verify_recording(recording, seal_recording(recording)),
        lambda: read_recording(encode_recording(recording).encode("utf-8", "surrogatepass")),
        lambda: describe([recording], rules=rule_set(None, False)).preview(None, MOMENT, None),
    ]
    worked = 0
    for verb in verbs:
        try:
            verb()
            worked += 1
        except StashError as error:
            one_line(error)
    return worked


def one_line(error: StashError) -> None:
    """Make sure that an error is one line."""
    assert "\n" not in error.message, error.message


def mutants(minutes: float, seed: int) -> None:
    """Damage every fixture again and again; native ones are the recordings of the suite's own cases."""
    from tests.core.store_read.test_mutants import mutate, valid_files
    from tests.formats.every import small_files, survive

    native = valid_files() + [path.read_bytes() for path in sorted((ROOT / "tests/data/cases").rglob("*.json"))]
    foreign = small_files()
    diary = Diary("mutants", minutes)
    tried = opened = worked = round_ = 0
    slowest, worst = 0.0, ""
    while diary.goes_on(
        f"{tried:,} files, {opened:,} foreign ones opened, {worked:,} verbs worked, {slowest:.2f} s at most ({worst})"
    ):
        round_ += 1
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            came, took, name = survive(foreign, 2 * len(foreign), seed * 100_000 + round_, every=1)
            opened += came
            chance = random.Random(seed * 100_000 + round_)
            for data in native:
                made = mutate(data, chance)
                started = time.process_time()
                try:
                    worked += try_all(made)
                except BaseException as error:
                    error.add_note(f"seed {seed * 100_000 + round_}: {made[:3000]!r}")
                    raise
                if time.process_time() - started > took:
                    took, name = time.process_time() - started, "a recording"
        tried += 2 * len(foreign) + len(native)
        slowest, worst = max((slowest, worst), (took, name))
    diary.end(f"{tried:,} files, {slowest:.2f} s at most ({worst})")


def recorders(folder: Path, minutes: float) -> None:
    """Let ten processes record at once under one name, one of them killed; every other file must be whole."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    diary = Diary("recorders", minutes)
    rounds = files = torn = 0
    while diary.goes_on(f"{rounds} rounds, {files} files, {torn} of killed recorders"):
        with tempfile.TemporaryDirectory(dir=folder) as name:
            own = Path(name)
            record = [sys.executable, "-m", "stashdbg", "record", "-o", "run.json", "--", sys.executable, str(program)]
            library = [sys.executable, "-c", RECORDED, "run.json"]
            killed = [sys.executable, "-c", RECORDED + "import os; os.kill(os.getpid(), 9)", "run.json"]
            killed[2] = killed[2].replace(
                "time.sleep",
                f"number == {CALLS // 2} and __import__('os').kill(__import__('os').getpid(), 9); time.sleep",
            )
            commands = [*[record] * 5, *[library] * 4, killed]
            running = [
                subprocess.Popen(command, cwd=own, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                for command in commands
            ]
            said = [process.communicate()[1].decode() for process in running]
            codes = [process.returncode for process in running]
            assert codes == [0] * 9 + [-9], (codes, said)
            written = sorted(own.glob("run*.json"))
            journals = sorted(own.glob("*.journal"))
            assert len(written) == RECORDERS - 1, (sorted(own.iterdir()), said)
            assert len(journals) == 1, sorted(own.iterdir())
            assert set(own.iterdir()) == {*written, *journals}, sorted(own.iterdir())
            opened = [open_recording(path) for path in written]
            assert all(one.complete and not one.notes for one in opened)
            assert len({one.id for one in opened}) == len(opened)
            lengths = sorted(len(one.events) for one in opened)
            assert lengths[:4] == [CALLS] * 4, lengths
            assert all(one.blobs.payload(event.ref).state == "ok" for one in opened for event in one.events)
            rest = open_recording(journals[0])
            assert not rest.complete
            assert len(rest.events) == CALLS // 2 + 1
            rounds, files, torn = rounds + 1, files + len(written), torn + 1
    diary.end(f"{rounds} rounds, {files} files, {torn} of killed recorders")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--diverse", action="store_true", help="small recordings of many kinds in place of a large one")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = folder / "home"
        home.mkdir()
        os.environ.update(HOME=str(home), XDG_CACHE_HOME=str(home), XDG_CONFIG_HOME=str(home), XDG_DATA_HOME=str(home),
                          XDG_STATE_HOME=str(home), EDITOR="true", VISUAL="true")  # fmt: skip
        os.environ["PYTHONPATH"] = os.pathsep.join(str(ROOT / part) for part in ("", "core", "tui"))
        os.environ["TMPDIR"] = str(home)
        os.chdir(home)
        names = options.parts or ["pilot", "terminal", "mutants", "recorders"]
        paths: list[Path] = []
        if {"pilot", "terminal"} & set(names):
            paths = write_diverse(home) if options.diverse else [write_run(home / "run.json", options.events)]
            size = sum(path.stat().st_size for path in paths)
            print(f"{len(paths)} recordings, {size / 1e6:.0f} MB, seed {options.seed}", flush=True)
        parts = {
            "pilot": lambda: pilot(paths, options.minutes, options.seed),
            "terminal": lambda: terminal(paths, options.minutes, options.seed),
            "mutants": lambda: mutants(options.minutes, options.seed),
            "recorders": lambda: recorders(folder, options.minutes),
        }
        for part in names:
            parts[part]()


if __name__ == "__main__":
    main()
