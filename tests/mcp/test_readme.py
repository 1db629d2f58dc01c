"""What the README tells people to paste into their clients is what works: a client is started with each of it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evatui.control.bundle import init_workspace
from evatui.kernel.workspace.settings import McpServerSettings
from evatui.mcp.serving import serve_beside
from tests.cli.real import holding
from tests.support.programs import EVA

if TYPE_CHECKING:
    from mcp import Client

ROOT = Path(__file__).parents[2]
BLOCKS = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", (ROOT / "README.md").read_text(), re.S)]
SERVERS = [block.get("mcpServers", block.get("servers"))["evatui"] for block in BLOCKS]
TOOLS = {"project_summary", "agent_explain", "config_inspect"}
"""Of a new workspace, as the README says; each is shown under the `exposed_name` of its manifest."""


def test_three_clients_are_told_how() -> None:
    assert ["url" in server for server in SERVERS] == [False, False, True]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    init_workspace(tmp_path / "ws")
    (tmp_path / "ws/eva.yaml").write_text("mcp_server: {bind: '127.0.0.1:0'}\n")
    monkeypatch.setenv("EVA_TRUST", "1")
    return tmp_path / "ws"


@pytest.mark.parametrize("server", [server for server in SERVERS if "url" not in server])
async def test_what_a_client_starts_answers_it(server: dict[str, Any], workspace: Path, tmp_path: Path) -> None:
    async with started(server, workspace, tmp_path / "bin") as client:
        await answers(client)


@contextlib.asynccontextmanager
async def started(server: dict[str, Any], workspace: Path, folder: Path) -> AsyncIterator[Client]:
    """As the client of an editor does it: `eva` is found in `PATH`."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    folder.mkdir()
    (folder / "eva").write_text(f'#!/bin/sh\nexec {shlex.join(EVA)} "$@"\n')
    (folder / "eva").chmod(0o755)
    args = [re.sub(r"/path/to/workspace|\$\{workspaceFolder\}", str(workspace), word) for word in server["args"]]
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    async with Client(StdioServerParameters(command=server["command"], args=args, env=env)) as client:
        yield client


@pytest.mark.parametrize("server", [server for server in SERVERS if "url" in server])
async def test_what_a_client_connects_to_answers_it(server: dict[str, Any], workspace: Path) -> None:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    with holding(workspace) as kernel:
        serving = serve_beside(kernel)
        try:
            token = (workspace / ".eva/mcp.token").read_text().strip()
            headers = {k: v.replace("${env:EVA_MCP_TOKEN}", token) for k, v in server["headers"].items()}
            assert server["url"] == f"http://{McpServerSettings().bind}/mcp"
            url = serving.url  # another port: the default may be taken
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                await answers(client)
        finally:
            serving.stop()


async def answers(client: Client) -> None:
    assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
    assert (await client.call_tool("config_inspect", {})).is_error is False
