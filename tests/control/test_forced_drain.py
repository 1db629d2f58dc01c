"""A drain that waits for nobody, in the process and over the socket."""

from __future__ import annotations

import asyncio
from pathlib import Path

from evatui.control.operator import Operator
from evatui.control.snapshot import Cursor
from evatui.kernel.model.lifecycle import State
from tests.control.crowd import ANN
from tests.support.workspaces import tool, write

SPIN = "function invoke(ctx, request) while true do end end"


async def test_a_drain_with_force_waits_for_nobody(operator: Operator, workspace: Path) -> None:
    write(workspace, tool("spin", SPIN, limits="{timeout_ms: 60000}", reload="{drain_timeout_ms: 60000}"))
    await operator.run("capability.reload", ids=["spin"])
    call = asyncio.create_task(operator.run("capability.call", name="test.spin", payload={}))
    await _in_flight(operator, 1)
    drain = asyncio.create_task(operator.run("capability.drain", id="spin"))
    await _in_state(operator, "spin", State.DRAINING)
    forced = await operator.run("capability.drain", id="spin", force=True)
    assert (forced["cut"], [one["caller"] for one in forced["cut_calls"]]) == (1, [ANN.id])
    assert (await drain)["cut"] == 1
    assert (await call)["response"]["error"]["kind"] == "Cancelled"
    assert (await operator.run("capability.undo", id="spin"))["action"] == "undo"


async def _in_flight(operator: Operator, calls: int) -> None:
    async with asyncio.timeout(60):
        while len((await operator.snapshot(Cursor())).calls) != calls:
            await asyncio.sleep(0.002)


async def _in_state(operator: Operator, capability_id: str, state: State) -> None:
    async with asyncio.timeout(60):
        while {row.id: row.state for row in (await operator.snapshot(Cursor())).capabilities}[capability_id] != state:
            await asyncio.sleep(0.002)
