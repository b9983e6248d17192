"""Sessions of opencode: what ``opencode export`` writes, and the database that it keeps them in.

Sessions of sub-agents are sessions of their own; the ``task`` tool that started one names it in its metadata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.format import Format, RunSummary
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.readers.opencode.session import OpencodeSession
from stashdbg_core.formats.record_by_record import each_record
from stashdbg_core.formats.shapes import object_of, objects_of
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.sqlite_file import Database, open_database
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.parse import parse_json

_TABLES = {
    "session": ("id", "title", "directory", "version", "parent_id", "revert", "time_created"),
    "message": ("id", "session_id", "data"),
    "part": ("id", "session_id", "message_id", "data"),
}
_FACTS = ("directory", "version", "parentID", "agent", "model", "summary", "share")


def _detect(head: Head) -> bool:
    if head.is_sqlite:
        return all(head.tables.get(name, frozenset()).issuperset(columns) for name, columns in _TABLES.items())
    if head.top is not None:
        info = head.inside("info") if "messages" in head.top else None
        return info is not None and "id" in info and "time" in info and ("projectID" in info or "directory" in info)
    return head.first is not None and _is_message(head.first)


def _is_message(node: Mapping[str, Any]) -> bool:
    info = node.get("info")
    return isinstance(info, dict) and "sessionID" in info and isinstance(node.get("parts"), list)


def _runs(source: ForeignSource) -> Sequence[RunSummary]:
    if Head(source).is_sqlite:
        with open_database(source) as database:
            return [_summary(info, source.name) for info in _sessions(database)]
    info, _ = _exported(source)
    return (_summary(info, source.name),)


def _summary(info: Mapping[str, Any], name: str) -> RunSummary:
    time = info.get("time")
    started = epoch_ms(time.get("created")) if isinstance(time, dict) else None
    kind = "sub-agent, " if info.get("parentID") else ""
    return RunSummary(
        label_of(str(info.get("title") or name)), started, detail=label_of(f"{kind}{info.get('directory') or ''}")
    )


def _read(source: ForeignSource, run: int, sink: RunSink) -> None:
    if Head(source).is_sqlite:
        with open_database(source) as database:
            info = _sessions(database)[run]
            messages = _stored(database, info["id"], sink)
    else:
        info, messages = _exported(source)
    named = info.get("id")
    sink.identify(named if isinstance(named, str) else None)
    if info.get("title"):
        sink.title(str(info["title"]))
    sink.meta(sessionId=named, **{name: info.get(name) for name in _FACTS})
    revert = info.get("revert")
    session = OpencodeSession(
        sink, str(revert["messageID"]) if isinstance(revert, dict) and "messageID" in revert else None
    )
    each_record(((None, message) for message in messages), sink, session.message)
    session.close()


def _exported(source: ForeignSource) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a session and its messages, from a file or an answer of opencode's server."""
    tree = source.json()
    if not isinstance(tree, dict):
        messages = objects_of(tree)
        first = messages[0].get("info") if messages else None
        return {"id": first.get("sessionID") if isinstance(first, dict) else None}, messages
    return object_of(tree.get("info")), objects_of(tree.get("messages"))


def _sessions(database: Database) -> list[dict[str, Any]]:
    """Return the sessions of a database, the newest first, as an export describes them."""
    found = []
    for name, title, directory, version, parent, revert, created in database.rows(
        "SELECT id, title, directory, version, parent_id, revert, time_created FROM session"
    ):
        facts = {"id": name, "title": title, "directory": directory, "version": version, "parentID": parent}
        found.append({**facts, "revert": _tree(revert), "time": {"created": created}})
    return sorted(found, key=lambda info: (-(epoch_ms(info["time"]["created"]) or 0), str(info["id"])))


def _stored(database: Database, session: Json, sink: RunSink) -> list[dict[str, Any]]:
    """Return the messages of a session as an export has them; ids of both tables grow with time."""
    messages: dict[Json, dict[str, Any]] = {}
    for name, data in database.rows("SELECT id, data FROM message WHERE session_id IS ?", (session,)):
        info = _tree(data)
        if info is None:
            sink.note("damaged", f"message {name} is no JSON object; it is left out")
        else:
            messages[name] = {"info": {**info, "id": name}, "parts": []}
    listed = []
    for name, message, data in database.rows("SELECT id, message_id, data FROM part WHERE session_id IS ?", (session,)):
        part = _tree(data)
        if part is None or message not in messages:
            sink.note("damaged", f"part {name} of message {message} is left out")
        else:
            listed.append((str(name), message, part))
    for _, message, part in sorted(listed, key=lambda row: row[0]):
        messages[message]["parts"].append(part)
    return [messages[name] for name in sorted(messages, key=str)]


def _tree(data: Json) -> dict[str, Any] | None:
    if not isinstance(data, str | bytes):
        return None
    try:
        tree = parse_json(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    except StashError:
        return None
    return tree if isinstance(tree, dict) else None


FORMAT = Format(
    "opencode",
    "opencode session",
    _detect,
    _runs,
    _read,
    exact=("answers of the model", "tool inputs, results and times", "token usage and cost", "undone messages"),
    inferred=("prompts of model calls: the conversation so far", "end of a model call: its last part"),
    missing=("system prompt and tool definitions", "what a compaction kept beside its summary"),
)
