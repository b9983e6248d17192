"""The documents' lists of names against the library's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import stashdbg

NOT_YET = "not yet"
SPECIFIED = [
    "createStash",
    "loadStash",
    "createRecorder",
    "createReplayer",
    "DROP",
    "BlobStore",
    "encodeRecording",
    "decodeRecording",
    "recordingStats",
    "fork",
    "diffRecordings",
    "sealRecording",
    "verifyRecording",
    "createDeterministicClock",
    "createSeededRandom",
    "wrap",
    "wrapSync",
    "interceptMcpClient",
    "recordMcpTool",
    "isAgenticStashError",
    "AgenticStashErrorCode",
    "AgenticStashError",
    "Stash.mode",
    "Stash.intercept",
    "Stash.interceptSync",
    "Stash.value",
    "Stash.recording",
    "Stash.save",
    "Stash.consumed",
    "Stash.remaining",
    "Stash.divergences",
    "Stash.report",
    "Recorder.record",
    "Recorder.recordAsync",
    "Recorder.value",
    "Recorder.recording",
    "Recorder.size",
    "Replayer.replay",
    "Replayer.replayAsync",
    "Replayer.consumed",
    "Replayer.remaining",
    "Replayer.divergences",
    "Replayer.report",
    "Channel",
    "Outcome",
    "StashMode",
    "RecordedEvent",
    "Recording",
    "InterceptOptions",
    "StashOptions",
    "Stash",
    "RecordingStats",
    "Divergence",
    "DivergenceKind",
    "DivergenceReport",
    "RedactContext",
    "RedactFn",
    "RecordingSeal",
    "VerifyResult",
    "RecorderOptions",
    "ReplayerOptions",
    "ForkOptions",
    "DiffResult",
    "EventOnly",
    "EventChange",
    "DeterministicClock",
    "SeededRandom",
    "McpToolCall",
    "McpClientLike",
]
"""Every name in section 2 of agenticstash's specification, members of its objects included."""
CODES = ["ERR_DIVERGENCE", "ERR_RECORDING_EXHAUSTED", "ERR_INVALID_RECORDING", "ERR_INVALID_INPUT", "ERR_NOT_FOUND"]


@pytest.fixture
def rows(root: Path) -> dict[str, tuple[str, str]]:
    """The table of names: theirs to ours and the remark."""
    text = (root / "docs" / "agenticstash.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| `([\w.]+)[^|]*\| ([^|]+) \| ?([^|]*?) ?\|$", text, re.M)
    assert len({theirs for theirs, _, _ in found}) == len(found)
    return {theirs: (ours, remark) for theirs, ours, remark in found}


def test_every_name_of_the_specification_is_in_the_table(rows: dict[str, tuple[str, str]]) -> None:
    assert sorted(rows) == sorted({*SPECIFIED, *CODES})


def test_every_name_of_ours_exists_unless_the_table_says_not_yet(rows: dict[str, tuple[str, str]]) -> None:
    wrong = []
    for theirs, (ours, remark) in rows.items():
        for name in re.findall(r"`([A-Za-z_][\w.]*)`", f"{ours} {remark}" if NOT_YET in remark else ours):
            if name == "str":
                continue
            found: object = stashdbg
            for part in name.split("."):
                found = getattr(found, part, None)
            if (found is not None) == (NOT_YET in remark):
                wrong.append(f"{theirs}: {name}")
    assert wrong == []


def test_error_codes_are_those_of_the_specification() -> None:
    assert [str(code) for code in stashdbg.ErrorCode] == CODES


def test_the_page_on_stability_lists_the_public_names(root: Path) -> None:
    text = (root / "docs" / "stability.md").read_text(encoding="utf-8")
    listed = re.findall(r"^    (\w+)$", text, re.M)
    assert listed == stashdbg.__all__
