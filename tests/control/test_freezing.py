"""A frozen workspace stands still, over restarts too, until it is thawed; what is ordered is done, and all is told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode
from evatui.control.operator import Operator
from evatui.control.snapshot import Cursor
from evatui.kernel.model.errors import ErrorKind
from tests.control.crowd import ANN, opened
from tests.support.plugins import plugin
from tests.support.workspaces import GREETER, SCRIPT, save, tool, write

LUA = "capabilities/tools/greet.lua"
OTHER = "function invoke(ctx, request) return {ok = true, result = 1} end"


async def eventually(look: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(60):
        while not await look():
            await asyncio.sleep(0.005)


async def on_disk(operator: Operator, capability: str = "greet") -> str:
    rows = (await operator.run("capability.list"))["capabilities"]
    return next((row["on_disk"]["status"] for row in rows if row["id"] == capability), "")


async def answered_by(operator: Operator) -> str:
    answer = await operator.run("capability.call", name="text.greet", payload={"name": "x"})
    return str(answer["response"]["result"]["by"])


async def test_skills_and_plugins_wait_too_whoever_asks_for_them(operator: Operator, workspace: Path) -> None:
    async def said() -> tuple[str, str]:
        answer = await operator.run("capability.call", name="plugin.ring.go", payload={})
        parts = (await operator.run("skill.context"))["parts"]
        text = next((part["text"] for part in parts if part["name"] == "kind"), "")
        return answer["response"]["result"]["output"], text

    skill = "---\nname: kind\ndescription: D\nalways: true\n---\n{}\n"
    plugin(workspace, "ring", "echo one")
    write(workspace, {"skills/kind/SKILL.md": skill.format("one")})
    await operator.run("capability.reload")
    assert await said() == ("one\n", "one\n")
    await operator.run("runtime.freeze")
    plugin(workspace, "ring", "echo two")
    save(workspace, "skills/kind/SKILL.md", skill.format("two"))
    for command in ("plugin.list", "skill.list", "skill.doctor"):
        await operator.run(command)
    assert await said() == ("one\n", "one\n")
    await operator.run("runtime.thaw")
    assert await said() == ("two\n", "two\n")


async def test_what_changes_on_disk_is_shown_and_waits_for_the_thaw(operator: Operator, workspace: Path) -> None:
    assert (await operator.run("status"))["frozen"] is None
    frozen = (await operator.run("runtime.freeze"))["frozen"]
    assert frozen["actor"] == ANN.id
    assert (await operator.run("runtime.freeze"))["frozen"] == frozen
    assert (await operator.run("status"))["frozen"] == frozen
    assert frozen["at"] in (await operator.snapshot(Cursor())).runtime.frozen
    save(workspace, LUA, SCRIPT.replace("one", "two"))
    write(workspace, tool("late", OTHER))
    (workspace / "capabilities/spin.yaml").unlink()

    async def seen() -> bool:
        return [await on_disk(operator, name) for name in ("greet", "late", "spin")] == [
            "changed",
            "changed",
            "missing",
        ]

    await eventually(seen)
    assert await answered_by(operator) == "one"
    changes = (await operator.run("runtime.thaw"))["changes"]
    assert {change["id"]: change["action"] for change in changes} == {
        "greet": "update",
        "late": "add",
        "spin": "remove",
    }
    assert await answered_by(operator) == "two"
    assert (await operator.run("status"))["frozen"] is None
    assert (await operator.run("runtime.thaw"))["changes"] == []
    records = (await operator.run("audit.tail", limit=100))["records"]
    assert [r["actor"]["id"] for r in records if r["code"] in ("runtime.frozen", "runtime.thawed")] == ["ann", "ann"]
    events = (await operator.run("events"))["events"]
    assert [e["topic"] for e in events if e["topic"].endswith(("frozen", "thawed"))] == [
        "/runtime/frozen",
        "/runtime/thawed",
    ]


async def test_an_explicit_reload_is_done_and_a_broken_file_refused_all_the_same(
    operator: Operator, workspace: Path
) -> None:
    await operator.run("runtime.freeze")
    save(workspace, LUA, SCRIPT.replace("one", "two"))
    await operator.run("capability.reload", ids=["greet"])
    assert await answered_by(operator) == "two"
    save(workspace, "capabilities/greet.yaml", GREETER["capabilities/greet.yaml"].replace("name: Greeter", "nmae: x"))

    async def refused() -> bool:
        return await on_disk(operator) == "rejected"

    await eventually(refused)
    assert await answered_by(operator) == "two"


async def test_a_policy_that_takes_something_away_is_not_waited_with(operator: Operator, workspace: Path) -> None:
    await operator.run("runtime.freeze")
    save(workspace, "capabilities/policies/default.yaml", "version: 1\ndeny: {ids: [greet]}\n")

    async def denied() -> bool:
        row = next(r for r in (await operator.run("capability.list"))["capabilities"] if r["id"] == "greet")
        return row["state"] in ("Draining", "Disabled")

    await eventually(denied)


async def test_it_stays_frozen_and_serves_what_served_over_restarts(holder: LocalOperator, workspace: Path) -> None:
    serving = (await holder.run("capability.inspect", id="greet"))["generation"]
    await holder.run("runtime.freeze")
    save(workspace, LUA, SCRIPT.replace("one", "two"))
    await holder.run("runtime.restart")
    assert (await holder.run("status"))["frozen"]["actor"] == ANN.id
    assert (await holder.run("capability.inspect", id="greet"))["generation"] == serving
    await holder.close()
    again = await opened(workspace, OpenMode.HOLD)
    try:
        assert (await again.run("status"))["frozen"]["actor"] == ANN.id
        assert await answered_by(again) == "one"
        assert await on_disk(again) == "changed"
        await again.run("runtime.thaw")
        assert await answered_by(again) == "two"
    finally:
        await again.close()


CANARY = "reload: {canary: {percent: 100}, analysis: {min_samples: 5, max_error_rate: 0.9}, drain_timeout_ms: 20000}"


async def test_a_canary_that_passes_waits_and_is_promoted_with_the_thaw(operator: Operator, workspace: Path) -> None:
    manifest = GREETER["capabilities/greet.yaml"].replace("reload: {drain_timeout_ms: 20000}", CANARY)
    assert CANARY in manifest
    save(workspace, "capabilities/greet.yaml", manifest)
    save(workspace, LUA, SCRIPT.replace("one", "two"))
    await operator.run("capability.reload", ids=["greet"])
    await operator.run("runtime.freeze")
    for _ in range(60):
        await operator.run("capability.call", name="text.greet", payload={"name": "x"}, user="u")
    canary = (await operator.run("capability.inspect", id="greet"))["canary"]
    assert (canary["phase"], canary["verdict"]) == ("running", "pass")
    await operator.run("runtime.thaw")

    async def promoted() -> bool:
        return (await operator.run("capability.inspect", id="greet"))["canary"] is None

    await eventually(promoted)
    assert await answered_by(operator) == "two"


async def test_without_a_runtime_there_is_nothing_to_freeze(workspace: Path) -> None:
    reader = await opened(workspace, OpenMode.READ)
    for command in ("runtime.freeze", "runtime.thaw"):
        with pytest.raises(CommandFailed) as failed:
            await reader.run(command)
        assert failed.value.kind is ErrorKind.UNAVAILABLE, command
    await reader.close()
