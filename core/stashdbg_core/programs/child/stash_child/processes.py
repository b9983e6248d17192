"""Commands that the program runs: ``tool / NAME`` calls, recorded with what they wrote, and never run on replay.

Everything that starts a command through ``subprocess`` passes here: ``run``, ``check_output``, ``os.popen``,
``asyncio.create_subprocess_exec``. The real ``Popen`` is made in any case; on replay its pipes hold what was recorded,
and its end is the recorded one. Value: ``returncode``, ``stdout`` and ``stderr`` as far as the program took them from
pipes (text where they are UTF-8), and where they matter ``stdin``, ``polls`` (times it was found running), ``signals``
(sent to it while it ran) and ``timeouts`` (of the waits that expired, in seconds). What it wrote to the program's own
streams is in ``stdout`` and ``stderr`` too, if they are no terminal (``passed_output.py``).
"""

from __future__ import annotations

import os
import sys
from _contextvars import ContextVar
from _weakrefset import WeakSet

from . import calls, lanes, replayed_process
from .command_lines import argv_of, environment_for, name_of
from .passed_output import NAMES, destinations, passing
from .recorded_process import RecordedProcess
from .replayed_process import ReplayedProcess
from .trees import text_or_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOOL = "tool"
_POSITIONAL = (
    "bufsize", "executable", "stdin", "stdout", "stderr", "preexec_fn", "close_fds", "shell", "cwd", "env",
    "universal_newlines", "startupinfo", "creationflags", "restore_signals", "start_new_session", "pass_fds",
)  # fmt: skip
_given_input: ContextVar[Any] = ContextVar("stashdbg_given_input", default=None)
_STREAMS = (None, -1, -2, -3)
"""Inherited, and ``PIPE``, ``STDOUT``, ``DEVNULL``."""
_said: set[tuple[str, str]] = set()
_open: WeakSet[RecordedProcess] = WeakSet()


def end_all() -> None:
    """End the calls of processes that the program never waited for."""
    for process in list(_open):
        process.leave()
    for written in replayed_process.unwritten:
        written.write()


def hook_popen(module: Any) -> None:
    """Watch, or serve, the commands that start through ``Popen``."""
    cls = module.Popen
    start, run = cls.__init__, module.run

    def begin(self: Any, args: Any, *rest: Any, **named: Any) -> None:
        if calls.inside() or sys.platform == "win32":
            return start(self, args, *rest, **named)  # type: ignore[no-any-return]
        return _begin(module, start, self, args, dict(zip(_POSITIONAL, rest), **named))

    def run_with_input(*args: Any, input: Any = None, **named: Any) -> Any:
        if input is None:
            return run(*args, **named)
        token = _given_input.set(input)
        try:
            return run(*args, input=input, **named)
        finally:
            _given_input.reset(token)

    cls.__init__ = lanes.like(begin, start)
    module.run = lanes.like(run_with_input, run)
    for name in ("poll", "wait", "communicate", "__exit__", "__del__"):
        _hook_method(cls, name)


def _hook_method(cls: Any, name: str) -> None:
    original = getattr(cls, name)

    def method(self: Any, *args: Any, **named: Any) -> Any:
        watched = self.__dict__.get("_stashdbg")
        if watched is None:
            return original(self, *args, **named)
        return getattr(watched, "do_%s" % name.strip("_"))(original, self, *args, **named)

    setattr(cls, name, lanes.like(method, original))


def _begin(module: Any, start: Any, popen: Any, args: Any, named: dict[str, Any]) -> None:
    argv = argv_of(args, bool(named.get("shell")))
    given, _ = _given_input.get(), _given_input.set(None)
    cwd = named.get("cwd")
    asked = {
        "argv": argv,
        "cwd": None if cwd is None else os.fspath(cwd) if not isinstance(cwd, bytes) else os.fsdecode(cwd),
        "stdin": given if given is None or isinstance(given, str) else text_or_bytes(given),
    }
    answer = calls.begin_call(TOOL, name_of(argv), calls.plain(asked) if given is None else asked)
    if not answer.run:
        if answer.outcome == "throw":
            raise calls.rebuild_error(answer.value, "subprocess")
        if not isinstance(answer.value, dict) or "returncode" not in answer.value:  # an end it could never come to
            message = f"the value put in for {name_of(argv)} is no end of a command: it has no returncode"
            calls.note("refused", message)
            raise calls.ReplayStopped(message)
        popen._stashdbg = ReplayedProcess(module, popen, answer.value, destinations(named))
        start(popen, args, **named)
        return
    _run(module, start, popen, args, named, answer, knows_input=given is not None)


def _run(
    module: Any, start: Any, popen: Any, args: Any, named: dict[str, Any], answer: calls.Answer, knows_input: bool
) -> None:
    argv = argv_of(args, bool(named.get("shell")))
    _say_what_is_not_seen(name_of(argv), named)
    named["env"] = environment_for(named.get("env"), answer.seq, lanes.current().child(name_of(argv)).name)
    watched = RecordedProcess(module, answer, knows_input)
    passed = passing(name_of(argv), named, watched.passed)
    try:
        with calls.running(answer), lanes.named_process(None):
            start(popen, args, **{**named, **({} if passed is None else passed.given)})
    except BaseException as error:
        if passed is not None:
            passed.abandon()
        calls.end(answer, "throw", calls.error_tree(error))
        raise
    popen._stashdbg = watched
    watched.started(popen, passed)
    _open.add(watched)


def _say_what_is_not_seen(name: str, named: dict[str, Any]) -> None:
    ours = destinations(named)
    for fd, stream in NAMES.items():
        if named.get(stream) not in _STREAMS and fd not in ours and (name, stream) not in _said:
            _said.add((name, stream))
            what = "the %s of %s goes to a file or descriptor of the program's" % (stream, name)
            calls.note("unpinned", "%s: it is not recorded, and a replay does not write it" % what)
