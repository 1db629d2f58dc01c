"""A new version beside the old one: who gets it, who decides, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.lifecycle import State
from evatui.kernel.registry.rollout.cohort import bucket
from tests.runtime.canary import BAD, GOOD, asked, canary, events, greet, manifest, rollout_of
from tests.runtime.conftest import ANN, call
from tests.support.waiting import until
from tests.support.workspaces import MANIFEST, SCRIPT, save

INSIDE = next(user for user in map(str, range(1000)) if bucket("greet", user) < 50)
OUTSIDE = next(user for user in map(str, range(1000)) if bucket("greet", user) >= 50)


async def test_it_serves_its_part_only_and_the_table_has_both_in_one_assignment(start, workspace: Path) -> None:
    runtime = await start()
    first = runtime.table.active["greet"]
    before = runtime.table
    rollout = await canary(runtime, workspace)
    assert runtime.table.active["greet"] is first
    assert runtime.table.canaries["greet"] is rollout.generation
    assert not before.canaries
    assert [await asked(runtime, user) for user in ("ann", INSIDE, OUTSIDE)] == ["two", "two", "one"]
    assert greet(runtime).state is State.ACTIVE
    assert greet(runtime).live == 2
    told = events(runtime, "canary_started")
    assert [(one["generation"], one["from_generation"]) for one in told] == [
        (rollout.generation.name.id, first.name.id)
    ]


async def test_enough_good_calls_promote_it(start, workspace: Path) -> None:
    runtime = await start()
    old = runtime.table.active["greet"].name.id
    rollout = await canary(runtime, workspace, analysis="{min_samples: 20}")
    for _ in range(20):
        assert await asked(runtime) == "two"
    await until(lambda: greet(runtime).rollout is None)
    assert runtime.table.active["greet"] is rollout.generation
    assert not runtime.table.canaries
    assert await asked(runtime, OUTSIDE) == "two"
    (told,) = events(runtime, "canary_promoted")
    assert told["reason"] == "pass: 0 of 20 calls failed, 0 of 0 beside it"
    await until(lambda: events(runtime, "reloaded"))
    assert events(runtime, "reloaded")[0]["from_generation"] == old


async def test_three_straight_faults_abort_it_before_the_next_call(start, workspace: Path) -> None:
    runtime = await start()
    rollout = await canary(runtime, workspace, BAD)
    answers = [await asked(runtime) for _ in range(4)]
    assert answers == ["HandlerError"] * 3 + ["one"]
    (told,) = events(runtime, "canary_aborted")
    assert told["reason"] == "fail: 3 of 3 calls failed, 0 of 0 beside it"
    assert rollout.generation.digest in greet(runtime).quarantined


async def test_what_was_aborted_is_not_tried_again_but_by_retry_and_then_with_clean_counts(
    start, workspace: Path
) -> None:
    runtime = await start()
    await canary(runtime, workspace, BAD)
    for _ in range(3):
        await asked(runtime)
    for _ in range(3):
        await runtime.reloader.run(actor=ANN, explicit=True)
        assert greet(runtime).rollout is None
    await runtime.close()
    runtime = await start()
    assert greet(runtime).rollout is None
    assert await asked(runtime) == "one"
    await runtime.operations.retry("greet", ANN)
    assert rollout_of(runtime).canary.counts(runtime.clock.monotonic()).samples == 0
    assert await asked(runtime) == "HandlerError"


async def test_the_next_version_starts_clean_and_is_not_dragged_down(start, workspace: Path) -> None:
    runtime = await start()
    await canary(runtime, workspace, BAD)
    for _ in range(3):
        await asked(runtime)
    rollout = await canary(runtime, workspace, GOOD)
    assert rollout.generation.digest not in greet(runtime).quarantined
    assert await asked(runtime) == "two"


async def test_a_new_version_supersedes_it_and_is_not_promoted_on_old_evidence(start, workspace: Path) -> None:
    runtime = await start()
    first = await canary(runtime, workspace, analysis="{min_samples: 20}")
    for _ in range(19):
        await asked(runtime)
    second = await canary(runtime, workspace, GOOD.replace("two", "three"), analysis="{min_samples: 20}")
    assert second is not first
    assert await asked(runtime) == "three"
    assert greet(runtime).rollout is second
    assert second.canary.counts(runtime.clock.monotonic()).samples == 1
    (told,) = events(runtime, "canary_aborted")
    assert (told["generation"], told["reason"]) == (first.generation.name.id, "superseded")
    assert first.generation.digest not in greet(runtime).quarantined
    await until(lambda: not greet(runtime).draining)


async def test_the_old_version_on_disk_again_ends_it_and_one_without_a_canary_serves_at_once(
    start, workspace: Path
) -> None:
    runtime = await start()
    await canary(runtime, workspace)
    save(workspace, "capabilities/tools/greet.lua", SCRIPT)
    save(workspace, "capabilities/greet.yaml", MANIFEST)
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert greet(runtime).rollout is None
    assert not greet(runtime).quarantined
    await canary(runtime, workspace)
    save(workspace, "capabilities/greet.yaml", MANIFEST)
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert greet(runtime).rollout is None
    assert await asked(runtime, OUTSIDE) == "two"
    assert runtime.registry.trail.counts[State.ACTIVE] == 1


async def test_a_broken_save_meanwhile_leaves_it(start, workspace: Path) -> None:
    runtime = await start()
    rollout = await canary(runtime, workspace)
    save(workspace, "capabilities/tools/greet.lua", "function invoke(")
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert greet(runtime).rollout is rollout
    assert await asked(runtime) == "two"


@pytest.mark.parametrize("order", ["drain", "disable"])
async def test_what_is_switched_off_takes_its_canary_along(start, workspace: Path, order: str) -> None:
    runtime = await start()
    await canary(runtime, workspace)
    await getattr(runtime.operations, order)("greet", ANN)
    assert await asked(runtime) == "Unavailable"
    assert not runtime.table.canaries
    await until(lambda: greet(runtime).state is State.DISABLED)
    await runtime.operations.enable("greet", ANN)
    assert [await asked(runtime, user) for user in ("ann", OUTSIDE)] == ["two", "one"]


async def test_a_deleted_one_takes_its_canary_along(start, workspace: Path) -> None:
    runtime = await start()
    await canary(runtime, workspace)
    (workspace / "capabilities/greet.yaml").unlink()
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert await asked(runtime) == "NotFound"
    await until(lambda: greet(runtime).state is State.UNREGISTERED)
    assert len(events(runtime, "unregistered")) == 1


async def test_a_policy_that_denies_ends_both(start, workspace: Path) -> None:
    runtime = await start()
    await canary(runtime, workspace)
    save(workspace, "capabilities/policies/deny.yaml", "version: 1\ndeny: {ids: [greet]}\n")
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert await asked(runtime) == "Unavailable"
    assert greet(runtime).rollout is None


async def test_after_a_restart_it_is_tried_out_anew_beside_what_served_everybody(start, workspace: Path) -> None:
    runtime = await start()
    first = runtime.table.active["greet"].name
    rollout = await canary(runtime, workspace)
    await asked(runtime)
    await runtime.close()
    runtime = await start()
    assert runtime.table.active["greet"].name == first
    again = rollout_of(runtime)
    assert again.generation.name == rollout.generation.name
    assert again.canary.counts(runtime.clock.monotonic()).samples == 0
    assert [await asked(runtime, user) for user in ("ann", OUTSIDE)] == ["two", "one"]


async def test_what_was_promoted_serves_everybody_after_a_restart(start, workspace: Path) -> None:
    runtime = await start()
    await canary(runtime, workspace)
    await runtime.rollouts.promote("greet", ANN)
    await runtime.close()
    runtime = await start()
    assert greet(runtime).rollout is None
    assert await asked(runtime, OUTSIDE) == "two"


async def test_where_nothing_served_before_it_serves_everybody_at_once(start, workspace: Path) -> None:
    save(workspace, "capabilities/greet.yaml", manifest())
    runtime = await start()
    assert greet(runtime).rollout is None
    assert await asked(runtime, OUTSIDE) == "one"


async def test_another_state_schema_is_not_tried_out(start, workspace: Path) -> None:
    runtime = await start()
    save(workspace, "capabilities/greet.yaml", manifest(more="state: {schema_version: 2}\n"))
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert greet(runtime).rollout is None
    assert runtime.table.active["greet"].manifest.state_schema == 2


async def test_rollback_during_one_takes_the_fast_path_and_leaves_what_served_beside_it(start, workspace: Path) -> None:
    runtime = await start()
    first = runtime.table.active["greet"]
    rollout = await canary(runtime, workspace)
    receipt = await runtime.operations.rollback("greet", ANN)
    assert (receipt.source, receipt.target) == (rollout.generation.name, first.name)
    assert await asked(runtime) == "one"
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert greet(runtime).rollout is None


async def test_a_rollback_to_an_older_one_is_no_canary_and_ends_the_one_that_runs(start, workspace: Path) -> None:
    runtime = await start()
    first = runtime.table.active["greet"].name
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace('"one"', '"middle"'))
    await runtime.reloader.run(actor=ANN, explicit=True)
    await canary(runtime, workspace)
    await runtime.operations.rollback("greet", ANN, to=first.short)
    assert greet(runtime).rollout is None
    assert [await asked(runtime, user) for user in ("ann", OUTSIDE)] == ["one", "one"]
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert greet(runtime).rollout is None
    assert await asked(runtime) == "one"


async def test_at_the_cap_of_live_generations_a_new_version_takes_the_place_of_the_canary(
    start, workspace: Path
) -> None:
    save(workspace, "eva.yaml", "version: 1\nruntime: {max_live_generations: 2}\n")
    runtime = await start()
    await canary(runtime, workspace)
    await canary(runtime, workspace, GOOD.replace("two", "three"))
    assert [await asked(runtime, user) for user in ("ann", OUTSIDE)] == ["three", "one"]


async def test_names_that_only_the_old_version_provides_stay_with_it(start, workspace: Path) -> None:
    save(workspace, "capabilities/greet.yaml", MANIFEST.replace("[text.greet]", "[text.greet, text.hello]"))
    runtime = await start()
    await canary(runtime, workspace)
    report = await call(runtime, "text.hello", user="ann")
    assert report.response.result["by"] == "one"
    assert await asked(runtime) == "two"


async def test_calls_pin_their_generation_and_a_canary_keeps_its_own_deadline(start, workspace: Path) -> None:
    runtime = await start()
    spin = GOOD.replace("  return {ok = true, result", "  while true do end\n  return {ok = true, result")
    save(workspace, "capabilities/tools/greet.lua", spin)
    tight = manifest().replace("timeout_ms: 20000", "timeout_ms: 200")
    save(workspace, "capabilities/greet.yaml", tight)
    await runtime.reloader.run(actor=ANN, explicit=True)
    report = await call(runtime, user="ann")
    assert report.generation == rollout_of(runtime).generation.name.id
    assert report.response.error.kind is ErrorKind.TIMEOUT


# -- orders ---------------------------------------------------------------------------------
