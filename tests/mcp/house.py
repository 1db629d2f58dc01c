"""A workspace that serves MCP clients, and the clients: real processes, real pipes and real HTTP on the loopback."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evatui.control.kernel import Kernel
from evatui.kernel.model.call import Actor, CallerType
from evatui.mcp.http import HttpServer
from evatui.mcp.serving import serve_beside
from tests.cli.real import holding
from tests.support.workspaces import write

if TYPE_CHECKING:
    from mcp import Client

__all__ = ["ERAS", "FILES", "ORIGIN", "POLICY", "TOKENS", "Answer", "House", "handler", "housed", "modern", "over_pipe"]

ERAS = ("legacy", "2026-07-28")
ORIGIN = "https://app.example"
TOKENS = {"ann": "token-of-ann", "bob": "token-of-bob", "eve": "token-of-eve"}
MODERN = "2026-07-28"
OLD = "2025-11-25"


def handler(name: str, body: str, *, spec: str = "", **manifest: str) -> dict[str, str]:
    """An MCP handler with the tool ``test.<name>``; ``body`` is its whole script."""
    lines = "".join(
        f"{key}: {value}\n"
        for key, value in {"input_schema": "{type: object}", "output_schema": "{}", **manifest}.items()
    )
    return {
        f"capabilities/{name}.yaml": f"id: {name}\nkind: lua_mcp_handler\nversion: 1.0.0\n"
        f"mcp: {{tool_name: test.{name}, description: Does {name}{spec}}}\n"
        f"lua: {{script: capabilities/mcp_handlers/{name}.lua}}\n{lines}",
        f"capabilities/mcp_handlers/{name}.lua": body,
    }


def principals(tokens: Mapping[str, str]) -> str:
    tools = {"ann": '["*"]', "bob": "[test.echo, test.slow]", "eve": "[]"}
    lines = [
        f"    {name}: {{token_sha256: {hashlib.sha256(token.encode()).hexdigest()}, tools: {tools[name]}}}\n"
        for name, token in tokens.items()
    ]
    return "".join(["  principals:\n", *lines]) if lines else ""


def policy(tokens: Mapping[str, str], *, deny: str = "[]") -> str:
    return (
        f'version: 1\nmcp_server:\n  tools: {{allow: ["test.*"], deny: {deny}}}\n  capabilities: [plain.shown]\n'
        + principals(tokens)
    )


POLICY = "capabilities/policies/default.yaml"
ECHO = "function invoke(ctx, request) return {ok = true, result = request} end"
SPIN = "while true do end"
FILES: Mapping[str, str] = {
    "eva.yaml": f"mcp_server: {{bind: '127.0.0.1:0', allowed_origins: ['{ORIGIN}']}}\n",
    **handler("echo", ECHO),
    **handler("slow", f"function invoke(ctx, request) {SPIN} end", limits="{timeout_ms: 20000}"),
    **handler("quick", f"function invoke(ctx, request) {SPIN} end", limits="{timeout_ms: 50}"),
    **handler(
        "steps",
        "function invoke(ctx, request)\n"
        "  for n = 1, 2 do\n"
        "    ctx.host.progress({done = n, total = 2, message = 'step ' .. n})\n"
        "    local t = os.clock() while os.clock() - t < 0.13 do end\n"
        "  end\n"
        "  return {ok = true, result = {}}\nend",
    ),
    **handler("throws", "function invoke(ctx, request) error('secret in ' .. request.payload.path) end"),
    **handler(
        "declares",
        "function invoke(ctx, request)\n"
        "  return {ok = false, error = {kind = request.payload.kind, message = 'no such thing: x'}}\nend",
    ),
    **handler(
        "typed",
        "function invoke(ctx, request) return {ok = true, result = request.payload.gives} end",
        input_schema="{type: object, properties: {gives: {}}, required: [gives], additionalProperties: false}",
        output_schema="{type: array, items: {type: integer}}",
        limits="{max_output_bytes: 4096}",
    ),
    **handler(
        "shows",
        "function invoke(ctx, request)\n"
        "  return {ok = true, result = {}, meta = {mcp_content = request.payload.content}}\nend",
    ),
    **handler("bound", ECHO, input_schema="{type: object, properties: {n: {type: string, x-mcp-header: Number}}}"),
    "capabilities/plain.yaml": "id: plain\nkind: lua_tool\nversion: 1.0.0\ncapabilities: [plain.shown, plain.hidden]\n"
    "lua: {script: capabilities/tools/plain.lua}\ninput_schema: {}\noutput_schema: {}\nside_effects: mutating\n",
    "capabilities/tools/plain.lua": ECHO,
    POLICY: policy(TOKENS),
}


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Also of a stream that holds one message."""
        text = self.body.decode()
        return json.loads(text.split("data: ")[-1] if text.startswith(("event:", "data:")) else text)

    @property
    def error(self) -> Any:
        return self.json["error"]


class House:
    def __init__(self, root: Path, kernel: Kernel, server: HttpServer) -> None:
        self.root = root
        self.kernel = kernel
        self.server = server
        self.url = server.url
        self.host = server.url.split("/")[2]

    def asked(self, command: str, **params: Any) -> Any:
        """The data of a command of the runtime, by an operator."""
        assert self.kernel.desk is not None
        return self.kernel.submit(self.kernel.desk.run(command, params, Actor(CallerType.USER, "ann"))).result()

    def send(
        self,
        body: Any = None,
        *,
        token: str | None = TOKENS["ann"],
        method: str = "POST",
        path: str = "/mcp",
        headers: Mapping[str, str | None] | None = None,
    ) -> Answer:
        """One request as it is written here; a header of None is left out."""
        given: dict[str, str | None] = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {token}" if token is not None else None,
            **(headers or {}),
        }
        connection = HTTPConnection(self.host, timeout=60)
        with contextlib.closing(connection):
            data = body if isinstance(body, bytes | type(None)) else json.dumps(body).encode()
            named = {name: value for name, value in given.items() if value is not None}
            connection.request(method, path, data, named)
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.headers.items()}, response.read())

    def ask(self, method: str, params: Mapping[str, Any] | None = None, **how: Any) -> Answer:
        """A sound request of the era since 2026; ``headers`` overrule its own."""
        body, headers = modern(method, params)
        return self.send(body, headers={**headers, **how.pop("headers", {})}, **how)

    @contextlib.asynccontextmanager
    async def client(self, era: str, token: str = TOKENS["ann"], **how: Any) -> AsyncIterator[Client]:
        """The SDK's own client over HTTP, which takes a second to load."""
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=era, **how) as client,
        ):
            yield client


def modern(method: str, params: Mapping[str, Any] | None = None, id: int = 1) -> tuple[dict[str, Any], dict[str, str]]:
    """A request of the era since 2026, and the headers that go with it."""
    prefix = "io.modelcontextprotocol"
    meta = {
        f"{prefix}/protocolVersion": MODERN,
        f"{prefix}/clientInfo": {"name": "tests", "version": "1"},
        f"{prefix}/clientCapabilities": {},
        **(params or {}).get("_meta", {}),
    }
    body = {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {}), "_meta": meta}}
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    if params and "name" in params:
        headers["Mcp-Name"] = params["name"]
    return body, headers


@contextlib.contextmanager
def housed(root: Path, files: Mapping[str, str] = FILES) -> Iterator[House]:
    write(root, files)
    with holding(root) as kernel:
        server = serve_beside(kernel)
        try:
            yield House(root, kernel, server)
        finally:
            server.stop()


@contextlib.asynccontextmanager
async def over_pipe(root: Path, era: str, **how: Any) -> AsyncIterator[Client]:
    """The SDK's own client, and ``eva mcp serve --stdio`` as its child."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    words = ["-m", "evatui.cli.main", "-w", str(root), "mcp", "serve", "--stdio"]
    env = {"PYTHONPATH": str(Path(__file__).parents[2])}
    async with Client(StdioServerParameters(command=sys.executable, args=words, env=env), mode=era, **how) as client:
        yield client
