"""The new version serves before the old one is touched, and calls of the old one have the time that was promised."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.lifecycle import State
from tests.runtime.conftest import ANN, call
from tests.runtime.waiting_calls import held_call, let_go, patient, save_version, serves
from tests.support.waiting import until
from tests.support.workspaces import EVERYTHING, save, tool, write

MANIFEST = "capabilities/patient.yaml"
POLICY = "capabilities/policies/default.yaml"
ASK = 'ctx.host.call_tool{capability = "test.%s", payload = {}}'


async def test_a_long_call_ends_on_the_version_it_began_on_while_the_new_one_serves(start, workspace: Path) -> None:
    patient(workspace)
    runtime = await start()
    capability, old = runtime.registry.capabilities["patient"], runtime.table.active["patient"]
    running = await held_call(runtime, "go")
    save_version(workspace, "two")
    await serves(runtime, "two")
    assert (old.state, old.in_flight, capability.state) == (State.DRAINING, 1, State.ACTIVE)
    report = await let_go(runtime, "go", running)
    assert report.response.result == {"by": "one"}
    assert report.generation == old.name.id
    await until(lambda: capability.live == 1)
    assert capability.in_flight == 0


async def test_a_call_that_a_reload_cuts_names_its_generation_and_is_not_to_be_tried_again(
    start, workspace: Path
) -> None:
    patient(workspace, reload="{drain_timeout_ms: 50}")
    runtime = await start()
    name = runtime.table.active["patient"].name.id
    running = await held_call(runtime, "go")
    save_version(workspace, "two")
    error = (await running).response.error
    assert (error.kind, error.generation, error.retryable) == (ErrorKind.CANCELLED, name, False)
    await serves(runtime, "two")


async def test_however_fast_saves_follow_three_generations_live_and_the_latest_wins(start, workspace: Path) -> None:
    patient(workspace)
    runtime = await start()
    capability = runtime.registry.capabilities["patient"]
    running = {}
    for version in ("one", "two", "three"):
        save_version(workspace, version)
        await serves(runtime, version)
        running[version] = await held_call(runtime, version)
    assert capability.live == 3
    number = runtime.table.active["patient"].name.number
    for version in ("four", "five", "six", "seven"):
        save_version(workspace, version)
        await runtime.reloader.follow(frozenset({"capabilities/tools/patient.lua"}))
        assert capability.live == 3
        assert (await call(runtime, "test.patient", {})).response.result == {"by": "three"}
    await let_go(runtime, "two", running["two"])
    await serves(runtime, "seven")
    assert runtime.table.active["patient"].name.number == number + 1  # what was in between never began
    for version in ("one", "three"):
        assert (await let_go(runtime, version, running[version])).response.result == {"by": version}
    await until(lambda: capability.live == 1)


async def test_neither_a_reload_nor_a_refused_one_frees_or_adds_a_slot(start, workspace: Path) -> None:
    patient(workspace, limits="{timeout_ms: 60000, concurrency: 1, host_calls: 1000000}")
    runtime = await start()
    capability = runtime.registry.capabilities["patient"]
    running = await held_call(runtime, "go")
    save_version(workspace, "two")
    await until(lambda: runtime.table.active["patient"].state is State.ACTIVE and len(capability.draining) == 1)
    waiting = asyncio.create_task(call(runtime, "test.patient", {}))
    await until(lambda: capability.limiter.queued == 1)
    wider = (workspace / MANIFEST).read_text().replace("concurrency: 1", "concurrency: 8")
    save(workspace, MANIFEST, wider + "priorty: 3\n")
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert capability.rejection is not None
    assert (capability.limiter.running, capability.limiter.queued) == (1, 1)
    save(workspace, MANIFEST, wider)
    assert (await waiting).response.result == {"by": "two"}
    assert (await let_go(runtime, "go", running)).response.result == {"by": "one"}


@pytest.mark.parametrize("goes", ["deleted", "replaced"])
async def test_what_is_deleted_answers_the_calls_of_those_that_leave_with_it(start, workspace: Path, goes: str) -> None:
    """By way of one in the middle, which is deleted as well and has no call yet."""
    patient(workspace, permissions="{adapters: {capabilities: [test.middle]}}")
    script = workspace / "capabilities/tools/patient.lua"
    script.write_text(script.read_text().replace('{ok = true, result = {by = "one"}}', ASK % "middle"))
    middle = f"function invoke(ctx, request) return {ASK % 'leaf'} end"
    write(workspace, tool("middle", middle, permissions="{adapters: {capabilities: [test.leaf]}}"))
    write(workspace, {**tool("leaf", 'function invoke() return {ok = true, result = "leaf"} end'), POLICY: EVERYTHING})
    runtime = await start()
    await runtime.watch.close()
    held, idle = await held_call(runtime, "go"), [runtime.registry.capabilities[key] for key in ("middle", "leaf")]
    for name in ("middle", "leaf", *(["patient"] if goes == "deleted" else [])):
        (workspace / f"capabilities/{name}.yaml").unlink()
    if goes == "replaced":
        write(workspace, tool("patient", "function invoke() return {ok = true} end"))
    await runtime.reloader.run()
    assert (await call(runtime, "test.leaf", {})).response.error.kind is ErrorKind.NOT_FOUND
    assert [capability.state for capability in idle] == [State.DRAINING] * 2
    assert (await let_go(runtime, "go", held)).response.result == "leaf"
    await until(lambda: [capability.state for capability in idle] == [State.UNREGISTERED] * 2)
