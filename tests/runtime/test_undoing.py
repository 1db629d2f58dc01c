"""Undo: what was ordered last is taken back, whatever it was, and told before."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evatui.control.orders import orders
from evatui.control.standing import disk_code, disk_status
from evatui.kernel.model.errors import CallFailed
from evatui.runtime import Runtime
from tests.runtime.canary import GOOD, asked, canary, greet
from tests.runtime.conftest import ANN
from tests.support.workspaces import SCRIPT, save


async def order(runtime: Runtime, what: str, **params: Any) -> dict[str, Any]:
    return await orders(runtime)[f"capability.{what}"]({"id": "greet", **params}, ANN)


async def undone(runtime: Runtime, by: str) -> dict[str, Any]:
    """It says beforehand what it does."""
    plan = await order(runtime, "undo_plan")
    assert plan["by"] == by
    receipt = await order(runtime, "undo")
    assert receipt["note"].startswith(f"undid the {plan['undoes']['action']} of {plan['undoes']['at']}")
    return receipt


async def two_versions(runtime: Runtime, workspace: Path) -> None:
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "two"))
    await runtime.reloader.run(actor=ANN, explicit=True)
    await runtime.watch.close()


async def test_a_rollback_that_is_undone_leaves_nobody_in_quarantine(start, workspace: Path) -> None:
    runtime = await start()
    await two_versions(runtime, workspace)
    await order(runtime, "rollback")
    assert await asked(runtime) == "one"
    assert greet(runtime).active.name.short == "g3"
    (change,) = (await runtime.reloader.plan()).changes
    assert [found.code for found in change.diagnostics] == [disk_code(greet(runtime))] == ["EVA-604"]
    receipt = await undone(runtime, "going back to g2")
    assert (receipt["from_number"], receipt["to_number"]) == ("g3", "g4")
    assert await asked(runtime) == "two"
    assert greet(runtime).quarantined == set()
    await order(runtime, "rollback")
    assert await asked(runtime) == "one"


async def test_what_was_brought_back_where_nothing_served_is_out_of_service_again(start, workspace: Path) -> None:
    runtime = await start()
    await two_versions(runtime, workspace)
    await order(runtime, "drain")
    await order(runtime, "rollback")
    assert await asked(runtime) == "two"
    await undone(runtime, "draining it")
    assert await asked(runtime) == "Unavailable"
    await order(runtime, "enable")
    (workspace / "capabilities/greet.yaml").unlink()
    await runtime.reloader.run(actor=ANN, explicit=True)
    await order(runtime, "rollback")
    assert await asked(runtime) == "two"
    await undone(runtime, "leaving it deleted, as the disk has it")
    assert await asked(runtime) == "NotFound"


@pytest.mark.parametrize(
    ("orders_", "by", "then"),
    [
        (("disable",), "switching it on", "one"),
        (("drain",), "switching it on", "one"),
        (("disable", "enable"), "switching it off", "Unavailable"),
        (("drain", "enable"), "draining it", "Unavailable"),
        (("disable", "disable"), "switching it on", "one"),
        (("drain", "enable", "enable"), "draining it", "Unavailable"),
    ],
)
async def test_what_was_switched_is_as_it_was(start, orders_: tuple[str, ...], by: str, then: str) -> None:
    runtime = await start()
    await runtime.watch.close()
    held = None
    for what in orders_:
        before = greet(runtime).hold
        await order(runtime, what)
        held = before if greet(runtime).hold is not before else held
    await undone(runtime, by)
    assert await asked(runtime) == then
    assert greet(runtime).hold == held


async def test_the_orders_of_a_canary_are_taken_back_one_by_one(start, workspace: Path) -> None:
    runtime = await start()
    await runtime.watch.close()
    await canary(runtime, workspace)
    await order(runtime, "pause")
    await undone(runtime, "resuming its canary")
    await order(runtime, "pause")
    await order(runtime, "resume")
    await undone(runtime, "pausing its canary")
    await order(runtime, "abort")
    assert await asked(runtime) == "one"
    await undone(runtime, "trying its canary again, from the beginning")
    assert await asked(runtime) == "two"
    await order(runtime, "abort")
    await order(runtime, "retry")
    await undone(runtime, "aborting its canary")
    assert await asked(runtime) == "one"
    await order(runtime, "retry")
    await order(runtime, "promote")
    await undone(runtime, "going back to g1")
    assert await asked(runtime) == "one"
    with pytest.raises(CallFailed, match="nothing was ordered"):
        await order(runtime, "undo")


async def test_what_cannot_be_undone_says_why_before_and_then(start, workspace: Path) -> None:
    runtime = await start()
    await two_versions(runtime, workspace)
    await order(runtime, "retry")
    for what in ("undo_plan", "undo"):
        with pytest.raises(CallFailed, match="the retry of greet changed nothing"):
            await order(runtime, what)
    await order(runtime, "drain")
    await order(runtime, "disable")
    with pytest.raises(CallFailed, match="switched nothing on or off"):
        await order(runtime, "undo_plan")
    await order(runtime, "enable")
    await order(runtime, "rollback")
    save(workspace, "capabilities/tools/greet.lua", GOOD.replace("two", "three"))
    await runtime.reloader.run(actor=ANN, explicit=True)
    with pytest.raises(CallFailed, match="something else happened"):
        await order(runtime, "undo_plan")


async def test_of_two_at_once_one_undoes_and_what_is_ordered_meanwhile_is_not_forgotten(start, workspace: Path) -> None:
    runtime = await start()
    await two_versions(runtime, workspace)
    await order(runtime, "rollback")
    first, second = await asyncio.gather(order(runtime, "undo"), order(runtime, "undo"), return_exceptions=True)
    assert first["to_number"] == "g4"
    assert isinstance(second, CallFailed)
    assert "nothing was ordered" in str(second)
    may_end, enable = asyncio.Event(), runtime.operations.enable

    async def slow(*arguments: Any) -> Any:
        await may_end.wait()
        return await enable(*arguments)

    await order(runtime, "drain")
    runtime.operations.enable = slow
    undoing = asyncio.create_task(order(runtime, "undo"))
    await asyncio.sleep(0)
    await order(runtime, "disable")
    may_end.set()
    await undoing
    with pytest.raises(CallFailed, match="something else happened to greet since its disable"):
        await order(runtime, "undo_plan")


async def test_a_plan_says_that_what_would_come_back_does_not_load_any_more(start, workspace: Path) -> None:
    runtime = await start()
    well = "{ok = ctx.host.state_get({key = 'sick'}).value ~= true}\nend"
    two = SCRIPT.replace("one", "two").replace("{ok = true}\nend", well)
    save(workspace, "capabilities/tools/greet.lua", two)
    await runtime.reloader.run(actor=ANN, explicit=True)
    await order(runtime, "rollback")
    assert (await order(runtime, "undo_plan"))["by"] == "going back to g2"
    await asyncio.to_thread(runtime.state.set, "greet", 1, "sick", True)
    for what in ("undo_plan", "undo"):
        with pytest.raises(CallFailed, match="g2 of greet does not load any more"):
            await order(runtime, what)
    assert await asked(runtime) == "one"
    assert disk_status(greet(runtime)) == "quarantined"
    save(workspace, "capabilities/tools/greet.lua", "function invoke(")
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert disk_status(greet(runtime)) == "rejected"
    save(workspace, "capabilities/tools/greet.lua", two)
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert disk_status(greet(runtime)) == "quarantined"


async def test_a_plan_says_that_what_would_come_back_is_lost(start, workspace: Path) -> None:
    runtime = await start()
    await two_versions(runtime, workspace)
    await order(runtime, "rollback")
    runtime.store.retain({greet(runtime).active.digest})
    with pytest.raises(CallFailed, match="cannot be brought back"):
        await order(runtime, "undo_plan")
    assert await asked(runtime) == "one"
