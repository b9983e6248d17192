"""An MCP server over its streams, of the standard library alone; it says which process it is and counts its calls."""

import json
import os
import sys

TOOLS = ("add", "started", "slowly", "wrong", "ask-back")
calls = 0


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def tool(name, arguments, meta):
    global calls
    calls += 1
    if name == "add":
        return text(str(arguments["a"] + arguments["b"]))
    if name == "started":
        return text(f"process {os.getpid()}, call {calls}")
    if name == "slowly":
        for done in (1, 2):
            params = {"progressToken": meta.get("progressToken"), "progress": done, "total": 2}
            send({"method": "notifications/progress", "params": params})
        return text("done")
    if name == "ask-back":
        send({"id": "q1", "method": "roots/list"})
        roots = json.loads(sys.stdin.readline())["result"]["roots"]
        return text(", ".join(root["uri"] for root in roots))
    return text("no such city", isError=True)


def answer(method, params):
    if method == "initialize":
        capabilities = {"tools": {}, "prompts": {}, "resources": {}}
        info = {"name": "weather", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    if method == "tools/call":
        return tool(params["name"], params.get("arguments") or {}, params.get("_meta") or {})
    if method == "prompts/get" and params["name"] == "ask":
        asked = {"type": "text", "text": "How is {}?".format(params["arguments"]["name"])}
        return {"messages": [{"role": "user", "content": asked}]}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "text": "about it"}]}
    return None


for line in sys.stdin:
    asked = json.loads(line)
    if "method" not in asked or "id" not in asked:
        continue
    result = answer(asked["method"], asked.get("params") or {})
    if result is None:
        send(
            {
                "id": asked["id"],
                "error": {"code": -32601, "message": "nothing of that name", "data": {"asked": asked["method"]}},
            }
        )
    else:
        send({"id": asked["id"], "result": result})
