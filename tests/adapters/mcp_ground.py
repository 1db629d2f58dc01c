"""MCP servers that a test writes: a few lines of plain Python on pipes, or answers of a server on loopback."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evatui.kernel.admission.adapters import load_adapters
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.workspace.files import SourceFile
from tests.adapters.ground import adapter, program
from tests.host.web import Received, answer

__all__ = ["ADD", "Answers", "adapter_of", "mcp", "mcp_http", "serving_tools", "tool"]

ADD = {
    "name": "add",
    "description": "Adds two numbers.",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    },
}

_SERVER = """
def call(name, arguments):
    return {"content": [{"type": "text", "text": str(arguments["a"] + arguments["b"])}]}

def tools():
    return {"tools": TOOLS}

def hello(message):
    return {"protocolVersion": VERSION, "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "scripted", "version": "9"}}

VERSION = "2025-06-18"
asked = {}

def serve(page=lambda cursor: tools()):
    while True:
        message = hear()
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            say({"id": number, "result": hello(message)})
        elif method == "tools/list":
            say({"id": number, "result": page(message["params"].get("cursor") if message.get("params") else None)})
        elif method == "tools/call":
            asked.update(message["params"])
            say({"id": number, "result": call(message["params"]["name"], message["params"].get("arguments") or {})})
        elif number is not None:
            say({"id": number, "error": {"code": -32601, "message": "unknown"}})
"""


def tool(name: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "x", "inputSchema": {"type": "object"}, **more}


def serving_tools(*tools: Any, more: str = "", run: str = "serve()") -> str:
    """The body of a server with these tools; ``more`` redefines what a test wants otherwise."""
    return f"{_SERVER}\nTOOLS = json.loads({json.dumps(json.dumps(tools))})\n{more}\n{run}\n"


def mcp(folder: Path, body: str, more: str = "tools: ['*']", name: str = "srv", **fields: str) -> dict[str, str]:
    """The file of an adapter whose server is a program."""
    block = f"{{server: stdio, command: {program(folder, body, f'{name}.py')}, {more}}}"
    return adapter(name, "mcp", block, "[]", **fields)


def mcp_http(url: str, more: str = "tools: ['*'], allow_loopback: true", name: str = "srv") -> dict[str, str]:
    return adapter(name, "mcp", f"{{server: http, url: '{url}', {more}}}", "[]")


def adapter_of(file: Mapping[str, str]) -> Adapter:
    """The adapter of a file, without a workspace around it."""
    [text] = file.values()
    source = SourceFile("a.yaml", text.encode(), hashlib.sha256(text.encode()).hexdigest(), (0, 0, 0, 0, 0))
    [adapter] = load_adapters([source], lambda _: []).adapters
    return adapter


class Answers:
    """An MCP server over HTTP: what it answers to each method, as the bytes of a response or as a result."""

    def __init__(self, *tools: Any) -> None:
        self.by_method: dict[str, Callable[[dict[str, Any]], Any]] = {
            "initialize": lambda _: {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "web", "version": "1"},
            },
            "tools/list": lambda _: {"tools": list(tools)},
            "tools/call": lambda _: {"content": [{"type": "text", "text": "done"}]},
        }
        self.session = "s-1"

    def __call__(self, received: Received) -> bytes:
        if not received.line.startswith("POST"):
            return answer("", "405 No")
        message = json.loads(received.body)
        if "id" not in message:
            return answer("", "202 Accepted")
        work = self.by_method.get(message["method"])
        if work is None:
            error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "unknown"}}
            return answer(json.dumps(error), Content_Type="application/json")
        found = work(message)
        if isinstance(found, bytes):
            return found
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": found})
        return answer(body, Content_Type="application/json", Mcp_Session_Id=self.session)
