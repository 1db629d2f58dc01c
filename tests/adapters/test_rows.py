"""What consoles and scripts are told of adapters."""

from __future__ import annotations

import json
from pathlib import Path

from evatui.control.answers import listed
from evatui.control.graph import graphed
from evatui.control.snapshot import ConsoleSnapshot, Cursor
from evatui.control.view import View
from evatui.control.wire import encode, read
from evatui.kernel.workspace.home import OperatorHome
from tests.adapters.ground import ANN, Start, adapter, called, home
from tests.adapters.mcp_ground import ADD, mcp, serving_tools
from tests.adapters.test_mcp import up
from tests.support.workspaces import tool, write

__all__ = ["home"]


async def test_every_adapter_is_told_with_what_it_is_up_to(start: Start, workspace: Path, tmp_path: Path) -> None:
    write(
        workspace,
        {
            **mcp(tmp_path, serving_tools(ADD)),
            **adapter("off", "http", "{url: 'https://a.example'}", enabled="false"),
            **adapter("lint", "skill", "{name: lint}", "[test.lint]"),
            **adapter("torn", "http", "{adress: 'https://a.example'}"),
        },
    )
    runtime = await start()
    await up(runtime)
    await called(runtime, "mcp.tool.call", {"tool": "add"}, provider="srv")
    torn, *others = View(runtime).snapshot(Cursor()).adapters
    assert (torn.id, torn.state, torn.detail[:7]) == ("capabilities/adapters/torn.yaml", "refused", "EVA-703")
    rows = {row.id: row for row in others}
    assert {key: row.state for key, row in rows.items()} == {"lint": "shown", "off": "disabled", "srv": "up"}
    assert (rows["srv"].calls, rows["srv"].errors, rows["off"].server) == (1, 1, None)
    server = rows["srv"].server
    assert server is not None
    assert (server.waiting, [(one.shown, one.state) for one in server.tools]) == (1, [("srv__add", "new")])
    snapshot = View(runtime).snapshot(Cursor())
    again = read(ConsoleSnapshot, json.loads(encode({"s": snapshot}))["s"])
    assert again.adapters == snapshot.adapters
    assert [one["id"] for one in listed(runtime)["adapters"]][1:] == ["lint", "off", "srv"]


async def test_one_that_waits_is_told_so(start: Start, workspace: Path, home: OperatorHome) -> None:
    write(workspace, adapter("api", "http", "{url: 'https://a.example'}"))
    runtime = await start(home=home)
    snapshot = View(runtime).snapshot(Cursor())
    [row] = snapshot.adapters
    assert (row.state, row.waits_for, "EVA-707" in row.detail) == ("held", "trust", True)
    assert snapshot.trust.waiting >= 1
    await runtime.approvals.trust(ANN)
    [row] = View(runtime).snapshot(Cursor()).adapters
    assert (row.state, row.waits_for) == ("idle", "")


async def test_who_calls_an_adapter_is_in_the_graph(start: Start, workspace: Path) -> None:
    asks = "{adapters: {capabilities: [test.out], providers: [api]}}"
    body = "function invoke() return {ok = true} end"
    write(workspace, {**tool("user", body, permissions=asks), **adapter("api", "http", "{url: 'https://a.example'}")})
    found = graphed(await start())
    assert {"from": "user", "to": "api", "name": "test.out"} in found["edges"]
    [node] = [node for node in found["nodes"] if node["id"] == "api"]
    assert (node["state"], node["transport"], node["dependents"]) == ("idle", "http", ["user"])
    assert "user" not in found["missing"]
