"""MCP servers that plugins bring along: run from the copy of what was hashed, behind the same walls as tools."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from evatui.kernel.lua.worker.landlock import abi
from evatui.kernel.model.call import CallReport
from evatui.kernel.workspace.home import OperatorHome
from evatui.runtime import Runtime
from tests.adapters.ground import HEAD
from tests.adapters.mcp_ground import ADD, serving_tools
from tests.runtime.conftest import ANN, call
from tests.runtime.test_plugins import Start, answer
from tests.support.plugins import plugin, program
from tests.support.waiting import until

ONE, TWO = "plugin.pack.mcp1", "plugin.pack.mcp2"
SUM = """
def call(name, arguments):
    if arguments["a"] == 0:
        open(os.environ["EVA_WORK_DIR"] + "/began", "w").close()
        import time
        while not os.path.exists(os.environ["EVA_WORK_DIR"] + "/go"): time.sleep(0.01)
    found = {"sum": arguments["a"] + arguments["b"], "version": open("asset").read()}
    found["file"] = os.path.realpath(sys.argv[0])
    try: open("/etc/hostname").read(); found["outside"] = True
    except OSError: found["outside"] = False
    return {"content": [{"type": "text", "text": json.dumps(found)}]}
"""


def server() -> str:
    return f"#!/usr/bin/env python3{HEAD}{serving_tools(ADD, more=SUM)}"


def packed(workspace: Path, *servers: dict[str, Any]) -> Path:
    folder = plugin(workspace, "pack", "")
    manifest = {"name": "pack", "version": "1.0.0", "mcp_servers": servers}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "asset").write_text("first")
    program(folder / "serve", server())
    return folder


async def approved(runtime: Runtime, server: str = ONE) -> None:
    way = runtime.providers.serving[server].way
    await until(lambda: way.server is not None and way.server.waiting)
    await runtime.tools.approve(server, (), ANN)


async def add(runtime: Runtime, a: int = 1, server: str = ONE) -> CallReport:
    asked = {"tool": "add", "arguments": {"a": a, "b": 2}}
    return await call(runtime, "mcp.tool.call", asked, provider=server)


def told(report: CallReport) -> dict[str, Any]:
    assert report.response.ok, report.response.error
    return dict(json.loads(report.response.result["content"][0]["text"]))


async def test_a_server_runs_from_the_copy_once_its_tools_are_approved(start: Start, workspace: Path) -> None:
    packed(workspace, {"command": "./serve"}, {"command": "python3", "args": ["serve"]})
    runtime = await start()
    assert sorted(one for one in runtime.providers.serving if one.startswith("plugin.")) == [ONE, TWO]
    assert not (await add(runtime)).response.ok
    digest = runtime.plugging.catalogue.latest.plugins[0].plugin.digest
    for server in (ONE, TWO):
        await approved(runtime, server)
        report = await add(runtime, server=server)
        assert (report.capability_id, told(report)["sum"]) == (server, 3)
        assert told(report)["file"] == str(workspace.resolve() / ".eva/verified" / digest / "serve")
        assert told(report)["outside"] is not bool(abi())


async def test_another_version_takes_its_place_and_calls_end_on_the_one_that_they_began_with(
    start: Start, workspace: Path
) -> None:
    folder = packed(workspace, {"command": "./serve"})
    runtime = await start()
    await approved(runtime)
    calling = asyncio.create_task(add(runtime, 0))
    before = runtime.plugging.catalogue.latest.plugins[0].plugin.digest
    work = workspace / ".eva/work/pack.mcp"
    await until(lambda: any((one / "began").exists() for one in work.iterdir()))
    (folder / "asset").write_text("second")
    await runtime.plugging.catalogue.look()
    assert told(await add(runtime))["version"] == "second"
    assert not calling.done()
    assert (workspace / ".eva/verified" / before).is_dir()
    for one in work.iterdir():
        (one / "go").touch()
    assert told(await calling)["version"] == "first"
    (folder / "manifest.json").unlink()
    await runtime.plugging.catalogue.look()
    assert ONE not in runtime.providers.serving


async def test_a_version_that_waits_for_trust_takes_nothing_from_the_one_that_serves(
    start: Start, workspace: Path, tmp_path: Path
) -> None:
    folder = plugin(workspace, "ring", "echo first")
    home = OperatorHome(tmp_path / "home")
    runtime = await start(home=home)
    await runtime.approvals.trust(ANN)
    assert (await answer(runtime, "plugin.ring.go"))["output"] == "first\n"
    program(folder / "ring", "echo second")
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "requires_network": True}))
    await runtime.plugging.catalogue.look()
    assert "plugin.ring" in runtime.providers.held
    assert (await answer(runtime, "plugin.ring.go"))["output"] == "first\n"
    assert len(os.listdir(workspace / ".eva/verified")) == 2
