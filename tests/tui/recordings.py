"""Recordings made for the screen's tests: an agent's run, a hostile one, and one of any length."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from stashdbg_core.model import RawObject, RecordedEvent, Recording
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList

BEGAN = 1_790_000_000_000.0

HOSTILE = (
    '[/] [b] [@click=app.quit]x[/] {"a": 1} \x1b]52;c;cHdu\x07 \x1b]0;PWN\x07 \x1b[2J \x9b31m \x00 '
    "\u202e evil \u2066x\u2069 "
    "pay\u200bpal \U000e0041 한국어 👨‍👩‍👧 🏳️‍🌈 👍🏽 e"
    + "\u0301" * 10
    + " ｗｉｄｅ مرحبا \ud800 tab\there\r\ncrlf\rbare $text-error"
)
RAW_ESCAPES = (b"\x1b]52;c;cHdu", b"\x1b]0;PWN", b"\x1b[2J ", b"\xc2\x9b31m", b"\xe2\x80\xae evil")


class Tape:
    """A recording in the making."""

    def __init__(self, recording_id: str = "agent-run") -> None:
        self.blobs = BlobStore()
        self.events: list[RecordedEvent] = []
        self.id = recording_id
        self._at = BEGAN
        self._ordinals: dict[tuple[str, str], int] = {}

    def add(self, channel, key, value, given=None, *, ms=12.5, outcome="return", **more) -> RecordedEvent:
        ordinal = self._ordinals.get((channel, key), 0)
        self._ordinals[channel, key] = ordinal + 1
        event = RecordedEvent(
            seq=len(self.events),
            channel=channel,
            key=key,
            ordinal=ordinal,
            outcome=outcome,
            ref=self.blobs.put(value),
            input_ref=None if given is None else self.blobs.put(given),
            at=self._at,
            ms=ms,
            **more,
        )
        self._at += (ms or 0) + 3
        self.events.append(event)
        return event

    def done(self, meta: Mapping[str, object] | None = None) -> Recording:
        return Recording(self.id, EventList(self.events), self.blobs, RawObject.of(meta or {"complete": True}))


def exception(name: str, text: str) -> dict[str, object]:
    return {"$stash": "exception", "class": f"builtins:{name}", "text": text, "args": [text]}


CITIES = ("Lisbon", "Madrid", "Barcelona", "Paris", "Berlin", "Warsaw", "Vilnius", "Riga", "Tallinn")
FAILING_LEG = 3


class AgentTape(Tape):
    """An agent that researches trains, its chat kept as it grows."""

    def __init__(self) -> None:
        super().__init__()
        self.chat: list[object] = [
            {"role": "system", "content": "You are a travel agent.\nBook trains, never planes.\nAnswer briefly."},
            {"role": "user", "content": "From Lisbon to Tallinn by train, second week of June, two people."},
        ]

    def ask(self, text: str | None, calls: Sequence[tuple[str, Mapping[str, object]]] = (), ms: float = 1240.0) -> None:
        """Let the model answer with a text or with requests for tools."""
        chat = self.chat
        requests = [
            {
                "id": f"call_{len(chat)}{n}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(given)},
            }
            for n, (name, given) in enumerate(calls)
        ]
        reply = {"role": "assistant", "content": text, "tool_calls": requests}
        usage = {"prompt_tokens": 214 + 90 * len(chat), "completion_tokens": 61}
        self.add(
            "llm", "gpt-4.1-mini",
            {"id": f"chatcmpl-{len(chat)}", "model": "gpt-4.1-mini", "choices": [
                {"index": 0, "message": reply, "finish_reason": "tool_calls" if calls else "stop"}], "usage": usage},
            {"model": "gpt-4.1-mini", "temperature": 0.2, "messages": list(chat)},
            ms=ms, thread="main", site="agent.py:88 ask", call_id=f"req_{len(chat):04d}",
        )  # fmt: skip
        chat.append(reply)

    def travel(self, leg: int) -> None:
        """Ask about one leg, and let two tools answer; the fourth leg fails once."""
        start, end = CITIES[leg : leg + 2]
        given = {"from": start, "to": end, "date": f"2026-06-{8 + leg:02d}"}
        self.ask(None, [("search_trains", given), ("weather", {"city": end})], ms=900 + 310 * (leg % 4))
        offers = [
            {"train": f"IC {100 + leg}", "departs": "08:15", "arrives": "14:40", "price": 49.9 + leg, "seats": 12},
            {"train": f"NJ {400 + leg}", "departs": "21:05", "arrives": "07:10", "price": 89.0, "seats": 3},
        ]
        found = {"from": start, "to": end, "offers": offers}
        where = {"thread": "worker-1", "site": "tools.py:31 search_trains"}
        if leg == FAILING_LEG:
            failure = exception("TimeoutError", "rail API did not answer within 5 s (host rail.example)")
            self.add("tool", "search_trains", failure, given, ms=5003.0, outcome="throw", **where)
            self.add("random", "random.uniform", 0.3137, ms=0.0)
        self.add("tool", "search_trains", found, given, ms=180 + 40 * leg, **where)
        sky = {"city": end, "celsius": 14 + leg, "sky": "clear"}
        inside = {"thread": "worker-2", "parent": len(self.events) - 1}
        self.add("mcp", "weather.forecast", sky, {"city": end}, ms=74.0, **inside)
        self.chat.append({"role": "tool", "content": json.dumps(found)})
        self.add("clock", "time.time", BEGAN / 1000 + leg, ms=0.0)

    def stream_question(self) -> None:
        """Let the model answer in pieces."""
        words = ["Shall", "I", "hold", "seats", "on", "the", "night", "train", "to", "Berlin", "?"]
        chunks = [{"choices": [{"delta": {"content": word + " "}}]} for word in words]
        times = [12.0 * n for n in range(len(chunks))]
        answer = {"$stash": "stream", "kind": "async", "chunks": chunks, "times": times, "ending": "exhausted"}
        self.add("llm", "gpt-4.1-mini", answer, {"stream": True, "messages": self.chat[:2]}, ms=860.0, thread="main")


def agent_run() -> Recording:
    """An agent that researches trains: chat, parallel tools, a failure and a retry, a stream, clock and randomness."""
    tape = AgentTape()
    tape.add("clock", "time.time", BEGAN / 1000, ms=0.0)
    tape.add("random", "random.random", 0.8444218515250481, ms=0.0)
    for leg in range(len(CITIES) - 1):
        tape.travel(leg)
    tape.ask(
        "Lisbon to Tallinn takes eight legs and about 61 hours.\n\nCheapest: 432.20 EUR. NJ 403: 3 seats left.",
        ms=2210.0,
    )
    tape.stream_question()
    seats = {"train": "NJ 403", "seats": 2}
    tape.add("tool", "hold_seats", {"$stash": "pending"}, seats, ms=None, outcome="throw", thread="main")
    return tape.done({"complete": True, "producer": {"name": "stashdbg", "version": "0"}})


def hostile_run() -> Recording:
    """Every recorded text is one that hurts screens."""
    tape = Tape(HOSTILE)
    stream = {"$stash": "stream", "chunks": [HOSTILE] * 5, "ending": HOSTILE}
    failure = exception("E" + HOSTILE, HOSTILE)
    nested = {HOSTILE: [HOSTILE, {"k": HOSTILE * 3}]}
    texts = [HOSTILE, nested, [HOSTILE] * 3, "A" * 5_000_000, failure, stream, "[/INST]", "\\", "line\n" * 2000]
    extra = {HOSTILE: json.dumps(HOSTILE).encode()}
    odd = {"label": HOSTILE, "thread": HOSTILE, "call_id": HOSTILE, "site": HOSTILE, "extra": extra}
    for place, value in enumerate(texts):
        outcome = "throw" if value is failure else "return"
        tape.add(HOSTILE if place % 2 else "llm", HOSTILE, value, HOSTILE, outcome=outcome, **odd)
    gone = RecordedEvent(seq=len(texts), channel="tool", key=HOSTILE, ordinal=9, outcome=HOSTILE, ref=HOSTILE)
    wrong = RecordedEvent(seq=len(texts) + 1, channel="", key="", ordinal=0, outcome="damaged", ref="", damage=HOSTILE)
    tape.events += [gone, wrong]
    return tape.done({"complete": False})


class Endless(Sequence[RecordedEvent]):
    """As many events as wanted, made when looked at."""

    def __init__(self, count: int, refs: Sequence[str]) -> None:
        self._count, self._refs = count, refs

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(self._count))]
        index = range(self._count)[index]
        return RecordedEvent(
            seq=index,
            channel=self.channel_at(index),
            key=self.key_at(index),
            ordinal=index // 4,
            outcome="return",
            ref=self._refs[index % len(self._refs)],
            at=BEGAN + index * 10,
            ms=self.ms_at(index),
        )

    def __iter__(self) -> Iterator[RecordedEvent]:
        return (self[index] for index in range(self._count))

    def position_of(self, seq: int) -> int | None:
        return seq if 0 <= seq < self._count else None

    def channel_at(self, index: int) -> str:
        return ("llm", "tool", "mcp", "clock")[index % 4]

    def key_at(self, index: int) -> str:
        return ("chat", "search", "weather", "time.time")[index % 4]

    def outcome_at(self, index: int) -> str:
        return "throw" if index % 10_007 == 5000 else "return"

    def ordinal_at(self, index: int) -> int:
        return index // 4

    def ms_at(self, index: int) -> float | None:
        return float(index % 997)

    def at_at(self, index: int) -> float | None:
        return BEGAN + index * 10

    def thread_at(self, index: int) -> str | None:
        return None


def endless_run(count: int) -> Recording:
    """A run of ``count`` events over a few values."""
    blobs = BlobStore()
    refs = [blobs.put({"answer": place, "text": "the same few words " * place}) for place in range(1, 8)]
    return Recording("endless", Endless(count, refs), blobs, RawObject.of({"complete": True}))
