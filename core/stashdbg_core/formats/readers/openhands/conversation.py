"""A conversation of OpenHands V1 and those of its sub-agents, read as one run; each sub-agent is a lane.

The files do not say which call started a sub-agent. It is the one whose arguments hold the sub-agent's first prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.readers.openhands.blocks import content_of
from stashdbg_core.formats.readers.openhands.events import EventReader
from stashdbg_core.formats.readers.openhands.folder import Folder
from stashdbg_core.formats.readers.openhands.metrics import Metrics
from stashdbg_core.formats.shapes import word
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.transcript import ToolRun, Transcript, text_of


def read_folder(folder: Folder, sink: RunSink) -> None:
    """Read a conversation."""
    state = folder.state()
    sink.identify(word(state.get("id")))
    if not state:
        sink.note("no-state", "there is no base_state.json: the model and what its calls used are not known")
    workspace = state.get("workspace")
    folder_name = workspace.get("working_dir") if isinstance(workspace, dict) else None
    sink.meta(sessionId=state.get("id"), cwd=folder_name, status=state.get("execution_status"), cost=_cost(state))
    transcript = Transcript(sink)
    reading = _Reading(transcript, sink)
    title = reading.conversation(folder, state, None, None)
    transcript.close()
    reading.note_untold()
    sink.title(title)


class _Reading:
    def __init__(self, transcript: Transcript, sink: RunSink) -> None:
        self._transcript = transcript
        self._sink = sink
        self._counted: set[str] = set()
        self._told: set[str] = set()

    def note_untold(self) -> None:
        """Say how many model calls were counted that no event tells of."""
        untold = len(self._counted - self._told)
        if untold:
            calls = "1 model call was" if untold == 1 else f"{untold:,} model calls were"
            self._sink.note("untold-calls", f"{calls} counted that no event tells of, such as those of titles")

    def conversation(self, folder: Folder, state: dict[str, Any], lane: str | None, parent: int | None) -> str:
        """Read a conversation into its lane and return its first prompt."""
        events = folder.events(self._sink)
        if folder.missing:
            shown = ", ".join(map(str, folder.missing[:5])) + (", …" if len(folder.missing) > 5 else "")
            self._sink.note("missing-events", f"{len(folder.missing):,} events have no file: {shown}")
        waiting = {_first_prompt(sub.events(self._sink)) or sub.place[-1]: sub for sub in folder.sub_agents()}

        def called(run: ToolRun) -> None:
            for text in _texts(run.input):
                if text in waiting:
                    self._sub_agent(waiting.pop(text), run.seq)

        metrics = Metrics(_metrics(state))
        reader = EventReader(self._transcript, self._transcript.lane(lane, parent), metrics, _model(state), called)
        reader.read(events, state.get("leaf_event_id"))
        self._counted |= metrics.ids()
        self._told |= reader.told
        for sub in waiting.values():
            self._sink.note("unlinked-sub-agent", f"no call leads to the sub-agent {label_of(sub.place[-1])}")
            self._sub_agent(sub, None)
        return reader.title

    def _sub_agent(self, folder: Folder, parent: int | None) -> None:
        self.conversation(folder, folder.state(), f"agent-{folder.place[-1][:8]}", parent)


def _metrics(state: dict[str, Any]) -> list[Any]:
    stats = state.get("stats")
    used = stats.get("usage_to_metrics") if isinstance(stats, dict) else None
    return list(used.values()) if isinstance(used, dict) else []


def _cost(state: dict[str, Any]) -> float | None:
    costs = [part.get("accumulated_cost") for part in _metrics(state) if isinstance(part, dict)]
    known = [cost for cost in costs if isinstance(cost, int | float)]
    return sum(known) if known else None


def _model(state: dict[str, Any]) -> str | None:
    agent = state.get("agent")
    llm = agent.get("llm") if isinstance(agent, dict) else None
    return word(llm.get("model")) if isinstance(llm, dict) else None


def _first_prompt(events: list[dict[str, Any]]) -> str:
    for event in events:
        message = event.get("llm_message")
        if event.get("kind") == "MessageEvent" and event.get("source") == "user" and isinstance(message, dict):
            return text_of(content_of(message.get("content")))
    return ""


def _texts(tree: Json, depth: int = 3) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict | list) and depth:
        for item in tree.values() if isinstance(tree, dict) else tree:
            yield from _texts(item, depth - 1)
