"""State across versions: hold, drain, migrate, publish; and whatever goes wrong leaves every byte."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evatui.control.orders import orders
from evatui.kernel.model.errors import CallFailed, ErrorKind
from tests.runtime.conftest import ANN, call, records
from tests.support.waiting import until
from tests.support.workspaces import EVERYTHING, save, tool, write

COUNT = """
function invoke(ctx, request)
  local slow = request.payload.slow
  local found = ctx.host.state_get({key = "count", default = 0})
  if slow then while true do end end
  if request.payload.key then ctx.host.state_set({key = request.payload.key, value = 1}) end
  if request.payload.read then return {ok = true, result = found} end
  for _ = 1, 100 do
    found = ctx.host.state_get({key = "count", default = 0})
    local set = pcall(ctx.host.state_set, {key = "count", value = found.value + 1, expected_version = found.version})
    if set then return {ok = true, result = {value = found.value + 1, by = 1}} end
  end
  error("too busy")
end
"""
FIRST = COUNT
SECOND = (
    COUNT.replace("by = 1", "by = 2")
    + """
function migrate_1_2(ctx, rows)
  for _, row in ipairs(rows) do
    local old = ctx.host.state_get({key = row.key})
    assert(old.value == row.value and old.version == row.version)
    ctx.host.state_set({key = row.key, value = row.value * 10, expected_version = row.version})
  end
end
"""
)
BY_HAND = "version: 1\nruntime: {hot_reload: false}\n"
STATE = "{schema_version: 2, migrations: [{from: 1, to: 2, entry: migrate_1_2}]}"


def files(script: str, **fields: Any) -> dict[str, str]:
    emits = "{events: {emit: [/x]}}"
    return {
        **tool("count", script, permissions=emits, **fields),
        "capabilities/policies/default.yaml": EVERYTHING,
        "eva.yaml": BY_HAND,
    }


def put(workspace: Path, script: str, **fields: Any) -> None:
    for path, text in files(script, **fields).items():
        save(workspace, path, text)


@pytest.fixture
async def runtime(start, workspace: Path):
    write(workspace, files(FIRST))
    return await start()


async def counted(runtime, **payload: Any) -> Any:
    response = (await call(runtime, "test.count", payload)).response
    assert response.ok, response.error
    return response.result


async def reloaded(runtime, workspace: Path, script: str, **fields: Any):
    put(workspace, script, **fields)
    plan = await runtime.reloader.run(actor=ANN, explicit=True)
    return next(change for change in plan.changes if change.key == "count")


def rows(runtime, schema: int) -> dict[str, tuple[Any, int]]:
    return {row.key: (row.value, row.version) for row in runtime.state.rows("count", schema)}


def refusal(runtime):
    return runtime.registry.capabilities["count"].rejection.diagnostics[0]


async def test_state_is_carried_over_and_the_old_one_stays(runtime, workspace: Path) -> None:
    await counted(runtime)
    await counted(runtime)
    await reloaded(runtime, workspace, SECOND, state=STATE)
    assert rows(runtime, 1) == {"count": (2, 2)}
    assert rows(runtime, 2) == {"count": (20, 3)}
    assert await counted(runtime) == {"value": 21, "by": 2}
    (told,) = [row for row in await records(runtime, 50) if row["code"] == "state.migrated"]
    told = told["details"]
    assert (told["from_schema"], told["to_schema"], told["keys"], told["cut"]) == (1, 2, 1, 0)


FAULTS = {
    "raises": ("error('no')", "no"),
    "says so": ("do return {ok = false, error = {message = 'not yet'}} end", "not yet"),
    "never ends": ("while true do end", "Timeout"),
    "takes all memory": ("local t = {} for i = 1, 1e9 do t[i] = i end", "MemoryExceeded"),
    "has another effect": ("ctx.host.emit_event({topic = '/x', payload = {}})", "a migration may not change anything"),
    "has too much state": ("ctx.host.state_set({key = 'big', value = string.rep('x', 200)})", "state is full"),
    "sets over another version": ("ctx.host.state_set({key = 'count', value = 1, expected_version = 7})", "version 1"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_one_that_fails_leaves_every_byte_and_the_old_version_serves(
    runtime, workspace: Path, fault: str
) -> None:
    body, said = FAULTS[fault]
    await counted(runtime)
    broken = (
        FIRST + f"\nfunction migrate_1_2(ctx, rows)\n  ctx.host.state_set({{key = 'new', value = 1}})\n  {body}\nend\n"
    )
    limits = "{timeout_ms: 300}" if fault == "never ends" else "{state_bytes: 100}"
    serving = runtime.table
    change = await reloaded(runtime, workspace, broken, state=STATE, limits=limits)
    assert change.action == "reject"
    assert runtime.table is serving
    found = refusal(runtime)
    assert (found.code, found.reason) == ("EVA-603", "migration_failed")
    assert said in found.message
    assert found.primary.file.endswith(".lua")
    assert (rows(runtime, 1), rows(runtime, 2)) == ({"count": (1, 1)}, {})
    assert (await counted(runtime))["value"] == 2


async def test_the_place_in_the_script_is_shown(runtime, workspace: Path) -> None:
    await counted(runtime)
    script = FIRST + "\nfunction migrate_1_2(ctx, rows)\n  local x = nil\n  return x.y\nend\n"
    await reloaded(runtime, workspace, script, state=STATE)
    found = refusal(runtime)
    assert found.primary.line == script.splitlines().index("  return x.y") + 1
    assert "return x.y" in found.rendered


async def test_without_a_way_to_the_new_schema_it_is_refused(runtime, workspace: Path) -> None:
    await counted(runtime)
    await reloaded(runtime, workspace, SECOND, state="{schema_version: 2}")
    assert "no migration leads from schema 1 to 2: 1 key (count)" in refusal(runtime).message
    assert "schema_version" in refusal(runtime).rendered
    await reloaded(runtime, workspace, SECOND, state=STATE)
    assert (await counted(runtime))["value"] == 11


async def test_a_function_that_the_script_does_not_have_is_found_before_anything_is_held(
    runtime, workspace: Path
) -> None:
    await reloaded(runtime, workspace, FIRST, state=STATE)
    assert (refusal(runtime).code, "migrate_1_2" in refusal(runtime).message) == ("EVA-502", True)
    assert "entry: migrate_1_2" in refusal(runtime).rendered


async def test_steps_follow_each_other_and_only_the_last_state_is_kept(runtime, workspace: Path) -> None:
    await counted(runtime)
    script = SECOND + SECOND.replace("migrate_1_2", "migrate_2_4").replace("* 10", "+ 1")
    steps = "[{from: 1, to: 2, entry: migrate_1_2}, {from: 2, to: 4, entry: migrate_2_4}]"
    await reloaded(runtime, workspace, script, state=f"{{schema_version: 4, migrations: {steps}}}")
    assert (rows(runtime, 2), rows(runtime, 4)) == ({}, {"count": (11, 3)})


async def test_calls_wait_for_it_and_none_is_lost(runtime, workspace: Path) -> None:
    """More than a queue holds, over a migration that works, and one that does not."""
    answers: list[Any] = []

    async def caller() -> None:
        for _ in range(15):
            answers.append(await counted(runtime))

    callers = [asyncio.create_task(caller()) for _ in range(8)]
    await until(lambda: len(answers) > 5)
    await reloaded(runtime, workspace, FIRST + "\nfunction migrate_1_2() error('no') end", state=STATE)
    assert refusal(runtime).reason == "migration_failed"
    await reloaded(runtime, workspace, SECOND.replace("* 10", "+ 0"), state=STATE)
    await asyncio.gather(*callers)
    await counted(runtime)
    assert sorted(answer["value"] for answer in answers) == list(range(1, 121))
    assert (await counted(runtime))["value"] == 122


async def test_a_call_that_does_not_end_is_cut_at_the_deadline_of_the_drain(start, workspace: Path) -> None:
    write(workspace, files(FIRST, reload="{drain_timeout_ms: 50}"))
    runtime = await start()
    name = runtime.table.active["count"].name.id
    await counted(runtime)
    stuck = asyncio.create_task(call(runtime, "test.count", {"slow": True}))
    await until(lambda: runtime.registry.capabilities["count"].in_flight)
    await reloaded(runtime, workspace, SECOND, state=STATE)
    error = (await stuck).response.error
    assert (error.kind, error.generation) == (ErrorKind.CANCELLED, name)
    assert (await counted(runtime))["value"] == 11


async def test_a_plan_tries_it_and_changes_nothing(runtime, workspace: Path) -> None:
    await counted(runtime)
    put(workspace, FIRST + "\nfunction migrate_1_2() error('no') end", state=STATE)
    plan = await runtime.reloader.plan()
    (change,) = [change for change in plan.changes if change.key == "count"]
    assert (change.action, change.verdict.diagnostics[0].reason) == ("reject", "migration_failed")
    put(workspace, SECOND, state=STATE)
    plan = await runtime.reloader.plan()
    assert [change.action for change in plan.changes if change.key == "count"] == ["update"]
    assert rows(runtime, 2) == {}


async def test_going_back_says_what_is_lost_and_wants_to_be_told(runtime, workspace: Path) -> None:
    await counted(runtime)
    await reloaded(runtime, workspace, SECOND, state=STATE)
    await counted(runtime)
    await counted(runtime, key="extra")
    with pytest.raises(CallFailed) as refused:
        await runtime.operations.rollback("count", ANN)
    assert refused.value.error.kind is ErrorKind.CONFLICT
    assert refused.value.error.details["lost_keys"] == ["count", "extra"]
    assert (await counted(runtime, read=True))["value"] == 12
    receipt = await runtime.operations.rollback("count", ANN, lose_state=True)
    assert receipt.note == "it does not see what was stored since under schema 2: 2 keys (count, extra)"
    assert await counted(runtime) == {"value": 2, "by": 1}


async def test_going_back_before_anything_was_stored_loses_nothing(runtime, workspace: Path) -> None:
    await counted(runtime)
    await reloaded(runtime, workspace, SECOND, state=STATE)
    await runtime.operations.rollback("count", ANN)
    assert await counted(runtime) == {"value": 2, "by": 1}


async def test_after_going_back_the_next_migration_begins_with_the_state_in_force(runtime, workspace: Path) -> None:
    await counted(runtime)
    await reloaded(runtime, workspace, SECOND, state=STATE)
    await counted(runtime, key="stale")
    await runtime.operations.rollback("count", ANN, lose_state=True)
    await counted(runtime)
    await runtime.operations.retry("count", ANN)
    assert rows(runtime, 2) == {"count": (20, 3)}


async def order(runtime, what: str, **params: Any) -> Any:
    return await orders(runtime)[f"capability.{what}"]({"id": "count", **params}, ANN)


async def test_a_rollback_that_is_undone_leaves_the_state_as_it_was(runtime, workspace: Path) -> None:
    await counted(runtime)
    await reloaded(runtime, workspace, SECOND, state=STATE)
    await counted(runtime)
    await counted(runtime, key="extra")
    before = rows(runtime, 2)
    await order(runtime, "rollback", lose_state=True)
    assert (await counted(runtime, read=True))["value"] == 1
    await order(runtime, "undo")
    assert rows(runtime, 2) == before
    assert await counted(runtime) == {"value": 13, "by": 2}


async def test_undoing_a_rollback_loses_nothing_that_was_stored_since(runtime, workspace: Path) -> None:
    await counted(runtime)
    await reloaded(runtime, workspace, SECOND, state=STATE)
    await order(runtime, "rollback")
    await counted(runtime)
    for what in ("undo_plan", "undo"):
        with pytest.raises(CallFailed, match="stored since the rollback would be lost: count; eva capability retry"):
            await order(runtime, what)
    assert await counted(runtime) == {"value": 3, "by": 1}
    await order(runtime, "retry")
    assert (await counted(runtime, read=True))["value"] == 30


async def test_a_file_that_goes_back_is_no_order_to_lose_state(runtime, workspace: Path) -> None:
    await counted(runtime)
    await reloaded(runtime, workspace, SECOND, state=STATE)
    await counted(runtime)
    await reloaded(runtime, workspace, FIRST)
    assert "schema 2 by now, this version reads 1: 1 key (count) would be lost" in refusal(runtime).message
    assert (await counted(runtime))["by"] == 2


async def test_a_restart_does_not_migrate_twice(start, runtime, workspace: Path) -> None:
    await counted(runtime)
    await reloaded(runtime, workspace, SECOND, state=STATE)
    await counted(runtime)
    await runtime.close()
    again = await start()
    assert (await counted(again))["value"] == 12


async def test_a_schema_that_changed_between_two_runs_is_migrated_at_the_start(start, runtime, workspace: Path) -> None:
    await counted(runtime)
    await runtime.close()
    put(workspace, SECOND, state=STATE)
    again = await start()
    assert (await counted(again))["value"] == 11


async def test_old_state_goes_with_the_last_version_that_could_read_it(runtime, workspace: Path) -> None:
    await counted(runtime)
    for number in range(7):
        await reloaded(runtime, workspace, SECOND + f"-- {number}", state=STATE)
        assert (1 in runtime.state.schemas("count")) is (number < 5)
    assert (await counted(runtime))["value"] == 11


async def test_a_canary_is_never_of_another_schema(runtime, workspace: Path) -> None:
    await counted(runtime)
    await reloaded(runtime, workspace, SECOND, state=STATE, reload="{canary: {percent: 10}}")
    assert runtime.registry.capabilities["count"].canary is None
    assert (await counted(runtime))["by"] == 2
