"""Drain, disable, enable, roll back: what a person does to one capability."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.model.lifecycle import State
from evatui.kernel.registry.keeping import Keeping
from tests.runtime.conftest import ANN, call
from tests.support.waiting import until
from tests.support.workspaces import SCRIPT, save, tool, write

SPIN = "function invoke(ctx, request) while true do end end"


async def updated(runtime, workspace: Path, text: str) -> None:
    save(workspace, "capabilities/tools/greet.lua", text)
    await runtime.reloader.run(actor=ANN, explicit=True)


async def test_drain_holds_over_reload_and_restart_until_enable(start, workspace: Path) -> None:
    runtime = await start()
    receipt = await runtime.operations.drain("greet", ANN)
    assert (receipt.action, receipt.cut, receipt.target) == ("drain", 0, None)
    assert runtime.registry.capabilities["greet"].state is State.DISABLED
    refused = (await call(runtime)).response.error
    assert (refused.kind, refused.details["reason"]) == (ErrorKind.UNAVAILABLE, "drained")
    await updated(runtime, workspace, SCRIPT.replace("one", "two"))
    assert not (await call(runtime)).response.ok
    await runtime.close()
    again = await start()
    assert again.registry.capabilities["greet"].state is State.DISABLED
    await again.operations.enable("greet", ANN)
    assert (await call(again)).response.result["by"] == "two"


async def test_a_drain_past_its_deadline_cuts_the_call_and_says_which_generation(start, workspace: Path) -> None:
    write(workspace, tool("spin", SPIN, reload="{drain_timeout_ms: 50}"))
    runtime = await start()
    name = runtime.table.active["spin"].name.id
    running = asyncio.create_task(call(runtime, "test.spin", {}))
    await until(lambda: runtime.registry.capabilities["spin"].in_flight)
    receipt = await runtime.operations.drain("spin", ANN)
    assert receipt.cut == 1
    (cut,) = receipt.to_json()["cut_calls"]
    assert (cut["request_id"], cut["caller"]) == ((await running).request_id, "ann")
    error = (await running).response.error
    assert (error.kind, error.generation) == (ErrorKind.CANCELLED, name)


async def test_rollback_serves_the_former_version_and_does_not_reload_the_bad_one(start, workspace: Path) -> None:
    runtime = await start()
    await runtime.watch.close()
    first = runtime.table.active["greet"].name
    await updated(runtime, workspace, SCRIPT.replace("one", "two"))
    receipt = await runtime.operations.rollback("greet", ANN)
    assert receipt.target not in (first, receipt.source)
    assert (await call(runtime)).response.result["by"] == "one"
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert (await call(runtime)).response.result["by"] == "one"
    await updated(runtime, workspace, SCRIPT.replace("one", "three"))
    assert (await call(runtime)).response.result["by"] == "three"


async def test_rollback_works_after_the_files_are_gone(start, workspace: Path) -> None:
    runtime = await start()
    await updated(runtime, workspace, SCRIPT.replace("one", "two"))
    (workspace / "capabilities/tools/greet.lua").unlink()
    await runtime.operations.rollback("greet", ANN)
    assert (await call(runtime)).response.result["by"] == "one"


async def test_a_target_that_moved_is_not_touched(start, workspace: Path) -> None:
    runtime = await start()
    seen = runtime.table.active["greet"].name.short
    await updated(runtime, workspace, SCRIPT.replace("one", "two"))
    with pytest.raises(CallFailed) as refused:
        await runtime.operations.drain("greet", ANN, if_generation=seen)
    assert refused.value.error.kind is ErrorKind.CONFLICT
    assert (await call(runtime)).response.ok


async def test_a_target_that_moves_during_the_order_is_not_touched(
    start, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = await start()
    first = runtime.table.active["greet"].name.short
    await updated(runtime, workspace, SCRIPT.replace("one", "two"))
    second = runtime.table.active["greet"].name.short
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "three"))
    with pytest.raises(CallFailed) as refused:
        await runtime.reloader.run(actor=ANN, explicit=True, ids=("greet",), if_generation=first)
    assert refused.value.error.kind is ErrorKind.CONFLICT

    async def slowly(*arguments: Any) -> None:
        await runtime.reloader.run(actor=ANN, explicit=True)
        await quarantine(*arguments)

    quarantine = Keeping.quarantine
    monkeypatch.setattr(Keeping, "quarantine", slowly)
    with pytest.raises(CallFailed, match="changed under you") as refused:
        await runtime.operations.rollback("greet", ANN, if_generation=second)
    assert refused.value.error.kind is ErrorKind.CONFLICT
    assert (await call(runtime)).response.result["by"] == "three"
    assert not runtime.registry.capabilities["greet"].quarantined


async def test_nothing_to_roll_back_to_is_said_so(start) -> None:
    runtime = await start()
    with pytest.raises(CallFailed) as refused:
        await runtime.operations.rollback("greet", ANN)
    assert refused.value.error.kind is ErrorKind.NOT_FOUND
    assert "kept: none" in refused.value.error.message


async def test_disable_takes_effect_at_once_and_enable_undoes_it(start) -> None:
    runtime = await start()
    await runtime.operations.disable("greet", ANN)
    assert not (await call(runtime)).response.ok
    await runtime.operations.enable("greet", ANN)
    assert (await call(runtime)).response.ok


async def test_enable_says_when_the_manifest_itself_switches_it_off(start, workspace: Path) -> None:
    path = workspace / "capabilities/greet.yaml"
    path.write_text(path.read_text() + "enabled: false\n")
    runtime = await start()
    assert runtime.registry.capabilities["greet"].state is State.DISABLED
    with pytest.raises(CallFailed) as refused:
        await runtime.operations.enable("greet", ANN)
    assert "enabled: true" in refused.value.error.message


SLEEPY = SCRIPT.replace(
    "function health_check(ctx)\n",
    "function health_check(ctx)\n  local t = os.clock() while os.clock() - t < 0.2 do end\n",
)


async def test_looks_at_the_disk_during_a_rollback_neither_stop_nor_undo_it(start, workspace: Path) -> None:
    save(workspace, "capabilities/tools/greet.lua", SLEEPY)
    runtime = await start()
    await updated(runtime, workspace, SCRIPT.replace("one", "two"))
    back = asyncio.create_task(runtime.operations.rollback("greet", ANN))
    while not back.done():
        await runtime.reloader.follow(frozenset())
    for _ in range(3):
        await runtime.reloader.run(actor=ANN, explicit=True)
    assert (await back).action == "rollback"
    assert (await call(runtime)).response.result["by"] == "one"


async def test_a_version_brought_back_while_nothing_served_is_not_quarantined_itself(start) -> None:
    runtime = await start()
    await runtime.operations.drain("greet", ANN)
    await runtime.operations.rollback("greet", ANN)
    await runtime.operations.drain("greet", ANN)
    receipt = await runtime.operations.enable("greet", ANN)
    assert receipt.target == runtime.table.active["greet"].name
    assert (await call(runtime)).response.result["by"] == "one"


async def test_enable_after_a_rollback_serves_what_served_and_not_what_was_rolled_back(start, workspace: Path) -> None:
    runtime = await start()
    await updated(runtime, workspace, SCRIPT.replace("one", "two"))
    await runtime.operations.rollback("greet", ANN)
    await runtime.operations.drain("greet", ANN)
    receipt = await runtime.operations.enable("greet", ANN)
    assert receipt.target == runtime.table.active["greet"].name
    assert (await call(runtime)).response.result["by"] == "one"


@pytest.mark.parametrize("broken", ["function invoke(", "error('no')"])
async def test_enable_beside_a_refused_file_serves_what_served_last_and_says_so(
    start, workspace: Path, broken: str
) -> None:
    runtime = await start()
    await updated(runtime, workspace, SCRIPT.replace("one", "two"))
    number = runtime.table.active["greet"].name.short
    await runtime.operations.drain("greet", ANN)
    await updated(runtime, workspace, broken)
    receipt = await runtime.operations.enable("greet", ANN)
    assert (await call(runtime)).response.result["by"] == "two"
    assert receipt.target == runtime.table.active["greet"].name
    assert f"{number}, which served before, serves again" in receipt.note
    rejection = runtime.registry.capabilities["greet"].rejection
    assert rejection is not None
    assert rejection.diagnostics[0].code in receipt.note
    assert runtime.history.holds() == {}


async def test_enable_with_nothing_good_to_serve_says_why(start, workspace: Path) -> None:
    runtime = await start()
    await runtime.operations.drain("greet", ANN)
    save(workspace, "capabilities/policies/default.yaml", "version: 1\ndeny: {ids: [greet]}\n")
    with pytest.raises(CallFailed, match="EVA-413"):
        await runtime.operations.enable("greet", ANN)
    assert "greet" not in runtime.table.active


async def test_a_disable_during_a_load_is_not_undone_by_it(start, workspace: Path) -> None:
    runtime = await start()
    save(workspace, "capabilities/tools/greet.lua", SLEEPY)
    await runtime.reloader.follow(frozenset())
    capability = runtime.registry.capabilities["greet"]
    await until(lambda: capability.attempt is not None)
    await runtime.operations.disable("greet", ANN)
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert capability.active is None
    assert (await call(runtime)).response.error.kind is ErrorKind.UNAVAILABLE
    assert runtime.history.holds() == {"greet": "disabled"}


async def test_a_rollback_that_fails_leaves_a_disabled_capability_disabled(start, workspace: Path) -> None:
    runtime = await start()
    await updated(runtime, workspace, SCRIPT.replace("one", "two"))
    await runtime.operations.disable("greet", ANN)
    denied = (workspace / "capabilities/policies/default.yaml").read_text() + "ceilings: {timeout_ms: 10}\n"
    save(workspace, "capabilities/policies/default.yaml", denied)
    await runtime.reloader.run(actor=ANN, explicit=True)
    with pytest.raises(CallFailed):
        await runtime.operations.rollback("greet", ANN)
    assert runtime.history.holds() == {"greet": "disabled"}
    assert runtime.registry.capabilities["greet"].active is None


async def test_orders_and_policies_are_on_record(start, workspace: Path) -> None:
    runtime = await start()
    await runtime.operations.disable("greet", ANN)
    await runtime.operations.enable("greet", ANN)
    save(workspace, "capabilities/policies/default.yaml", "version: 1\n")
    await runtime.reloader.run(actor=ANN, explicit=True)
    save(workspace, "capabilities/policies/default.yaml", "versoin: 1\n")
    await runtime.reloader.run(actor=ANN, explicit=True)
    (workspace / "capabilities/greet.yaml").unlink()
    await runtime.reloader.run(actor=ANN, explicit=True)
    await runtime.close()
    records = [(record["code"], record["actor"]["id"]) for record in runtime.audit.tail(100)]
    assert ("capability.disabled", "ann") in records
    assert ("capability.enabled", "ann") in records
    codes = [code for code, _ in records]  # the watch may have been quicker than the hand
    wanted = ["policy.changed", "policy.rejected", "capability.unregistered"]
    assert [code for code in codes if code in wanted] == wanted


async def test_one_unknown_id_keeps_a_reload_from_changing_the_others(start, workspace: Path) -> None:
    runtime = await start()
    serving = runtime.table
    save(workspace, "capabilities/tools/greet.lua", SLEEPY)
    with pytest.raises(CallFailed) as refused:
        await runtime.reloader.run(actor=ANN, explicit=True, ids=("greet", "nobody"))
    assert refused.value.error.kind is ErrorKind.NOT_FOUND
    assert runtime.table is serving


async def test_a_call_that_waits_in_line_at_a_drain_hears_what_a_new_one_hears(start, workspace: Path) -> None:
    write(workspace, tool("spin", SPIN, limits="{concurrency: 1}", reload="{drain_timeout_ms: 50}"))
    runtime = await start()
    calls = [asyncio.create_task(call(runtime, "test.spin", {})) for _ in range(2)]
    await until(lambda: runtime.registry.capabilities["spin"].limiter.queued)
    await runtime.operations.drain("spin", ANN)
    waited = (await calls[1]).response.error
    new = (await call(runtime, "test.spin", {})).response.error
    assert waited.details["reason"] == "drained"
    assert (waited.kind, waited.message, waited.details) == (new.kind, new.message, new.details)


@pytest.mark.parametrize("drains", [False, True], ids=["serving", "draining already"])
async def test_a_forced_drain_cuts_at_once_and_says_whom(start, workspace: Path, drains: bool) -> None:
    write(workspace, tool("spin", SPIN, limits="{timeout_ms: 60000}", reload="{drain_timeout_ms: 60000}"))
    runtime = await start()
    running = asyncio.create_task(call(runtime, "test.spin", {}))
    await until(lambda: runtime.registry.capabilities["spin"].in_flight)
    waiting = asyncio.create_task(runtime.operations.drain("spin", ANN)) if drains else None
    if waiting is not None:
        await until(lambda: runtime.registry.capabilities["spin"].draining)
    receipt = await runtime.operations.drain("spin", ANN, force=True)
    assert (receipt.cut, [one.request_id for one in receipt.drained.who]) == (1, [(await running).request_id])
    assert (await running).response.error.kind is ErrorKind.CANCELLED
    if waiting is not None:
        assert (await waiting).cut == 1
    assert runtime.registry.capabilities["spin"].state is State.DISABLED
    await runtime.operations.enable("spin", ANN)
    assert runtime.registry.capabilities["spin"].state is State.ACTIVE
