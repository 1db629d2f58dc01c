"""A workspace that calls another one over MCP: our client and our server, over both transports and in both eras."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from evatui.adapters.mcp_session import Session
from tests.adapters.ground import ANN, POLICY, Start, called, start, workspace
from tests.adapters.test_mcp import approve, tools, up
from tests.mcp.house import ERAS, FILES, TOKENS, House, handler, housed
from tests.support.waiting import until
from tests.support.workspaces import save, write

__all__ = ["start", "workspace"]

CALLS, RELOADS = 200, 20
BODY = "function invoke(ctx, request) return {ok = true, result = {version = 0}} end"
OTHER = {**FILES, **handler("changes", BODY), **handler("noted", BODY)}


def over(way: str, house: House, config: Path) -> str:
    """The block of the adapter."""
    if way == "http":
        reach = f"url: '{house.url}', allow_loopback: true, headers: {{Authorization: {{credential: TOKEN}}}}"
    else:
        words = ["/usr/bin/env", f"PYTHONPATH={os.pathsep.join(sys.path)}", f"EVA_CONFIG_DIR={config}", sys.executable]
        words += ["-m", "evatui.cli.main", "-w", str(house.root), "mcp", "serve", "--stdio"]
        reach = f"command: {json.dumps(words)}"
    return f"{{server: {way}, {reach}, tools: [test_changes, test_noted], start_timeout_ms: 120000}}"


async def reload(house: House, number: int) -> None:
    """Another version of the tool that is called, and another description of the one beside it."""
    script = BODY.replace("version = 0", f"version = {number}")
    noted = handler("noted", BODY)["capabilities/noted.yaml"].replace("Does noted", f"version {number}")
    await asyncio.to_thread(save, house.root, "capabilities/mcp_handlers/changes.lua", script)
    await asyncio.to_thread(save, house.root, "capabilities/noted.yaml", noted)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_calls_go_on_over_reloads_and_what_changed_waits(
    start: Start, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, era: str
) -> None:
    opens = Session.open
    if era == "legacy":
        monkeypatch.setattr(Session, "open", lambda self, legacy: opens(self, True))
    monkeypatch.setenv("TOKEN", TOKENS["ann"])
    with housed(tmp_path / "other", OTHER) as house:
        credential = "credentials: {TOKEN: {from: env, hosts: [127.0.0.1], prefix: 'Bearer '}}\n"
        policy = (workspace / POLICY).read_text() + credential
        block = over(way, house, tmp_path / "config")
        write(workspace, {POLICY: policy, "capabilities/adapters/srv.yaml": f"{ADAPTER}mcp: {block}\n"})
        runtime = await start()
        await up(runtime)
        [server] = runtime.tools.servers()
        assert (server["protocol"] == "2026-07-28") is (era != "legacy")
        await approve(runtime)

        async def call(tool: str = "test_changes") -> Any:
            return (await called(runtime, "mcp.tool.call", {"tool": tool}, provider="srv")).response

        seen = set()
        for number in range(1, RELOADS + 1):
            reloading = asyncio.create_task(reload(house, number))
            for _ in range(CALLS // RELOADS):
                answer = await call()
                assert answer.ok, answer.error
                seen.add(answer.result["structuredContent"]["version"])
            await reloading
            await until(lambda n=number: tools(runtime)["test_noted"].description == f"version {n}")
        assert seen <= {*range(RELOADS + 1)}
        assert len(seen) > RELOADS // 2
        drifted = tools(runtime)["test_noted"]
        assert (drifted.state, any(f"version {RELOADS}" in line for line in drifted.diff)) == ("changed", True)
        refused = (await call("test_noted")).error
        assert refused.details["reason"] == "quarantined"
        await runtime.tools.approve("srv", [], ANN)
        assert (await call("test_noted")).ok


ADAPTER = "id: srv\nversion: 1.0.0\ntransport: mcp\nlimits: {max_output_bytes: 1048576, timeout_ms: 60000}\n"
