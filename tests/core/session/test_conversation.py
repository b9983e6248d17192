"""Model calls read as a chat, whichever provider's shape they have."""

from __future__ import annotations

import pytest

from stashdbg_core.session.conversation import conversation_of


def read(make_run, given, value, **row):
    recording = make_run([{"channel": "llm", "input": given, "value": value, **row}])
    return conversation_of(recording, recording.events[0])


def turns(chat):
    return [
        (m.role, m.text, [(c.name, c.arguments, c.result.text if c.result else None) for c in m.tool_calls])
        for m in chat.messages
    ]


CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q":1}'}}
OPENAI = (
    {
        "model": "m",
        "messages": [
            {"role": "developer", "content": "be good"},
            {
                "role": "user",
                "content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": "…"}}],
            },
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "found"},
        ],
    },
    {"choices": [{"message": {"role": "assistant", "content": "done"}}]},
)
RESPONSES = (
    {
        "instructions": "be good",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"q":1}'},
            {"type": "function_call_output", "call_id": "c1", "output": "found"},
        ],
    },
    {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}]},
)
ANTHROPIC = (
    {
        "system": [{"type": "text", "text": "be good"}],
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"q": 1}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "found"}]}
                ],
            },
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
)
GEMINI = (
    {
        "systemInstruction": {"parts": [{"text": "be good"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "look", "args": {"q": 1}}}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "c1", "response": "found"}}]},
        ],
    },
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "done"}]}}]},
)


@pytest.mark.parametrize(
    ("given", "value"), [OPENAI, RESPONSES, ANTHROPIC, GEMINI], ids=["openai", "responses", "anthropic", "gemini"]
)
def test_a_chat_reads_the_same_from_every_provider(make_run, given, value):
    chat = read(make_run, given, value)
    said = turns(chat)
    assert said[0] == ("system", "be good", [])
    assert said[1][0] == "user" and said[1][1].startswith("hi")
    assert said[2] == ("assistant", "", [("look", '{"q":1}', "found")])
    assert said[3] == ("assistant", "done", [])
    assert (len(said), chat.replies, chat.omitted) == (4, 1, 0)


def test_calls_that_the_provider_runs_itself_and_compactions_are_read(make_run):
    given = [
        {"type": "compaction", "encrypted_content": "…"},
        {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "rain"}},
        {"type": "tool_search_call", "call_id": "t1", "arguments": {"query": "files"}},
        {
            "type": "tool_search_output",
            "call_id": "t1",
            "tools": [{"name": "disk", "tools": [{"name": "read"}, {"name": "write"}]}, {"name": "grep"}],
        },
        {"type": "mcp_call", "id": "m1", "name": "roll", "arguments": "{}", "output": "4"},
    ]
    assert turns(read(make_run, {"model": "m", "input": given}, "yes")) == [
        ("system", "[earlier messages, compacted and encrypted]", []),
        ("assistant", "", [("web_search", '{"type":"search","query":"rain"}', None)]),
        ("assistant", "", [("tool_search", '{"query":"files"}', "disk.read\ndisk.write\ngrep")]),
        ("assistant", "", [("roll", "{}", "4")]),
        ("assistant", "yes", []),
    ]


def test_a_request_inside_a_wrapper_and_a_bare_list_are_chats_too(make_run):
    messages = [{"role": "user", "content": "hi"}]
    wrapped = read(make_run, {"args": [], "kwargs": {"messages": messages}}, "yes")
    assert turns(wrapped) == [("user", "hi", []), ("assistant", "yes", [])]
    assert wrapped.messages[0].pointer == "/kwargs/messages/0"
    assert turns(read(make_run, messages, "yes")) == turns(wrapped)


def test_streams_are_put_together_with_their_tool_calls(make_run):
    def delta(**said):
        return {"choices": [{"delta": said}]}

    chunks = [
        delta(content="Let me "),
        delta(content="look."),
        delta(tool_calls=[{"index": 0, "id": "c9", "function": {"name": "look", "arguments": '{"q"'}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": ":2}"}}]),
    ]
    chat = read(make_run, [{"role": "user", "content": "hi"}], {"$stash": "stream", "chunks": chunks})
    assert turns(chat)[1] == ("assistant", "Let me look.", [("look", '{"q":2}', None)])
    events = [
        {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t", "name": "look"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"q":3}'}},
    ]
    chat = read(make_run, [{"role": "user", "content": "hi"}], {"$stash": "stream", "chunks": events})
    assert turns(chat)[1] == ("assistant", "", [("look", '{"q":3}', None)])


def test_a_call_that_threw_ends_in_its_error(make_run):
    error = {"$stash": "exception", "class": "builtins:TimeoutError", "text": "late"}
    chat = read(make_run, [{"role": "user", "content": "hi"}], error, outcome="throw")
    assert turns(chat)[-1] == ("error", "TimeoutError: late", [])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("u", [("user", "u")]),
        ({"prompt": "u"}, [("user", "u")]),
        ({"instructions": "s", "input": "u"}, [("system", "s"), ("user", "u")]),
        ({"model": "g", "contents": "u"}, [("user", "u")]),
        ({"system": [{"type": "text", "text": "s"}]}, [("system", "s")]),
        ({"kwargs": {"prompt": "u"}}, [("user", "u")]),
    ],
)
def test_a_text_given_to_a_model_is_a_message(make_run, given, said):
    assert [(m.role, m.text) for m in read(make_run, given, "x").messages] == [*said, ("assistant", "x")]


def thing(kind, **fields):
    return {"$stash": "model", "class": f"lib:{kind}", "fields": fields, "set": []}


def test_the_objects_of_a_providers_library_are_messages(make_run):
    called = thing("Call", id="c1", type="function", function=thing("Function", name="look", arguments='{"q":1}'))
    asked = thing("Message", role="assistant", content=None, tool_calls=[called])
    block = thing("Block", type="text", text="hi")
    given = {
        "messages": [
            {"role": "user", "content": [block]},
            asked,
            {"role": "tool", "tool_call_id": "c1", "content": "found"},
        ]
    }
    chat = read(make_run, given, thing("Completion", choices=[thing("Choice", message=asked)]))
    look = ("look", '{"q":1}', "found")
    assert turns(chat) == [
        ("user", "hi", []),
        ("assistant", "", [look]),
        ("assistant", "", [(*look[:2], None)]),
    ]
    assert chat.messages[-1].pointer == "/fields/choices/0/fields/message/fields"
    parts = [thing("Delta", content="Let me "), thing("Delta", tool_calls=[{**called["fields"], "index": 0}])]
    chunks = [thing("Chunk", choices=[thing("Choice", delta=delta)]) for delta in parts]
    chat = read(make_run, "hi", {"$stash": "stream", "chunks": chunks})
    assert turns(chat)[-1] == ("assistant", "Let me ", [("look", '{"q":1}', None)])


def test_refusals_sounds_and_calls_of_older_kinds_are_read(make_run):
    messages = [
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "never"}]},
        {"role": "assistant", "content": None, "audio": {"id": "a", "transcript": "spoken"}},
        {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "…"}}]},
        {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}},
        {"type": "item_reference", "id": "i"},
        {
            "role": "assistant",
            "content": [
                {"type": "mcp_tool_use", "id": "m1", "name": "ask", "input": {}},
                {"type": "mcp_tool_result", "tool_use_id": "m1", "content": [{"type": "text", "text": "told"}]},
            ],
        },
        {"role": "user", "message": {"role": "assistant", "content": "nested"}},
    ]
    assert turns(read(make_run, messages, {"tool_calls": [CALL]})) == [
        ("assistant", "never", []),
        ("assistant", "spoken", []),
        ("user", "[input_audio]", []),
        ("assistant", "", [("look", "{}", None)]),
        ("item_reference", '{"type":"item_reference","id":"i"}', []),
        ("assistant", "", [("ask", "{}", "told")]),
        ("assistant", "nested", []),
        ("assistant", "", [("look", '{"q":1}', None)]),
    ]


@pytest.mark.parametrize(
    "given",
    [
        None,
        5,
        {},
        [],
        {"messages": []},
        {"messages": "x"},
        {"messages": [1, 2]},
        {"q": "x"},
        [{"role": 1, "content": 2}],
    ],
)
def test_what_is_no_chat_is_none(make_run, given):
    assert read(make_run, given, "x") is None


@pytest.mark.parametrize("given", ["text", {"input": "x"}, {"prompt": "x"}])
def test_a_text_given_to_something_else_is_no_chat(make_run, given):
    assert read(make_run, given, "x", channel="tool") is None


def test_odd_messages_end_in_text_and_never_fail(make_run):
    odd = [
        {"role": "user", "content": {"deep": [1]}},
        {
            "role": "assistant",
            "content": [None, 5, {"type": 7}, {"type": "tool_use"}],
            "tool_calls": [1, {"function": 2}],
        },
        {"role": "tool", "tool_call_id": "nobody", "content": None},
        {"role": "x", "content": "\x1b[2J", "type": {"no": "word"}},
        7,
    ]
    roles = [role for role, _, _ in turns(read(make_run, {"messages": odd}, {"choices": [{"message": 4}]}))]
    assert roles == ["user", "assistant", "tool", "x"]


@pytest.mark.parametrize("name", ["message", "content", "parts", "text"])
def test_messages_in_messages_end_somewhere(make_run, name):
    inside: object = "deep"
    for _ in range(600):
        inside = {"role": "user", "content": None, name: [inside] if name != "message" else inside}
    chat = read(make_run, [inside], {"choices": [{"message": inside}]})
    assert "deep" in chat.messages[0].text and "deep" in chat.messages[-1].text


def test_objects_in_objects_end_somewhere(make_run):
    inside = {"role": "user", "content": "deep"}
    for _ in range(600):
        inside = thing("Box", message=inside)
    assert read(make_run, [{"role": "user", "content": inside}], inside).messages[0].role == "user"


def test_a_chat_of_many_messages_keeps_the_last(make_run):
    messages = [{"role": "user", "content": f"m{n}"} for n in range(2500)]
    chat = read(make_run, messages, "x")
    assert (chat.omitted, chat.messages[0].text, len(chat.messages)) == (500, "m500", 2001)


def test_the_demo_reads_as_a_chat_with_results_beneath_their_calls(demo):
    chat = conversation_of(demo, demo.events[demo.events.position_of(60)])
    asked = [call for message in chat.messages for call in message.tool_calls]
    assert [call.name for call in asked] == [
        "lookup_order",
        "refund_policy",
        "customer_history",
        "fx_rate",
        "issue_refund",
    ]
    assert [call.result is not None for call in asked] == [True, True, True, True, False]
    assert '"rate": 1.087' in asked[3].result.text


def test_a_tool_that_failed_is_an_error_in_bedrocks_shape_too(make_run):
    used = {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"q": 1}}}
    failed = {"toolResult": {"toolUseId": "t1", "content": [{"text": "no such place"}], "status": "error"}}
    given = {"messages": [{"role": "assistant", "content": [used]}, {"role": "user", "content": [failed]}]}
    said = {"output": {"message": {"role": "assistant", "content": [{"text": "Sorry."}]}}}
    (asked, *_) = read(make_run, given, said).messages
    result = asked.tool_calls[0].result
    assert (result.text, result.is_error) == ("no such place", True)
