"""Logs of MCP: bare, wrapped, a cassette, and Claude Desktop's; pairs by id for each side."""

from __future__ import annotations

import json

import pytest

from stashdbg_core.formats.opening import detect, read_foreign
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.session.summary import summary
from tests.formats.conftest import counts, imported


def told(recording):
    tree = recording.blobs.tree
    return [(e.channel, e.key, e.outcome, e.input_ref and tree(e.input_ref), tree(e.ref)) for e in recording.events]


def test_wrapped_lines_and_a_cassette_of_the_same_session(formats_data):
    lines, cassette = (
        imported(formats_data / "mcp_log" / name) for name in ("mcp_stdio.jsonl", "weather.mcp-cassette.json")
    )
    assert counts(lines) == {"mcp": 6, "tool": 6, "throws": 3, "pending": 0}
    assert told(lines) == told(cassette)
    assert [e.key for e in lines.events][:4] == [
        "weather:initialize", "weather:notifications/initialized", "weather:tools/list", "weather/get_weather",
    ]  # fmt: skip
    assert lines.events[0].ms == 1321.0 and lines.events[3].label == "get_weather: Paris"


def test_bare_lines_are_paired_too(formats_data):
    wrapped = (formats_data / "mcp_log" / "mcp_stdio.jsonl").read_text().splitlines()
    bare = "".join(json.dumps(json.loads(line)["message"]) + "\n" for line in wrapped)
    assert told(read_foreign(bare.encode())) == told(imported(formats_data / "mcp_log" / "mcp_stdio.jsonl"))
    batch = "".join(json.dumps([json.loads(line)["message"]]) + "\n" for line in wrapped)
    assert counts(read_foreign(batch.encode()))["tool"] == 6


def test_claude_desktops_log_of_two_servers(formats_data):
    recording = imported(formats_data / "mcp_log" / "claude_desktop.log")
    assert [(e.key, e.outcome, e.ms) for e in recording.events] == [
        ("weather:initialize", "return", 30.0),
        ("weather:notifications/initialized", "return", None),
        ("files/read", "throw", 140.0),
        ("weather/forecast", "return", 100.0),
        ("weather:roots/list", "return", 1.0),
    ]
    assert recording.events[4].label == "roots/list, asked by the server"
    assert summary(recording, recording.events[3]) == "Paris → sunny { metadata }"
    assert recording.meta["source"]["damagedLines"] == 1


DESKTOP = [
    ("info", "Initializing server..."),
    ("info", 'Message from client: {"method":"initialize","params":{},"jsonrpc":"2.0","id":0}'),
    ("info", 'Message from client: {"method":"initialize","params":{},"jsonrpc":"2.0","id":0}'),
    ("info", 'Message from server: {"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"Memory","version":"1"}}}'),
    ("info", 'Message from server: {"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"Memory","version":"1"}}}'),
    ("info", 'Message from client: {"method":"tools/call","params":{"name":"read"},"jsonrpc":"2.0","id":1}'),
    ("info", "Server transport closed unexpectedly, this is likely due to the process exiting early."),
    ("error", "Server disconnected. For troubleshooting guidance, please visit our website"),
    ("info", 'Message from client: {"method":"tools/call","params":{"name":"list"},"jsonrpc":"2.0","id":1}'),
    ("info", 'Message from server: {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}'),
]


@pytest.mark.parametrize(
    "line",
    [
        "{at} [memory] [{level}] {text} {{ metadata: undefined }}",  # mcp-server-memory.log, newer
        "{at} [memory] [{level}] {text}",  # the same, older
        "{at} [{level}] [memory] {text}",  # mcp.log, of all servers
        "stray output {at} [{level}] [memory] {text}\r",
    ],
)
def test_claude_desktops_logs_of_one_server_and_of_all(line):
    lines = [
        line.format(at=f"2025-07-19T23:47:{at:02}.682Z", level=level, text=text)
        for at, (level, text) in enumerate(DESKTOP)
    ]
    recording = read_foreign("\n".join([*lines, "a stack trace", ""]).encode())

    assert [(e.key, e.outcome, e.ms) for e in recording.events] == [
        ("memory:initialize", "return", 2000.0),
        ("memory:initialize", "return", 2000.0),
        ("memory/read", "throw", None),
        ("memory/list", "throw", 1000.0),
    ]
    assert counts(recording)["pending"] == 1
    assert recording.meta["source"]["skipped"] == {"log lines that are no message": 4}


def rpc(sender, **message):
    return {"direction": f"{sender}->x", "payload": json.dumps({"jsonrpc": "2.0", **message})}


def test_both_sides_number_from_one_and_answers_may_never_come():
    records = [
        rpc("client", id=1, method="tools/call", params={"name": "add"}),
        rpc("server", id=1, method="sampling/createMessage", params={"messages": []}),
        rpc("client", id=1, result={"role": "assistant"}),
        rpc("client", id="1", method="ping"),
        rpc("server", id=1, result={"content": [], "isError": True}),
        rpc("server", id=7, result={}),
        rpc("client", id=8, method="ping"),
    ]
    recording = read_foreign("".join(json.dumps(record) + "\n" for record in records).encode())
    assert [(e.channel, e.key, e.outcome) for e in recording.events] == [
        ("tool", "add", "throw"),
        ("mcp", "sampling/createMessage", "return"),
        ("mcp", "ping", "throw"),
        ("mcp", "unknown", "return"),
        ("mcp", "ping", "throw"),
    ]
    assert counts(recording)["pending"] == 2 and b"not in the file" in recording.events[3].extra["cut"]
    assert recording.events[0].input_ref is None


@pytest.mark.parametrize("text", ["plain text\n", '{"jsonrpc": "1.0", "method": "x"}\n', '{"message": {"a": 1}}\n', ""])
def test_what_is_no_log_of_mcp_is_not_taken_for_one(text):
    found = detect(ForeignSource(text.encode()))
    assert found is None or found.name != "mcp-log"
