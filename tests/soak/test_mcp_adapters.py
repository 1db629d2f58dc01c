"""A workspace that calls another one over MCP: our client and our server, in the newer era of the protocol."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from evatui.control.bundle import init_workspace
from tests.adapters.ground import ANN, Start, called, start, workspace
from tests.adapters.test_mcp import approve, tools, up
from tests.support.waiting import until
from tests.support.workspaces import save, write

__all__ = ["start", "workspace"]

CALLS = 60


async def test_calls_go_on_over_reloads_and_what_changed_waits(
    start: Start, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    init_workspace(other)
    words = ["/usr/bin/env", f"PYTHONPATH={os.pathsep.join(sys.path)}", f"EVA_CONFIG_DIR={tmp_path / 'config'}"]
    words += [sys.executable, "-m", "evatui.cli.main", "-w", str(other), "mcp", "serve", "--stdio"]
    block = f"{{server: stdio, command: {json.dumps(words)}, tools: ['*'], start_timeout_ms: 60000}}"
    text = f"id: srv\nversion: 1.0.0\ntransport: mcp\nlimits: {{max_output_bytes: 1048576}}\nmcp: {block}\n"
    write(workspace, {"capabilities/adapters/srv.yaml": text})
    runtime = await start()
    await up(runtime)
    assert runtime.tools.servers()[0]["protocol"] == "2026-07-28"
    await approve(runtime)
    script = other / "capabilities/modules/project.lua"
    for count in range(CALLS):
        if count % 10 == 0:
            save(other, "capabilities/modules/project.lua", f"{script.read_text()}\n-- {count}\n")
        report = await called(runtime, "mcp.tool.call", {"tool": "project_summary"}, provider="srv")
        assert report.response.ok, report.response.error
    manifest = "capabilities/project-summary.yaml"
    save(other, manifest, (other / manifest).read_text().replace('description: "', 'description: "Not the same. ', 1))
    await until(lambda: tools(runtime)["project_summary"].state == "changed")
    found = tools(runtime)["project_summary"]
    assert any("Not the same" in line for line in found.diff)
    refused = await called(runtime, "mcp.tool.call", {"tool": "project_summary"}, provider="srv")
    assert refused.response.error is not None
    assert refused.response.error.details["reason"] == "quarantined"
    await runtime.tools.approve("srv", [], ANN)
    assert (await called(runtime, "mcp.tool.call", {"tool": "project_summary"}, provider="srv")).response.ok
