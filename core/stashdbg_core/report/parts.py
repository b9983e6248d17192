"""The files of a choice, made once: choosing anew costs what changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from stashdbg_core.model import Recording
from stashdbg_core.redact.rule_file import RuleSet
from stashdbg_core.redact.scan import scan_recording
from stashdbg_core.report.environment import environment
from stashdbg_core.report.manifest import ReportFile, json_file
from stashdbg_core.report.narrative import narrative
from stashdbg_core.report.redacted_names import redacted_names
from stashdbg_core.report.selection import chosen_recording
from stashdbg_core.report.transcript import transcript
from stashdbg_core.report.units import FILE_UNITS, Conversation, Run
from stashdbg_core.store.writer import recording_text

_KEPT: Final = 8


@dataclass(frozen=True, slots=True)
class Evidence:
    """The chosen part of a run, as its file and what is known of it."""

    run: Run
    recording: Recording
    file: ReportFile
    suspicious: int
    """Places that still look like secrets."""
    redacted_names: tuple[str, ...]

    @property
    def is_part(self) -> bool:
        """Whether some of the run's conversations are not in it."""
        return len(self.file.units) < len(self.run.conversations)


class Parts:
    """Makes the files of choices.

    Args:
        runs: The masked runs.
        rules: What counts as a secret.
        safe: Masks known secrets in a text.
    """

    def __init__(self, runs: Sequence[Run], rules: RuleSet, safe: Callable[[str], str]) -> None:
        self._runs = runs
        self._rules = rules
        self._safe = safe
        self._evidence: dict[tuple[str, tuple[str, ...]], Evidence] = {}
        self._texts: dict[tuple[str, str], str] = {}

    def evidence(self, ids: Sequence[str]) -> list[Evidence]:
        """Return the chosen parts of the runs, those with nothing chosen left out."""
        return [self._one(run, chosen) for run in self._runs if (chosen := run.chosen(ids))]

    def files(self, ids: Sequence[str]) -> list[ReportFile]:
        """Return the files of these units in the order of the archive, the manifest apart."""
        files = [evidence.file for evidence in self.evidence(ids)]
        for unit_id, (name, _) in FILE_UNITS.items():
            data = self.derived(unit_id, ids) if unit_id in ids else b""
            if data:
                files.append(ReportFile(name, data, (unit_id,)))
        return files

    def derived(self, unit_id: str, ids: Sequence[str]) -> bytes:
        """Return the file that a unit makes from the chosen conversations; empty if there is nothing to say."""
        if unit_id == "file-environment":
            return json_file(environment([run for run in self._runs if run.chosen(ids)]))
        texts = [self._text(unit_id, run, conversation) for run in self._runs for conversation in run.chosen(ids)]
        return "\n".join(text for text in texts if text).encode("utf-8", "backslashreplace")

    def size_alone(self, run: Run, conversation: Conversation) -> int:
        """Return the bytes of a run's file if this conversation is the only one in it."""
        return len(_text(chosen_recording(run, (conversation,))))

    def _text(self, unit_id: str, run: Run, conversation: Conversation) -> str:
        key = unit_id, conversation.unit_id
        if key not in self._texts:
            make = transcript if unit_id == "file-transcript" else narrative
            self._texts[key] = self._safe(make(run.recording, conversation))
        return self._texts[key]

    def _one(self, run: Run, chosen: tuple[Conversation, ...]) -> Evidence:
        ids = tuple(conversation.unit_id for conversation in chosen)
        key = run.file, ids
        if key not in self._evidence:
            if len(self._evidence) >= _KEPT + len(self._runs):
                self._evidence.clear()
            recording = chosen_recording(run, chosen)
            self._evidence[key] = Evidence(
                run,
                recording,
                ReportFile(run.file, _text(recording), ids),
                sum(1 for _ in scan_recording(recording, self._rules.redactor())),
                tuple(redacted_names([recording])),
            )
        return self._evidence[key]


def _text(recording: Recording) -> bytes:
    return b"".join(recording_text(recording))
