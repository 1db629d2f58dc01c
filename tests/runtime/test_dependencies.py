"""Circles of calls are refused where they would be closed; what nobody provides is a warning."""

from __future__ import annotations

from pathlib import Path

from evatui.kernel.model.diagnostic import Reason
from tests.support.workspaces import save, tool, write

BODY = "function invoke(ctx, request) return {ok = true, result = {}} end"
POLICY = "version: 1\ngrants:\n  - match: {ids: ['*']}\n    adapters: {capabilities: ['*'], providers: ['*']}\n"


def calling(name: str, *calls: str) -> dict[str, str]:
    return tool(name, BODY, permissions=f"{{adapters: {{capabilities: [{', '.join(calls)}]}}}}")


async def test_a_circle_is_refused_at_a_start_with_its_path(start, workspace: Path) -> None:
    save(workspace, "capabilities/policies/default.yaml", POLICY)
    write(workspace, calling("a", "test.b") | calling("b", "test.c") | calling("c", "test.a"))
    runtime = await start()
    assert set(runtime.table.active) == {"greet"}
    (found,) = runtime.registry.capabilities["b"].rejection.diagnostics
    assert found.reason is Reason.DEPENDENCY_CYCLE
    assert "b → c → a → b" in found.message
    assert "[test.c]" in found.rendered


async def test_what_serves_goes_on_and_only_what_closes_the_circle_is_refused(start, workspace: Path) -> None:
    save(workspace, "capabilities/policies/default.yaml", POLICY)
    write(workspace, calling("a", "test.b") | calling("b"))
    runtime = await start()
    write(workspace, calling("b", "test.a"))
    await runtime.reloader.run(explicit=True)
    assert set(runtime.table.active) == {"a", "b", "greet"}
    rejection = runtime.registry.capabilities["b"].rejection
    assert rejection.diagnostics[0].code == "EVA-216"
    assert runtime.registry.capabilities["a"].rejection is None
    write(workspace, calling("a"))
    await runtime.reloader.run(explicit=True)
    assert runtime.registry.capabilities["b"].rejection is None


async def test_what_nobody_provides_is_a_warning(start, workspace: Path) -> None:
    save(workspace, "capabilities/policies/default.yaml", POLICY)
    write(workspace, calling("a", "no.where"))
    runtime = await start()
    assert [warning.code for warning in runtime.table.active["a"].candidate.warnings] == ["EVA-217"]
    plan = await runtime.reloader.plan()
    (warning,) = [found for change in plan.changes for found in change.warnings]
    assert "no.where, which nobody provides" in warning.message
