"""A thread of LangGraph as events, checkpoint by checkpoint: the state, then the nodes that ran on it.

A checkpoint is an event of the ``state`` channel, a task a ``span`` of its node's name whose value is what it wrote.
Messages of a model or a tool among the writes are the calls that made them (``calls``). What the newest
checkpoint does not come from is an abandoned branch. A subgraph is a lane, under the task that ran it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from uuid import UUID, uuid5

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.readers.langgraph.calls import Calls, Spot, prompts_in, said_in
from stashdbg_core.formats.readers.langgraph.store import CheckpointStore, Place, Thread, Write
from stashdbg_core.formats.readers.langgraph.values import fields_of, mapping
from stashdbg_core.formats.sink import ABSENT, RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.transcript import text_of

_ERROR, _INTERRUPT, _RESUME, _NOTHING = "__error__", "__interrupt__", "__resume__", "__no_writes__"
_TOLD_APART = frozenset({_ERROR, _INTERRUPT, _RESUME, _NOTHING})
_START, _ROOT, _SENDS = "__start__", "__root__", "__pregel_tasks"
_PULL, _PUSH = "~__pregel_pull, ", "~__pregel_push, "
_ROUTES = ("branch:to:", "branch:", "start:")
"""How channels begin that say only which node is next."""
_NO_TASK = "00000000-0000-0000-0000-000000000000"
_UPDATE = "update_state"
"""What a change of the state from outside is called where no node is named."""


class ThreadEvents:
    """Writes one thread.

    Args:
        store: The tables.
        thread: The thread.
        sink: Where events go.
        source: The file, which is told how far reading is.
    """

    def __init__(self, store: CheckpointStore, thread: Thread, sink: RunSink, source: ForeignSource) -> None:
        self._store = store
        self._thread = thread
        self._sink = sink
        self._source = source
        self._places = store.places(thread)
        self._children: dict[tuple[str, str | None], list[Place]] = {}
        for place in self._places:
            self._children.setdefault((place.namespace, place.parent), []).append(place)
        self._live = _live(self._places)
        self._tasks: dict[str, int] = {}
        """Events of tasks, by id."""
        self._abandoned: set[str] = set()
        """Tasks of abandoned branches."""
        self._ran: dict[tuple[str, str], list[str]] = {}
        """Nodes that ran at a checkpoint."""
        self._lanes: dict[str, str | None] = {"": None}
        self._calls = Calls(sink)

    def write(self) -> None:
        """Write all of it."""
        self._sink.title(said_first(self._store.quiet(), self._thread) or str(self._thread.id))
        self._sink.meta(thread=self._thread.id, checkpoints=len(self._places))
        for place in self._places:
            if place.namespace:
                self._calls.claim(place.namespace, self._writes(place, self._store.quiet()))
        for number, place in enumerate(self._places, 1):
            self._place(place)
            self._source.tell(self._source.size * number // len(self._places))

    def _place(self, place: Place) -> None:
        try:
            content = self._store.checkpoint(self._thread, place)
        except StashError as error:
            self._sink.note("damaged", f"checkpoint {place.id} cannot be read: {error.message}")
            content = {}
        values = {**mapping(content.get("channel_values"))}
        values.setdefault(_SENDS, content.get("pending_sends"))  # where they stood until version 4
        spot = Spot(place.namespace, values, self._lane(place.namespace), place.at)
        first = len(self._sink)
        self._state(place, spot)
        if self._is_abandoned(place):
            self._sink.abandoned(first)
        writes = self._writes(place)
        groups = [list(group) for _, group in groupby(writes, key=lambda write: (write.path, write.task))]
        if any(write.channel == _RESUME and write.task != _NO_TASK for write in writes):
            groups = [group for group in groups if group[0].task != _NO_TASK]  # the same answer, before a task had it
        for task in groups:
            first = len(self._sink)
            self._task(place, spot, task, is_only=len(groups) == 1)
            if self._is_abandoned(place, task[0]):
                self._abandoned.add(task[0].task)
                for seq in range(first, len(self._sink)):
                    self._sink.abandoned(seq)

    def _state(self, place: Place, spot: Spot) -> None:
        step, ran = place.metadata.get("step"), self._ran.get((place.namespace, place.parent or ""))
        how = f"after {', '.join(ran)}" if ran and place.source == "loop" else place.source
        seq = self._sink.event(
            "state",
            spot.lane or "graph",
            value={name: value for name, value in spot.values.items() if _is_state(str(name))},
            at=spot.at,
            label=label_of(f"step {step}: {how}"),
            thread=spot.lane,
            parent=self._tasks.get(_task_of(place.namespace)),
            extra={"checkpoint": place.id, "step": step},
        )
        if place.metadata.get("counters_since_delta_snapshot"):
            self._sink.cut(seq, "channels that are stored as changes are not in it")

    def _task(self, place: Place, spot: Spot, task: Sequence[Write], *, is_only: bool) -> None:
        told = {write.channel: write.value for write in task if write.channel in _TOLD_APART}
        written = [write for write in task if write.channel not in _TOLD_APART]
        parent = self._tasks.get(_task_of(place.namespace))
        name, given = _node_of(task[0], spot.values)
        if name is None:
            name = self._name_of_update(place, task[0]) or (self._only_node(place) if is_only else None) or "task"
        self._ran.setdefault((place.namespace, place.id), []).append(name)
        if name == _START:
            self._given(written, spot)
        elif task[0].task != _NO_TASK:
            parent = self._span(place, spot, name, given, written, told)
            self._tasks[task[0].task] = parent
            self._calls.take(written, spot, parent)
        for channel in (_INTERRUPT, _RESUME):
            if channel in told:
                self._note(channel.strip("_"), told[channel], spot, parent)

    def _span(
        self, place: Place, spot: Spot, name: str, given: Json, written: Sequence[Write], told: Mapping[str, Json]
    ) -> int:
        seq = self._sink.start(
            "span",
            name,
            input=given,
            at=spot.at,
            label=_span_label(name, written, told),
            thread=spot.lane,
            parent=self._tasks.get(_task_of(place.namespace)),
        )
        followed = self._followed(place)
        ms = None
        if followed is not None and followed.at is not None and spot.at is not None and told.keys() <= {_NOTHING}:
            ms = max(0.0, round(followed.at - spot.at, 3))
        if _ERROR in told:
            self._sink.finish(seq, {"error": told[_ERROR], **_by_channel(written)}, outcome="throw")
        elif written or _NOTHING in told:
            self._sink.finish(seq, _by_channel(written), ms=ms)
        return seq

    def _given(self, written: Sequence[Write], spot: Spot) -> None:
        """Write what was put into the graph: what a person said, or whatever it was."""
        if spot.namespace:
            self._sink.skipped("inputs of subgraphs: the states after them hold them")
            return
        said: list[Json] = [*prompts_in(written)] or [_by_channel(written)]
        for message in said:
            label = text_of(mapping(message).get("content")) or said_in(written)
            self._sink.event("user", "prompt", value=message, at=spot.at, label=label or None, thread=spot.lane)

    def _note(self, kind: str, value: Json, spot: Spot, parent: int | None) -> None:
        said = fields_of(value[0]) if isinstance(value, list) and len(value) == 1 else value
        text = mapping(said).get("value", said)
        label = f"{kind}: {text}" if isinstance(text, str) else kind
        self._sink.event("note", kind, value=said, at=spot.at, label=label, thread=spot.lane, parent=parent)

    def _writes(self, place: Place, store: CheckpointStore | None = None) -> list[Write]:
        try:
            return (store or self._store).writes(self._thread, place)
        except StashError as error:
            self._sink.note("damaged", f"writes at checkpoint {place.id} cannot be read: {error.message}")
            return []

    def _followed(self, place: Place) -> Place | None:
        """Return the checkpoint that the tasks of this one led to: of several, the one that lives on."""
        after = [child for child in self._children.get((place.namespace, place.id), ()) if child.source == "loop"]
        live = [child for child in after if (child.namespace, child.id) in self._live]
        return next(iter(live or after), None)

    def _is_abandoned(self, place: Place, task: Write | None = None) -> bool:
        """Tell whether a checkpoint, or a task that ran at it, is none that the newest one comes from."""
        if (place.namespace, place.id) not in self._live or _task_of(place.namespace) in self._abandoned:
            return True
        followed = self._followed(place) if task is not None and not _is_update(place, task) else None
        return followed is not None and (followed.namespace, followed.id) not in self._live

    def _name_of_update(self, place: Place, task: Write) -> str | None:
        children = self._children.get((place.namespace, place.id), ())
        changed = bool(children) and all(child.source in ("update", "fork") for child in children)
        return _UPDATE if changed or _is_update(place, task) else None

    def _only_node(self, place: Place) -> str | None:
        """Return the one node that wrote, where the next checkpoint names it, as older versions do."""
        followed = self._followed(place)
        names = list(mapping(followed.metadata.get("writes"))) if followed is not None else []
        return str(names[0]) if len(names) == 1 else None

    def _lane(self, namespace: str) -> str | None:
        """Return a subgraph's lane: the names of the nodes that lead to it, with a number from the second on."""
        if namespace not in self._lanes:
            path = "/".join(level.partition(":")[0] for level in namespace.split("|"))
            taken = sum(1 for lane in self._lanes.values() if lane is not None and lane.partition(" ")[0] == path)
            self._lanes[namespace] = f"{path} {taken + 1}" if taken else path
        return self._lanes[namespace]


def said_first(store: CheckpointStore, thread: Thread) -> str:
    """Return the first words that were put into a thread."""
    try:
        return said_in(store.writes(thread, Place("", thread.first, None, {})))
    except StashError:
        return ""


def _live(places: Sequence[Place]) -> set[tuple[str, str]]:
    """Return the newest checkpoint of each namespace, and those that it comes from."""
    known = {(place.namespace, place.id): place for place in places}
    live: set[tuple[str, str]] = set()
    for newest in {place.namespace: place for place in places}.values():
        here: Place | None = newest
        while here is not None and (here.namespace, here.id) not in live:
            live.add((here.namespace, here.id))
            here = known.get((here.namespace, here.parent or ""))
    return live


def _node_of(write: Write, values: Mapping[str, Json]) -> tuple[str | None, Json]:
    """Return the node that a task ran, and what it was sent, where the task's path tells."""
    if write.path.startswith(_PULL):
        return write.path.removeprefix(_PULL), ABSENT
    sent, place = values.get(_SENDS), write.path.removeprefix(_PUSH).partition(",")[0]
    if write.path.startswith(_PUSH) and place.isdecimal() and isinstance(sent, list) and int(place) < len(sent):
        send = fields_of(sent[int(place)])
        if isinstance(send, list) and len(send) >= 2:
            return str(send[0]), send[1]
    return None, ABSENT


def _is_update(place: Place, write: Write) -> bool:
    """Tell whether a write is a change from outside, and of no node that ran."""
    if write.path:
        return write.path.startswith(f"~{_INTERRUPT}")
    try:
        return write.task == str(uuid5(UUID(place.id), _INTERRUPT))
    except ValueError:
        return False


def _task_of(namespace: str) -> str:
    """Return the task that a subgraph ran in."""
    return namespace.rpartition("|")[2].partition(":")[2]


def _is_state(channel: str) -> bool:
    return channel == _ROOT or not channel.startswith(("__", *_ROUTES))


def _by_channel(written: Sequence[Write]) -> dict[str, Json]:
    """Return what was written, by channel; a list where a channel was written to more than once."""
    found: dict[str, list[Json]] = {}
    for write in written:
        found.setdefault(write.channel, []).append(write.value)
    return {channel: values[0] if len(values) == 1 else values for channel, values in found.items()}


def _span_label(name: str, written: Sequence[Write], told: Mapping[str, Json]) -> str:
    if _ERROR in told:
        return f"{name}: {told[_ERROR]}"
    channels = dict.fromkeys(write.channel for write in written if _is_state(write.channel))
    nodes = [write.channel.removeprefix(_ROUTES[0]) for write in written if write.channel.startswith(_ROUTES[0])]
    nodes += [str(fields_of(write.value)[0]) for write in written if write.channel == _SENDS and _is_send(write.value)]
    routes = f" → {', '.join(dict.fromkeys(nodes))}" if nodes else ""
    return (f"{name}: {', '.join(channels)}" if channels else name) + routes


def _is_send(value: Json) -> bool:
    send = fields_of(value)
    return isinstance(send, list) and bool(send)
