"""``os.system``: a recorded command whose output passes here, though C's own ``system`` lets nobody in between."""

from __future__ import annotations

import os
import sys

from . import calls, lanes, real
from .command_lines import argv_of, environment_for, name_of
from .passed_output import NAMES, PassedOutput, Written, destinations, passing
from .trees import bytes_of, text_or_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_signal: Any = __import__("_signal")  # ``signal`` itself loads more than most programs need
_IGNORED = ("SIGINT", "SIGQUIT")
"""What C's ``system`` ignores while it waits."""


def system(original: Any, command: Any) -> int:
    """Do as ``os.system``, the ``original``, and record it, or serve what was recorded."""
    if calls.inside() or sys.platform == "win32":
        return original(command)  # type: ignore[no-any-return]
    argv = argv_of(command, True)
    answer = calls.begin_call("tool", name_of(argv), calls.plain({"argv": argv, "cwd": None, "stdin": None}))
    if not answer.run:
        return _served(answer)
    written: dict[int, bytearray] = {}
    passed = passing(name_of(argv), {}, lambda fd, data: written.setdefault(fd, bytearray()).extend(data))
    try:
        with calls.running(answer):
            status = _as_it_is(original, command, answer) if passed is None else _watched(argv, answer, passed)
    except BaseException as error:
        calls.end(answer, "throw", calls.error_tree(error))
        raise
    streams = {name: text_or_bytes(written[fd]) if fd in written else None for fd, name in NAMES.items()}
    calls.end(answer, "return", {"returncode": _code(status), **streams})
    return status


def _served(answer: calls.Answer) -> int:
    if answer.outcome == "throw":
        raise calls.rebuild_error(answer.value)
    recorded = answer.value if isinstance(answer.value, dict) else {}
    streams = {fd: bytes_of(recorded[name]) for fd, name in NAMES.items() if recorded.get(name) is not None}
    Written(destinations({}), streams).write()
    code = recorded.get("returncode") or 0
    return code << 8 if code >= 0 else -code


def _as_it_is(system: Any, command: Any, answer: calls.Answer) -> int:
    os.putenv("STASHDBG_PARENT", str(answer.seq))
    try:
        return system(command)  # type: ignore[no-any-return]
    finally:
        os.unsetenv("STASHDBG_PARENT")


def _watched(argv: list[str], answer: calls.Answer, passed: PassedOutput) -> int:
    """Do as C's ``system``, with pipes for the command's output."""
    sys.audit("os.system", os.fsencode(argv[-1]))
    before = _masked_signals()
    pid, raised = -1, None
    try:
        actions = [(os.POSIX_SPAWN_DUP2, given, fd) for fd, name in NAMES.items() for given in _given(passed, name)]
        default = [number for number, handler in before[0].items() if handler != _signal.SIG_IGN]
        environment = environment_for(None, answer.seq, lanes.current().child(name_of(argv)).name)
        with lanes.named_process(None):
            pid = os.posix_spawn(
                argv[0], ["sh", *argv[1:]], environment, file_actions=actions, setsigdef=default, setsigmask=before[1]
            )
        passed.start(lambda: None)
        while True:
            try:
                _, status = real.waitpid(pid, 0)
                break
            except ChildProcessError:  # the program waits for all processes itself
                status = -1
                break
            except BaseException as error:  # noqa: BLE001 - a signal's handler, which C's system would keep waiting
                raised = error
        passed.settle()
    finally:
        if pid < 0:
            passed.abandon()
        _unmask(before)
    if raised is not None:
        raise raised
    return status


def _given(passed: PassedOutput, name: str) -> list[int]:
    return [passed.given[name]] if name in passed.given else []


def _masked_signals() -> tuple[dict[int, Any], Any]:
    """Ignore what C's ``system`` ignores, as far as this thread may, and return what was."""
    handlers: dict[int, Any] = {}
    mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGCHLD])
    for name in _IGNORED:
        try:
            number = getattr(_signal, name)
            handlers[number] = _signal.signal(number, _signal.SIG_IGN)
        except ValueError:  # not the main thread
            break
    return handlers, mask


def _unmask(before: tuple[dict[int, Any], Any]) -> None:
    for number, handler in before[0].items():
        if handler is not None:
            _signal.signal(number, handler)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, before[1])


def _code(status: int) -> int:
    return -(status & 0x7F) if status & 0x7F else status >> 8
