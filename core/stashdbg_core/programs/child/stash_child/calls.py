"""What hooks say to the recorder, and what it says to them: the one door between the hooks and the link.

A hook begins a call, runs it for real if told to, and ends it; what is recorded is recorded when ``end`` returns. While
it runs, calls further in are part of it and not recorded. All values that go over the link are trees (``trees.py``).
"""

from __future__ import annotations

import sys
from _contextvars import ContextVar

from . import imports, lanes, real, sites
from .errors import error_tree, rebuild_error
from .link import Link, RecorderGone
from .trees import ABSENT, plain, text_or_bytes, untree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

__all__ = [
    "ABSENT", "Answer", "ReplayMiss", "ReplayStopped", "begin_call", "begin_http", "end", "end_http", "error_tree",
    "inside", "mode", "note", "plain", "rebuild_error", "recorded_value", "running", "untree", "value",
]  # fmt: skip


class ReplayStopped(SystemExit):
    """The replay is over: what the program asked for is not in the recording. It ends the program quietly."""

    def __init__(self, message: str) -> None:
        super().__init__(1)
        self.message = message

    def __str__(self) -> str:
        return self.message


class ReplayMiss(RuntimeError):
    """The recording has no such call, and the replay goes on."""


class Answer:
    """What the recorder says to a call that begins.

    ``run``: run it for real and end it. Else it is served: ``outcome`` with the tree ``value``, or with ``response``.
    """

    __slots__ = ("ended", "outcome", "response", "run", "seq", "started", "value")

    def __init__(self, answer: dict[str, Any]) -> None:
        self.seq: int = answer.get("seq", -1)
        self.run: bool = bool(answer.get("run"))
        self.outcome: str | None = answer.get("outcome")
        self.value: Any = answer.get("value")
        self.response: dict[str, Any] | None = answer.get("response")
        self.started = real.perf_counter()
        self.ended = not self.run


_link: Link | None = None
_mode = "off"
_running: ContextVar[Answer | None] = ContextVar("stashdbg_running", default=None)
settings: dict[str, Any] = {}
"""What the recorder said when this process introduced itself."""


def connect(link: Link) -> None:
    """Introduce this process to the recorder, and speak to it from here on."""
    global _link, _mode
    answer = link.hello()
    settings.update(answer)
    link.when_gone.append(_say_gone)
    _link, _mode = link, str(answer["mode"])
    imports.failed = lambda message: note("unpinned", message)


def mode() -> str:
    """Return ``record``, ``replay``, ``continue``, or ``off`` when nothing is recorded (any more)."""
    return _mode


def link() -> Link | None:
    """Return the link to the recorder."""
    return _link


def inside() -> bool:
    """Tell whether an outer hooked call is running here, of which this one is a part."""
    if _mode == "off":
        return True
    outer = _running.get()
    return outer is not None and not outer.ended


class running:
    """Within it, hooked calls are part of this one; ``None``: they are nobody's business."""

    __slots__ = ("_answer", "_token")

    def __init__(self, answer: Answer | None = None) -> None:
        self._answer = answer if answer is not None else Answer({"run": True})

    def __enter__(self) -> None:
        self._token = _running.set(self._answer)

    def __exit__(self, *_: object) -> None:
        try:
            _running.reset(self._token)
        except ValueError:  # left in another context than it was entered in, as generators may be
            _running.set(None)


def begin_call(channel: str, key: str, input: Any = ABSENT, label: str | None = None) -> Answer:
    """Tell that a call is about to run.

    Args:
        channel: Kind of call.
        key: Its stable name.
        input: The tree of its input (``plain(value)``); left out if there is none.
        label: A caption.

    Raises:
        ReplayStopped: It is not in the recording, and the replay is over.
        ReplayMiss: It is not in the recording.
    """
    message = {"op": "call", "channel": channel, "key": key}
    if input is not ABSENT:
        message["input"] = input
    if label is not None:
        message["label"] = label
    return Answer(_ask(_placed(message, sites.site(2)), {"run": True}))


def begin_http(method: str, url: str, headers: Iterable[tuple[str, str]], body: bytes | str) -> Answer:
    """Tell that an HTTP request is about to be sent; ``body`` is decoded. Raises as ``begin_call`` does."""
    data = text_or_bytes(body) if isinstance(body, (bytes, bytearray)) else body
    pairs = [[str(name), str(part)] for name, part in headers]
    message = {"op": "http", "method": method, "url": url, "headers": pairs, "body": data}
    return Answer(_ask(_placed(message, sites.site(2)), {"run": True}))


def end(answer: Answer, outcome: str, value: Any) -> None:
    """Tell how a call ended that was run for real.

    Args:
        answer: Of ``begin_call`` or ``begin_http``.
        outcome: ``return`` or ``throw``.
        value: The tree of what it returned, or of the exception.
    """
    if answer.ended:
        return
    answer.ended = True
    if answer.seq >= 0:
        _ask({"op": "end", "seq": answer.seq, "outcome": outcome, "value": value, "ms": _ms_since(answer)}, {})


def end_http(
    answer: Answer,
    status: int,
    headers: Iterable[tuple[str, str]],
    chunks: Iterable[tuple[float, bytes]],
    ending: str,
    error: BaseException | dict[str, Any] | None = None,
) -> None:
    """Tell what response a request had.

    Args:
        answer: Of ``begin_http``.
        status: Of the response.
        headers: Of the response.
        chunks: What the program took of the decoded body: milliseconds since the start, and bytes.
        ending: ``complete``, ``closed`` early by the program, or ``failed`` on the way.
        error: What it failed with, or the tree of that.
    """
    if answer.ended:
        return
    answer.ended = True
    if answer.seq < 0:
        return
    message = {
        "op": "response",
        "seq": answer.seq,
        "status": status,
        "headers": [[str(name), str(part)] for name, part in headers],
        "chunks": [{"ms": ms, "data": text_or_bytes(data)} for ms, data in chunks],
        "ending": ending,
        "ms": _ms_since(answer),
    }
    if error is not None:
        message["error"] = error if isinstance(error, dict) else error_tree(error)
    _ask(message, {})


def value(
    channel: str,
    key: str,
    produce: Callable[[], Any],
    soft: bool = False,
    site: str | None = None,
) -> Any:
    """Return a value that the world gives: produced and recorded, or the recorded one of this lane and site.

    Args:
        channel: ``clock``, ``random``, ``stdin``.
        key: What is read.
        produce: Reads it for real; what it raises is recorded too.
        soft: A library reads it: if it was not recorded, it is read for real.
        site: The program's frame; the nearest one if left out.
    """
    if inside():
        return produce()
    site = site or sites.site(2)
    if _mode != "record":
        found = recorded_value(channel, key, soft=soft, site=site)
        if found is not ABSENT:
            return found
        if _mode == "replay":
            return produce()
    message = _asking(channel, key, soft, site)
    try:
        with running():
            made = produce()
    except Exception as error:
        message["value"] = error_tree(error)
        _ask(message, {})
        raise
    message["value"] = plain(made)
    _ask(message, {})
    return made


def recorded_value(channel: str, key: str, soft: bool = False, site: str | None = None) -> Any:
    """Return the recorded value of this lane and site, or ``ABSENT`` if it is to be read for real.

    Raises:
        ReplayStopped: There is none, and the replay is over.
        ReplayMiss: There is none. What was recorded may also be an exception.
    """
    answer = _ask(_asking(channel, key, soft, site or sites.site(2)), {"run": True})
    if "value" not in answer:
        return ABSENT
    tree = answer["value"]
    if isinstance(tree, dict) and tree.get("$stash") == "exception":
        raise rebuild_error(tree)
    return untree(tree)


def _asking(channel: str, key: str, soft: bool, site: str | None) -> dict[str, Any]:
    message = _placed({"op": "value", "channel": channel, "key": key}, site)
    if soft:
        message["soft"] = True
    return message


def note(kind: str, message: str) -> None:
    """Tell the recorder something that a reader of the recording should know."""
    if _link is not None and _mode != "off" and not _link.gone:
        try:
            _link.ask({"op": "note", "kind": kind, "message": message[:4000], "thread": lanes.lane()})
        except RecorderGone:
            return


def _placed(message: dict[str, Any], site: str | None) -> dict[str, Any]:
    lane = lanes.lane()
    if lane is not None:
        message["thread"] = lane
    if site is not None:
        message["site"] = site
    return message


def _ask(message: dict[str, Any], unrecorded: dict[str, Any]) -> dict[str, Any]:
    """Return the recorder's answer, or ``unrecorded`` if there is none and the program may go on without."""
    if _link is None or _mode == "off":
        return unrecorded
    try:
        answer = _link.ask(message)
    except RecorderGone:
        if _mode == "replay":
            raise ReplayStopped("the process that replays is gone") from None
        return unrecorded
    error = answer.get("error")
    if error is None:
        return answer
    if answer.get("stop"):
        raise ReplayStopped(str(error.get("message", "")))
    if message["op"] in ("end", "response"):
        return unrecorded
    if _mode == "record":  # whatever the recorder cannot take, the program goes on
        note("unrecorded", _joined(error))
        return unrecorded
    raise ReplayMiss(_joined(error))


def _joined(error: dict[str, Any]) -> str:
    parts: list[str] = [str(error[key]) for key in ("message", "hint") if error.get(key)]
    return "; ".join(parts)


def _ms_since(answer: Answer) -> float:
    return round((real.perf_counter() - answer.started) * 1000, 3)


def _say_gone() -> None:
    global _mode
    if sys.is_finalizing():
        return
    if _mode == "replay":
        real.say("the process that replays is gone; the program ends here, for a replay never runs live")
    else:
        _mode = "off"
        real.say("the process that records is gone; the program goes on unrecorded")
