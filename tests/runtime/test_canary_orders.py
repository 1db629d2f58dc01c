"""What is ordered of a canary: pause, resume, promote, abort."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.registry.keeping import Keeping
from evatui.kernel.registry.rollout.rollout import Phase
from tests.runtime.canary import GOOD, asked, canary, greet, rollout_of
from tests.runtime.conftest import ANN
from tests.support.waiting import until
from tests.support.workspaces import MANIFEST, save


async def test_pause_stops_the_promotion_but_not_the_protection(start, workspace: Path) -> None:
    runtime = await start()
    rollout = await canary(runtime, workspace, analysis="{min_samples: 1, max_error_rate: 0.99}")
    receipt = await runtime.rollouts.pause("greet", ANN)
    assert (receipt.action, receipt.target) == ("pause", rollout.generation.name)
    for _ in range(5):
        assert await asked(runtime) == "two"
    assert rollout.phase is Phase.PAUSED
    assert greet(runtime).rollout is rollout
    with pytest.raises(CallFailed, match="paused already"):
        await runtime.rollouts.pause("greet", ANN)
    await runtime.rollouts.resume("greet", ANN)
    await until(lambda: greet(runtime).rollout is None)
    assert await asked(runtime, "bob") == "two"  # whom it did not serve before


async def test_promote_and_abort_by_hand_say_what_changed_places(start, workspace: Path) -> None:
    runtime = await start()
    first = runtime.table.active["greet"].name
    tried = (await canary(runtime, workspace)).generation.name
    promoted = await runtime.rollouts.promote("greet", ANN, if_generation=tried.short)
    assert (promoted.action, promoted.source, promoted.target) == ("promote", first, tried)
    again = (await canary(runtime, workspace, GOOD.replace("two", "three"))).generation.name
    aborted = await runtime.rollouts.abort("greet", ANN)
    assert (aborted.action, aborted.source, aborted.target) == ("abort", again, tried)
    for order in ("promote", "abort", "pause", "resume"):
        with pytest.raises(CallFailed, match="has no canary") as refused:
            await getattr(runtime.rollouts, order)("greet", ANN)
        assert refused.value.error.kind is ErrorKind.CONFLICT


async def test_an_order_for_a_canary_that_was_superseded_is_refused(start, workspace: Path) -> None:
    runtime = await start()
    seen = (await canary(runtime, workspace)).generation.name.short
    await canary(runtime, workspace, GOOD.replace("two", "three"))
    with pytest.raises(CallFailed, match="changed under you"):
        await runtime.rollouts.promote("greet", ANN, if_generation=seen)
    assert greet(runtime).rollout is not None


async def test_one_that_ends_while_its_promotion_is_written_down_is_not_what_served_last(
    start, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = await start()
    rollout = await canary(runtime, workspace)
    keep, loop = Keeping.keep, asyncio.get_running_loop()

    def meanwhile(*arguments: Any) -> int:
        aborting = runtime.rollouts.abort("greet", ANN)
        asyncio.run_coroutine_threadsafe(aborting, loop).result()
        return keep(*arguments)

    monkeypatch.setattr(Keeping, "keep", meanwhile)
    with pytest.raises(CallFailed, match="not the canary of greet any more"):
        await runtime.rollouts.promote("greet", ANN)
    assert rollout.generation.digest not in [one.digest for one in runtime.history.served()["greet"]]


async def test_what_the_policy_refuses_by_now_is_not_promoted(start, workspace: Path) -> None:
    reads = "permissions: {fs: {read: [workspace]}}\n"
    save(workspace, "capabilities/greet.yaml", MANIFEST + reads)
    runtime = await start()
    await canary(runtime, workspace, more=reads, analysis="{min_samples: 20}")
    save(workspace, "capabilities/policies/default.yaml", "version: 1\n")
    await runtime.reloader.run(actor=ANN, explicit=True)
    with pytest.raises(CallFailed, match="refused by now"):
        await runtime.rollouts.promote("greet", ANN)
    for _ in range(20):
        assert await asked(runtime) == "two"
    assert rollout_of(runtime).phase is Phase.HELD
