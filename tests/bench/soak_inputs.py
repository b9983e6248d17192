"""What a soak works on: recordings, keys as the screen names them, and what a terminal sends for them."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from stashdbg_core.canonical import content_ref, stored_form

ROOT = Path(__file__).parents[2]
CALLS = 50
LEAVING = {"Q", "ctrl+q", "q"}
CLOSING = 0.003
"""How often among the keys is the one that closes the last view, too, and leaves."""
TEXTS = ["answer", "is:error", "12345", "/a[bc]+/", "key:search*", "~/", "[/]", "é→", "$.text", "seq:5000..9000"]
ESCAPES = {"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F",
           "pageup": "\x1b[5~", "pagedown": "\x1b[6~", "delete": "\x1b[3~", "shift+tab": "\x1b[Z", "tab": "\t",
           "enter": "\r", "escape": "\x1b", "space": " ", "shift+up": "\x1b[1;2A", "shift+down": "\x1b[1;2B",
           "f1": "\x1bOP", "f2": "\x1bOQ", "backspace": "\x7f"}  # fmt: skip
ODD_BYTES = ["\x1b[", "\x1b]0;x\x07", "\x1b[<0;10;10M", "\x1b[<64;5;5M", "\x1b[200~pasted\ntext\x1b[201~", "é", "\x00"]
PROGRAM = f"""
import random, time
for number in range({CALLS}):
    time.time(), random.random()
"""


def write_run(path: Path, events: int) -> Path:
    """Write a recording of so many events, a value of its own for every twentieth."""
    refs: list[bytes] = []
    with path.open("wb") as out:
        values = []
        for number in range(max(1, events // 20)):
            raw = stored_form({"role": "user", "content": f"answer {number} " * (1 + number % 40), "n": number})
            refs.append(content_ref(raw).encode())
            values.append(b'"%b":%b' % (refs[-1], raw))
        out.write(b'{"version":1,"id":"soak","events":[\n')
        for seq in range(events):
            outcome = b"throw" if seq % 10_007 == 5000 else b"return"
            out.write(b'{"seq":%d,"channel":"%b","key":"search","ordinal":%d,"outcome":"%b","ref":"%b","at":%d,"ms":9.5}%b'
                      % (seq, (b"llm", b"tool", b"mcp", b"clock")[seq % 4], seq // 4, outcome, refs[seq % len(refs)],
                         1_790_000_000_000 + seq, b",\n" if seq + 1 < events else b"\n"))  # fmt: skip
        out.write(b'],"blobs":{\n' + b",\n".join(values) + b'\n},"meta":{"complete":true}}\n')
    return path


def write_diverse(home: Path) -> list[Path]:
    """Record a program that may be run anew from the screen, fork that, and put odd recordings of the suite beside."""
    program = home / "program.py"
    program.write_text(PROGRAM)
    run, fork = home / "recorded.json", home / "fork.json"
    stashdbg = [sys.executable, "-m", "stashdbg"]
    for command in (
        [*stashdbg, "record", "-o", str(run), "--", sys.executable, str(program)],
        [*stashdbg, "fork", str(run), "--at", "3", "--set", "0.5", "-o", str(fork)],
    ):
        subprocess.run(command, check=True, capture_output=True)
    odd = sorted((ROOT / "tests/data/cases").rglob("*.json"))
    return [run, fork, *(Path(shutil.copy(path, home)) for path in odd)]


def keys_of(chance: random.Random) -> Iterator[str]:
    """Yield keys without end: those of all commands but leaving, and now and then a text where one is asked for."""
    from stashdbg_tui.commands import COMMANDS

    known = sorted({key for entry in COMMANDS for key in (*entry.keys, *entry.fixed)} - LEAVING)
    while True:
        yield chance.choice(known) if chance.random() > CLOSING else "q"
        dice = chance.random()
        if dice < 0.03:
            yield chance.choice(["slash", "colon", "f", "semicolon"])
            yield from chance.choice(TEXTS)
            yield chance.choice(["enter", "enter", "escape"])
        elif dice < 0.10:
            yield "escape"  # out of what is open, so that most keys reach the main screen
            yield "escape"


def spelled(key: str) -> str:
    """Return what a terminal sends for a key."""
    from textual.keys import REPLACED_KEYS, _get_unicode_name_from_key

    if key in ESCAPES:
        return ESCAPES[key]
    if key.startswith("ctrl+"):
        return chr(ord(key[-1]) & 31)
    if len(key) == 1:
        return key
    import unicodedata

    return unicodedata.lookup(_get_unicode_name_from_key(REPLACED_KEYS.get(key, key)).replace("_", " ").upper())
