"""One test and its recording: where it lies, whether it is recorded or replayed, and what becomes of it.

A recording is put in place only by a test that passed. Until then it is in a file beside it, ``x.failed.json`` for
``x.json``, which stays if the test fails.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeAlias

import pytest

from stashdbg import DivergenceReport, ErrorCode, Stash, StashError
from stashdbg_core.sanitize import sanitize_line, shorten
from stashdbg_core.session.words import counted
from stashdbg_core.store.atomic import safe_file_name

_REPLAY_OPTIONS = ("match", "strict", "on_divergence", "ignore", "types", "redact")
_RECORD_OPTIONS = ("types", "redact")
_DIVERGED = (ErrorCode.DIVERGENCE, ErrorCode.RECORDING_EXHAUSTED)
_FIELD = re.compile(r"\{\{|\}\}|\{(\w*)\}")
_CLAIMED = pytest.StashKey[dict[Path, str]]()
Outcome: TypeAlias = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a test's marker says."""

    path: str
    unused: str = "fail"
    """What recorded calls that the test never makes are: ``fail`` or ``ignore``."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of ``Replayer`` and ``Recorder``."""


@dataclass(slots=True)
class TestRun:
    """A test that runs with its recording."""

    __test__ = False

    item: pytest.Item
    target: Path
    """Where the recording is, or will be."""
    settings: Settings
    stash: Stash
    outcome: Outcome = "failed"
    error: BaseException | None = None
    explained: bool = False
    """Whether the failure's own text is the divergence report."""

    def failure_of(self, error: BaseException) -> BaseException | None:
        """Return the failure to raise instead of an error, or None if the error is not a divergence alone.

        Any other error of ours gets its traceback cut where the program's own frames end, and says what to do.
        """
        if self.stash.mode == "record" or not _is_divergence(error):
            if isinstance(error, StashError):
                error.__traceback__ = _outside(error.__traceback__)
                if error.hint:
                    error.add_note(error.hint)
            return None
        return self._failure(self.stash.report())

    def failure(self) -> BaseException | None:
        """Return the failure of a test that ran to its end, or None if it made the recorded calls and no others."""
        if self.stash.mode == "record":
            return None
        report = self.stash.report()
        unused = report.unused and self.settings.unused == "fail"
        return self._failure(report) if _met(report) or unused else None

    def took_place(self, report: pytest.TestReport, error: BaseException | None) -> None:
        """Note how a phase of the test ended, and tell a failed one's report about the recording."""
        if report.when == "call":
            expected = report.outcome == "skipped" and hasattr(report, "wasxfail")
            self.outcome = "failed" if expected else report.outcome
            self.error = error
        if report.outcome != "failed" or self.explained:
            return
        if self.stash.mode == "replay":
            name = f"replay of {self._shown(self.target)}"
            report.sections.append((name, _text(self.stash.report(), missing=False)))
        elif report.when != "teardown":
            kept = self._shown(self._aside)
            report.sections.append(("recording", f"this run's calls are in {kept}; `stashdbg {kept}` opens it"))

    def end(self) -> str | None:
        """Put a recording where it belongs, and return a line about one that is in place."""
        if self.stash.mode == "replay":
            return None
        kept = self.stash.path
        assert kept is not None
        error = self.error if self.outcome == "failed" else None
        self.stash.__exit__(type(error) if error is not None else None, error, None)
        if not kept.exists():
            pytest.fail(f"the recording could not be written to {self._shown(kept)}", pytrace=False)
        if self.outcome == "passed":
            count = len(self.stash.recording().events)
            os.replace(kept, os.path.realpath(self.target))
            return f"{self._shown(self.target)}: {counted(count, 'call')} of {sanitize_line(self.item.nodeid)}"
        if self.outcome == "skipped":
            with suppress(FileNotFoundError):
                kept.unlink()
        else:
            os.replace(kept, self._aside)
        return None

    @property
    def _aside(self) -> Path:
        return _aside(self.target)

    def _failure(self, report: DivergenceReport) -> BaseException:
        self.explained = True
        shown = self._shown(self.target)
        head = f"the test does not do what {shown} recorded"
        again = f"to record it again: pytest --stash-record=all {sanitize_line(_quoted(self.item.nodeid))}"
        return pytest.fail.Exception(f"{head}\n{_text(report)}\n{again}", pytrace=False)

    def _shown(self, path: Path) -> str:
        return _shown(self.item, path)


def begin(item: pytest.Item) -> TestRun:
    """Start recording or replaying for a test.

    Raises:
        pytest.fail.Exception: The marker is wrong, or its recording is missing or unreadable; without a traceback.
    """
    try:
        settings = _settings(item)
        target = item.path.parent / _filled(settings.path, item)
        stash = _recording(item, target, settings) if _must_record(item, target) else _replaying(target, settings)
    except StashError as error:
        problem = f"{error.message}\n{error.hint}" if error.hint else error.message
    else:
        return TestRun(item, target, settings, stash)
    raise pytest.fail.Exception(problem, pytrace=False)


def _settings(item: pytest.Item) -> Settings:
    marker = item.get_closest_marker("stash")
    example = '@pytest.mark.stash("runs/example.json")'
    if marker is None:
        raise _wrong("the `stash` fixture needs a recording", f"mark the test {example}")
    options = dict(marker.kwargs)
    path, *more = (*marker.args, *((options.pop("path"),) if "path" in options else ())) or (None,)
    if more or not isinstance(path, str | os.PathLike):
        raise _wrong("the `stash` marker takes one path", f"mark the test {example}")
    unused = options.pop("unused", "fail")
    if unused not in ("fail", "ignore"):
        raise _wrong(f"unused={shorten(repr(unused), 60)} in the `stash` marker", "give 'fail' or 'ignore'")
    unknown = sorted(set(options) - set(_REPLAY_OPTIONS))
    if unknown:
        known = ", ".join((*_REPLAY_OPTIONS, "unused"))
        raise _wrong(f"the `stash` marker has no option {shorten(unknown[0], 60)}", f"it has {known}")
    return Settings(os.fspath(path), unused, options)


def _filled(path: str, item: pytest.Item) -> str:
    """Return a path with its fields filled in; a parameter's id stays one file name, a doubled brace is a brace."""
    parents = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    callspec = getattr(item, "callspec", None)
    values = {
        "module": item.path.stem,
        "test": ".".join((*parents, getattr(item, "originalname", None) or item.name)),
        "param": callspec.id if callspec is not None else "",
    }

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return found[0][0]
        if name not in values:
            raise _wrong(
                f"{{{shorten(name, 40)}}} in the path of the `stash` marker", "it knows {module} {test} {param}"
            )
        return safe_file_name(values[name]) if values[name] else ""

    return _FIELD.sub(value, path)


def _must_record(item: pytest.Item, target: Path) -> bool:
    wanted = item.config.getoption("stash_record")
    if wanted == "none" and not target.exists():
        raise StashError(
            f"there is no recording at {_shown(item, target)}, and --stash-record=none forbids to make one",
            code=ErrorCode.NOT_FOUND,
            hint=f"record it: pytest --stash-record=once {sanitize_line(_quoted(item.nodeid))}; then keep the file",
        )
    return wanted == "all" or not target.exists()


def _recording(item: pytest.Item, target: Path, settings: Settings) -> Stash:
    claimed = item.config.stash.setdefault(_CLAIMED, {})
    other = claimed.setdefault(target, item.nodeid)
    if other != item.nodeid:
        raise _wrong(
            f"{_shown(item, target)} was recorded by {sanitize_line(other)} a moment ago",
            "give each test a recording of its own: {test} and {param} in the marker's path stand for the test's",
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _wrong(f"cannot make the folder of {_shown(item, target)}: {error.strerror}", None) from None
    options = {name: value for name, value in settings.options.items() if name in _RECORD_OPTIONS}
    # Not forced: of two processes that record the same file, each gets a name of its own until the end.
    return Stash.record(_aside(target), meta={"test": item.nodeid}, **options)


def _replaying(target: Path, settings: Settings) -> Stash:
    return Stash.replay(target, **settings.options)


def _aside(target: Path) -> Path:
    return target.with_name(f"{target.stem}.failed{target.suffix}")


def _is_divergence(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_divergence(member) for member in error.exceptions)
    return isinstance(error, StashError) and error.code in _DIVERGED


def _met(report: DivergenceReport) -> bool:
    return any(divergence.kind != "missing-call" for divergence in report.divergences)


def _text(report: DivergenceReport, *, missing: bool = True) -> str:
    """Return a report for people; calls never made are spelled out only if nothing else went wrong before them."""
    if missing and not _met(report):
        return str(report)
    met = tuple(divergence for divergence in report.divergences if divergence.kind != "missing-call")
    return str(replace(report, divergences=met))


def _outside(traceback: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this library at its end."""
    kept = []
    while traceback is not None:
        kept.append(traceback)
        traceback = traceback.tb_next
    while len(kept) > 1 and str(kept[-1].tb_frame.f_globals.get("__name__")).startswith(
        ("stashdbg.", "stashdbg_core.")
    ):
        kept.pop()
    rest: TracebackType | None = None
    for entry in reversed(kept):
        rest = TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return rest


def _shown(item: pytest.Item, path: Path) -> str:
    root = item.config.rootpath
    return sanitize_line(str(path.relative_to(root) if path.is_relative_to(root) else path))


def _quoted(nodeid: str) -> str:
    return f"'{nodeid}'" if re.search(r"[^\w./:-]", nodeid) else nodeid


def _wrong(message: str, hint: str | None) -> StashError:
    return StashError(message, code=ErrorCode.INVALID_INPUT, hint=hint)
