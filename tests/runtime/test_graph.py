"""The graph names who would miss whom, over others too, and who uses a module."""

from __future__ import annotations

from pathlib import Path

from evatui.control.graph import graphed
from tests.runtime.test_dependencies import BODY, POLICY, calling
from tests.support.workspaces import save, tool, write


async def test_who_would_be_missed_by_whom_and_what_shares_a_module(start, workspace: Path) -> None:
    save(workspace, "capabilities/policies/default.yaml", POLICY)
    shared = "{script: capabilities/tools/c.lua, modules: {kit: capabilities/modules/kit.lua}}"
    write(workspace, calling("a", "test.b", "no.where") | calling("b", "test.c"))
    write(workspace, {**tool("c", BODY), "capabilities/modules/kit.lua": "return {}"})
    manifest = workspace / "capabilities/c.yaml"
    manifest.write_text(manifest.read_text().replace("{script: capabilities/tools/c.lua}", shared))
    told = graphed(await start())
    nodes = {node["id"]: node for node in told["nodes"]}
    assert nodes["c"]["dependents"] == ["a", "b"]
    assert nodes["a"]["dependents"] == []
    assert told["edges"] == [
        {"from": "a", "to": "b", "name": "test.b"},
        {"from": "b", "to": "c", "name": "test.c"},
    ]
    assert told["order"].index("c") < told["order"].index("b") < told["order"].index("a")
    assert told["modules"] == {"capabilities/modules/kit.lua": ["c"]}
    assert (told["missing"], told["cycles"]) == ({"a": ["no.where"]}, [])
