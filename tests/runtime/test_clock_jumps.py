"""The wall clock jumps by an hour, either way, amid a drain and an approval: it is shown, and decides nothing."""

from __future__ import annotations

import asyncio
import datetime as dt
from pathlib import Path

import pytest

from evatui.kernel.model.lifecycle import State
from tests.runtime.conftest import ANN, call, records
from tests.runtime.hands import Hands
from tests.runtime.waiting_calls import held_call, let_go, patient, save_version, serves
from tests.support.waiting import until
from tests.support.workspaces import MANIFEST, POLICY, save

HOURS = pytest.mark.parametrize("hours", [-1, 1])


@HOURS
async def test_a_drain_neither_ends_early_nor_lasts_longer(start, workspace: Path, hours: int) -> None:
    patient(workspace)
    hands = Hands()
    runtime = await start(clock=hands)
    capability, old = runtime.registry.capabilities["patient"], runtime.table.active["patient"]
    running = await held_call(runtime, "go")
    save_version(workspace, "two")
    await serves(runtime, "two")
    deadline = old.drain_deadline
    hands.wall = dt.timedelta(hours=hours)
    save_version(workspace, "three")
    await serves(runtime, "three")
    assert (old.state, old.in_flight, old.drain_deadline) == (State.DRAINING, 1, deadline)
    report = await let_go(runtime, "go", running)
    assert report.response.result == {"by": "one"}
    assert 0 <= report.duration_ms < 60_000
    await until(lambda: capability.live == 1)
    assert not [r for r in await records(runtime, 50) if r["code"] == "capability.drained" and r["details"]["cut"]]


@HOURS
async def test_a_drain_by_hand_still_cuts_at_its_deadline(start, workspace: Path, hours: int) -> None:
    patient(workspace, reload="{drain_timeout_ms: 100}")
    hands = Hands()
    runtime = await start(clock=hands)
    running = await held_call(runtime, "go")
    draining = asyncio.create_task(runtime.operations.drain("patient", ANN))
    await until(lambda: runtime.registry.capabilities["patient"].draining)
    hands.wall = dt.timedelta(hours=hours)
    assert (await draining).cut == 1
    assert not (await running).response.ok


@HOURS
async def test_an_approval_is_good_before_and_after_it_and_over_a_restart(start, workspace: Path, hours: int) -> None:
    """A version that asks for more is held, approved an hour away, and serves; so it does in the next run."""
    save(workspace, "capabilities/policies/default.yaml", POLICY + '    events: {emit: ["/greet/**"]}\n')
    hands = Hands()
    runtime = await start(clock=hands)
    wider = MANIFEST + "permissions: {events: {emit: [/greet/done]}}\n"
    save(workspace, "capabilities/greet.yaml", wider)
    await runtime.reloader.run(actor=ANN, explicit=True)
    capability = runtime.registry.capabilities["greet"]
    held, serving = capability.held, runtime.table.active["greet"]
    assert held is not None
    hands.wall = dt.timedelta(hours=hours)
    await runtime.reloader.run(actor=ANN)
    assert capability.held is held
    assert runtime.table.active["greet"] is serving
    await runtime.approvals.approve("greet", held.digest, ANN)
    assert runtime.table.active["greet"].candidate.terms == held.digest
    hands.wall = -hands.wall
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert capability.held is None
    assert (await call(runtime)).response.ok
    await runtime.close()
    again = await start(clock=hands)
    assert again.table.active["greet"].candidate.terms == held.digest
    numbers = [kept.name.number for kept in again.registry.capabilities["greet"].kept]
    assert numbers == sorted(numbers, reverse=True)
