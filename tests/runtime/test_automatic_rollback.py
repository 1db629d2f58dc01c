"""A version that fails too often makes room for the one before it, by itself: when, and when not."""

from __future__ import annotations

import asyncio
import datetime as dt
from pathlib import Path

import pytest

from evatui.kernel.registry.rollout.trial import Trial
from tests.runtime.canary import BAD, GOOD, asked, events, greet
from tests.runtime.conftest import ANN, call
from tests.runtime.hands import Hands
from tests.support.waiting import until
from tests.support.workspaces import EVERYTHING, MANIFEST, POLICY, SCRIPT, save, tool, write

FIVE = POLICY + "rollback: {min_samples: 5, window_s: 600}\n"
POLITE = GOOD.replace(
    "  return {ok = true, result",
    '  if request.payload.name == "odd" then return {ok = false, error = {kind = "NotFound", message = "-"}} end\n'
    "  return {ok = true, result",
)


@pytest.fixture
def workspace(workspace: Path) -> Path:
    save(workspace, "capabilities/policies/default.yaml", FIVE)
    return workspace


async def updated(runtime, workspace: Path, script: str, manifest: str = MANIFEST) -> Trial | None:
    save(workspace, "capabilities/tools/greet.lua", script)
    save(workspace, "capabilities/greet.yaml", manifest)
    await runtime.reloader.run(actor=ANN, explicit=True)
    return greet(runtime).trial


async def settled(runtime) -> None:
    """Whatever was to happen by itself has."""
    await asyncio.gather(*runtime.trials._tasks)


async def test_enough_faults_bring_the_version_before_back(start, workspace: Path) -> None:
    runtime = await start()
    first = runtime.table.active["greet"].name
    await updated(runtime, workspace, BAD)
    bad = runtime.table.active["greet"]
    for _ in range(5):
        assert await asked(runtime) == "HandlerError"
    await until(lambda: events(runtime, "rolled_back"))
    assert await asked(runtime) == "one"
    serving = runtime.table.active["greet"].name
    assert serving.number > bad.name.number > first.number
    (told,) = events(runtime, "rolled_back")
    assert (told["from_generation"], told["generation"]) == (bad.name.id, serving.id)
    assert told["cause"] == "5 of 5 calls failed within 600 s"
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert await asked(runtime) == "one"
    assert greet(runtime).trial is None


async def test_too_few_calls_say_nothing(start, workspace: Path) -> None:
    runtime = await start()
    await updated(runtime, workspace, BAD)
    for _ in range(4):
        await asked(runtime)
    await settled(runtime)
    assert events(runtime, "rolled_back") == []


async def test_what_a_caller_or_the_world_did_wrong_is_no_fault(start, workspace: Path) -> None:
    runtime = await start()
    await updated(runtime, workspace, POLITE)
    for _ in range(10):
        assert await asked(runtime, name="odd") == "NotFound"
    for _ in range(10):
        report = await runtime.call(_wrong())
        assert report.response.error.kind == "InvalidInput"
    await settled(runtime)
    assert events(runtime, "rolled_back") == []
    tally = runtime.table.active["greet"].tally
    assert (tally.samples, tally.faults) == (10, 0)


def _wrong():
    from evatui.kernel.model.call import CallRequest

    return CallRequest("text.greet", {"name": 1}, ANN)


async def test_a_manifest_may_forbid_it(start, workspace: Path) -> None:
    runtime = await start()
    stays = MANIFEST.replace("reload: {", "reload: {rollback_on_failure: false, ")
    assert await updated(runtime, workspace, BAD, stays) is None
    for _ in range(6):
        await asked(runtime)
    await settled(runtime)
    assert events(runtime, "rolled_back") == []


async def test_the_first_version_ever_stays_as_there_is_nothing_before_it(start, workspace: Path) -> None:
    save(workspace, "capabilities/tools/greet.lua", BAD)
    runtime = await start()
    for _ in range(8):
        assert await asked(runtime) == "HandlerError"
    await settled(runtime)
    assert events(runtime, "rolled_back") == events(runtime, "rollback_failed") == []


async def test_within_the_cool_down_it_happens_once(start, workspace: Path) -> None:
    runtime = await start()
    await updated(runtime, workspace, BAD)
    for _ in range(5):
        await asked(runtime)
    await until(lambda: events(runtime, "rolled_back"))
    await updated(runtime, workspace, BAD.replace("broken", "broken again"))
    for _ in range(8):
        assert await asked(runtime) == "HandlerError"
    await settled(runtime)
    assert len(events(runtime, "rolled_back")) == 1


@pytest.mark.parametrize(("away_s", "times"), [(200, 0), (400, 1), (-3600, 0)])
async def test_the_cool_down_goes_on_over_a_restart(start, workspace: Path, away_s: int, times: int) -> None:
    runtime = await start()
    await updated(runtime, workspace, BAD)
    for _ in range(5):
        await asked(runtime)
    await until(lambda: events(runtime, "rolled_back"))
    await settled(runtime)
    await runtime.close()
    hands = Hands()
    hands.wall = dt.timedelta(seconds=away_s)
    runtime = await start(clock=hands)
    await updated(runtime, workspace, BAD.replace("broken", "broken again"))
    for _ in range(8):
        await asked(runtime)
    await settled(runtime)
    assert len(events(runtime, "rolled_back")) == times


WRITES = """
function invoke(ctx, request)
  ctx.host.state_set({key = "k", value = 1})
  error("broken")
end
"""


async def test_never_once_it_has_written_state_of_a_new_schema(start, workspace: Path) -> None:
    runtime = await start()
    newer = MANIFEST.replace("health_check: health_check", "entry: invoke") + "state: {schema_version: 2}\n"
    await updated(runtime, workspace, WRITES, newer)
    for _ in range(6):
        assert await asked(runtime) == "HandlerError"
    await until(lambda: events(runtime, "rollback_failed"))
    await settled(runtime)
    (told,) = events(runtime, "rollback_failed")
    assert "state of schema 2" in told["reason"]
    assert events(runtime, "rolled_back") == []


async def test_a_new_schema_that_was_not_written_to_is_no_hindrance(start, workspace: Path) -> None:
    runtime = await start()
    await updated(runtime, workspace, BAD, MANIFEST + "state: {schema_version: 2}\n")
    for _ in range(5):
        await asked(runtime)
    await until(lambda: events(runtime, "rolled_back"))
    assert await asked(runtime) == "one"


async def test_what_comes_back_after_a_restart_or_by_order_is_not_new(start, workspace: Path) -> None:
    runtime = await start()
    assert greet(runtime).trial is not None
    await updated(runtime, workspace, SCRIPT.replace('"one"', '"two"'))
    assert greet(runtime).trial is not None
    await runtime.operations.rollback("greet", ANN)
    assert greet(runtime).trial is None
    await runtime.close()
    runtime = await start()
    assert greet(runtime).trial is None


async def test_a_target_that_cannot_be_brought_back_is_told_and_what_serves_goes_on(start, workspace: Path) -> None:
    runtime = await start()
    await updated(runtime, workspace, BAD)
    save(workspace, "capabilities/policies/default.yaml", FIVE + "ceilings: {concurrency: 2}\n")
    await runtime.reloader.run(actor=ANN)
    for _ in range(6):
        assert await asked(runtime) == "HandlerError"
    await until(lambda: events(runtime, "rollback_failed"))
    assert "would be refused now" in events(runtime, "rollback_failed")[0]["reason"]


async def test_it_does_not_watch_for_ever(start, workspace: Path) -> None:
    runtime = await start()
    trial = await updated(runtime, workspace, POLITE)
    assert trial is not None
    trial.began -= 600
    for _ in range(5):
        await asked(runtime)
    assert greet(runtime).trial is None


async def test_the_rules_of_a_version_are_those_that_held_when_it_went_into_service(start, workspace: Path) -> None:
    """A policy that changes meanwhile is for those that come after it: nobody is tried by another law than at first."""
    runtime = await start()
    trial = await updated(runtime, workspace, BAD)
    assert trial is not None
    save(workspace, "capabilities/policies/default.yaml", FIVE.replace("min_samples: 5", "min_samples: 2"))
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert greet(runtime).trial is trial
    assert trial.rules.min_samples == 5
    for _ in range(4):
        assert await asked(runtime) == "HandlerError"
    await settled(runtime)
    assert await asked(runtime) == "HandlerError"  # the fifth
    await until(lambda: events(runtime, "rolled_back"))
    later = await updated(runtime, workspace, GOOD)
    assert later is not None
    assert later.rules.min_samples == 2


LATE = """
function invoke(ctx, request)
  while ctx.host.state_get({key = "go"}).version == 0 do end
  for _ = 1, 5 do pcall(ctx.host.call_tool, {capability = "text.greet", payload = {name = "bob"}}) end
  return {ok = true, result = {}}
end
"""


async def test_what_fails_while_the_runtime_ends_brings_nothing_back(start, workspace: Path) -> None:
    """Whoever is called leaves after its callers, and so serves for a while yet."""
    asks = "{adapters: {capabilities: [text.greet], providers: ['*']}}"
    write(workspace, tool("late", LATE, permissions=asks, limits="{timeout_ms: 60000, host_calls: 1000000}"))
    save(workspace, "capabilities/policies/default.yaml", EVERYTHING + FIVE.removeprefix(POLICY))
    runtime = await start()
    await updated(runtime, workspace, BAD)
    running = asyncio.create_task(call(runtime, "test.late", {}))
    await until(lambda: runtime.registry.capabilities["late"].in_flight)
    closing = asyncio.create_task(runtime.close())
    await until(lambda: runtime.calls.ending)
    await asyncio.to_thread(runtime.state.set, "late", 1, "go", True)
    assert (await running).response.ok
    await closing
    assert (greet(runtime).calls, greet(runtime).errors) == (5, 5)
    assert runtime.trials._began == {}, "none was even begun"
