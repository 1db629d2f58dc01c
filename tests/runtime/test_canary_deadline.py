"""The deadline of a canary: on the monotonic clock, in every mode, whatever the wall clock does."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from evatui.kernel.registry.rollout.rollout import Phase
from evatui.runtime import Runtime
from tests.runtime.canary import GOOD, asked, canary, events, greet
from tests.runtime.conftest import ANN
from tests.runtime.hands import Hands
from tests.support.waiting import until


@pytest.fixture
async def turned(workspace: Path):
    hands = Hands()
    runtime = await Runtime.open(workspace, clock=hands)
    yield runtime, hands
    await runtime.close()


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_wall_clock_that_jumps_an_hour_decides_nothing(turned, workspace: Path, hours: int) -> None:
    runtime, hands = turned
    rollout = await canary(runtime, workspace, analysis="{min_samples: 20, on_insufficient_data: abort}")
    for _ in range(10):
        await asked(runtime)
    left = rollout.seconds_left(hands.monotonic())
    hands.wall = dt.timedelta(hours=hours)
    runtime.canaries.look(greet(runtime))
    assert greet(runtime).rollout is rollout
    assert rollout.canary.counts(hands.monotonic()).samples == 10
    assert rollout.seconds_left(hands.monotonic()) <= left
    for _ in range(10):
        assert await asked(runtime) == "two"
    await until(lambda: greet(runtime).rollout is None)
    assert runtime.table.active["greet"] is rollout.generation


@pytest.mark.parametrize("calls", [0, 1])
@pytest.mark.parametrize("mode", ["hold", "promote", "abort"])
async def test_at_the_deadline_a_canary_without_a_verdict_goes_the_way_of_its_mode(
    turned, workspace: Path, mode: str, calls: int
) -> None:
    runtime, hands = turned
    # with one sample and a limit of 0.2, one good call is enough for no verdict but `inconclusive`
    analysis = f"{{min_samples: 1, window_s: 6000, deadline_s: 600, on_insufficient_data: {mode}}}"
    rollout = await canary(runtime, workspace, analysis=analysis)
    for _ in range(calls):
        assert await asked(runtime) == "two"
    assert rollout.verdict(hands.monotonic()) == ("inconclusive" if calls else "insufficient_data")
    hands.ahead = 599.0
    runtime.canaries.look(greet(runtime))
    assert greet(runtime).rollout is rollout
    hands.ahead = 601.0
    runtime.canaries.look(greet(runtime))
    if mode == "hold":
        assert rollout.phase is Phase.HELD
        assert events(runtime, "canary_held")[0]["reason"].endswith("no verdict within 600 s")
        assert await asked(runtime) == "two"
        return
    await until(lambda: greet(runtime).rollout is None)
    promoted = runtime.table.active["greet"] is rollout.generation
    assert promoted is (mode == "promote")
    assert (rollout.generation.digest in greet(runtime).quarantined) is (mode == "abort")


async def test_what_is_held_is_promoted_by_a_person_only_and_resume_gives_it_its_time_again(
    turned, workspace: Path
) -> None:
    runtime, hands = turned
    rollout = await canary(runtime, workspace, analysis="{min_samples: 20, window_s: 6000}")
    hands.ahead = 601.0
    runtime.canaries.look(greet(runtime))
    for _ in range(25):
        assert await asked(runtime) == "two"
    assert rollout.phase is Phase.HELD
    assert rollout.seconds_left(hands.monotonic()) is None
    await runtime.rollouts.resume("greet", ANN)
    await until(lambda: greet(runtime).rollout is None)
    assert runtime.table.active["greet"] is rollout.generation


async def test_the_deadline_stands_still_while_it_is_paused(turned, workspace: Path) -> None:
    runtime, hands = turned
    rollout = await canary(runtime, workspace, analysis="{deadline_s: 600, on_insufficient_data: abort}")
    hands.ahead = 500.0
    await runtime.rollouts.pause("greet", ANN)
    hands.ahead = 5000.0
    runtime.canaries.look(greet(runtime))
    assert greet(runtime).rollout is rollout
    await runtime.rollouts.resume("greet", ANN)
    assert 90 < rollout.seconds_left(hands.monotonic()) <= 100
    hands.ahead = 5101.0
    runtime.canaries.look(greet(runtime))
    assert greet(runtime).rollout is None


async def test_nobody_has_to_call_for_the_deadline_to_pass(start, workspace: Path) -> None:
    runtime = await start()
    await canary(runtime, workspace, analysis="{deadline_s: 1, on_insufficient_data: abort}")
    await until(lambda: greet(runtime).rollout is None)
    (told,) = events(runtime, "canary_aborted")
    assert told["reason"] == ("insufficient_data: 0 of 0 calls failed, 0 of 0 beside it, no verdict within 1 s")


async def test_old_evidence_leaves_the_window(turned, workspace: Path) -> None:
    runtime, hands = turned
    rollout = await canary(runtime, workspace, GOOD, analysis="{min_samples: 20, window_s: 60}")
    for _ in range(19):
        await asked(runtime)
    hands.ahead = 61.0
    await asked(runtime)
    assert greet(runtime).rollout is rollout
    assert rollout.canary.counts(hands.monotonic()).samples == 1
