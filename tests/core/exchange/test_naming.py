"""What requests are called: model calls by path and body, JSON-RPC, and the rest; nothing secret in an input."""

from __future__ import annotations

import json

import pytest

from stashdbg_core.exchange.naming import answered_model, name_exchange, safe_url

CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
LLM = [
    ("https://api.openai.com/v1/chat/completions", CHAT, "m"),
    ("http://localhost:4000/chat/completions", CHAT, "m"),
    ("http://localhost:8080/v1/chat/completions", {"messages": []}, "default"),
    ("https://x.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=1", {"messages": []}, "gpt-4o"),
    ("https://api.openai.com/v1/responses", {"model": "m", "input": "hi"}, "m"),
    ("https://api.openai.com/v1/completions", {"model": "m", "prompt": "hi"}, "m"),
    ("https://api.mistral.ai/v1/agents/completions", {"agent_id": "ag", "prompt": "x"}, "ag"),
    ("https://api.openai.com/v1/embeddings", {"model": "e", "input": ["a"]}, "e"),
    ("https://api.anthropic.com/v1/messages?beta=true", {**CHAT, "max_tokens": 9}, "m"),
    ("https://g.googleapis.com/v1beta/models/gemini-2:generateContent?key=AIza", {"contents": []}, "gemini-2"),
    ("https://g.googleapis.com/v1/models/gemini%2F2:streamGenerateContent?alt=sse", {"contents": []}, "gemini/2"),
    ("https://e.googleapis.com/v1/projects/p/publishers/anthropic/models/claude:rawPredict", CHAT, "claude"),
    ("https://cloudcode-pa.googleapis.com/v1internal:streamGenerateContent", {"model": "g", "request": {}}, "g"),
    ("https://bedrock-runtime.aws.example/model/a.claude%3A0/invoke", {"messages": []}, "a.claude:0"),
    ("https://bedrock-runtime.aws.example/model/us.nova/converse-stream", {"messages": []}, "us.nova"),
    ("https://api.cohere.com/v1/chat", {"message": "hi"}, "cohere"),
    ("https://api.cohere.com/v2/chat", CHAT, "m"),
    ("http://127.0.0.1:11434/api/chat", CHAT, "m"),
    ("http://127.0.0.1:11434/api/generate", {"model": "llama", "prompt": "x"}, "llama"),
]  # fmt: skip
OTHER = [
    ("GET", "https://api.openai.com/v1/responses/resp_1", b"", "GET api.openai.com/v1/responses/resp_1"),
    ("POST", "https://api.anthropic.com/v1/messages/count_tokens", json.dumps(CHAT).encode(), None),
    ("POST", "https://api.openai.com/v1/threads/t/messages", b'{"role":"user","content":"x"}', None),
    ("POST", "https://app.example/chat", b'{"message":"hi"}', "POST app.example/chat"),
    ("POST", "https://app.example/v1/chat/completions", b"not json", None),
    ("post", "https://user:pw@APP.example:443/a?b=1#c", b"x=1", "POST app.example/a"),
    ("POST", "https://app.example", b"", "POST app.example/"),
    ("POST", "http://[bad/x", b"", "POST bad/x"),
]


@pytest.mark.parametrize(("url", "body", "model"), LLM)
def test_model_calls_are_known_by_path_and_body_on_any_host(url, body, model):
    named = name_exchange("POST", url, {"content-type": "application/json"}, json.dumps(body).encode())
    assert (named.channel, named.key, named.input) == ("llm", model, body)


@pytest.mark.parametrize(("method", "url", "body", "key"), OTHER)
def test_everything_else_is_a_plain_request(method, url, body, key):
    named = name_exchange(method, url, {}, body)
    assert named.channel == "http" and named.key in (key, named.key if key is None else key)
    assert named.input["method"] == method.upper() and set(named.input) == {"method", "url", "body"}


@pytest.mark.parametrize(
    ("body", "key", "given"),
    [
        ({"id": 3, "method": "tools/call", "params": {"name": "add", "arguments": {}}}, "add", None),
        ({"id": 3, "method": "tools/list"}, "tools/list", {"method": "tools/list"}),
        ({"method": "notifications/initialized"}, "notifications/initialized", None),
        ({"id": 1, "result": {}}, "response", {"result": {}}),
    ],
)
def test_json_rpc_is_named_by_server_and_tool_or_method(body, key, given):
    named = name_exchange("POST", "http://127.0.0.1:8000/mcp/", {}, json.dumps({"jsonrpc": "2.0", **body}).encode())
    assert (named.channel, named.key) == ("mcp", f"127.0.0.1:8000/mcp:{key}")
    assert "id" not in named.input and "jsonrpc" not in named.input and given in (None, named.input)


def test_a_batch_of_one_is_that_one():
    call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    keys = [name_exchange("POST", "http://h/m", {}, json.dumps(batch).encode()).key for batch in ([call], [call, call])]
    assert keys == ["h/m:ping", "h/m:batch"]


def test_no_secret_of_a_url_is_in_an_input():
    url = "https://u:p@h.example/v1/x?key=AIza1&a=1&api_key=2&X-Amz-Signature=3&access_token=4&b=%20#f"
    assert safe_url(url) == "https://h.example/v1/x?a=1&b=%20"


def test_the_model_that_answered_is_read_from_any_shape():
    trees = [
        {"model": "a"},
        {"modelVersion": "b"},
        {"response": {"model": "c"}},
        {"message": {"model": "d"}},
        {},
        [],
        None,
    ]
    assert [answered_model(tree) for tree in trees] == ["a", "b", "c", "d", None, None, None]
