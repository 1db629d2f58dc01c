"""Lua that means harm, states that are full, calls that are killed: at full size, with the numbers printed."""

from __future__ import annotations

import pytest

from evatui.kernel.lua import Engine
from evatui.kernel.model.manifest import Isolation
from tests.lua.beside import in_sandbox, in_stock_lua
from tests.lua.grammar import ordinary
from tests.soak.codec import differences
from tests.soak.crash import run_crash_campaign
from tests.soak.garbage import run_garbage
from tests.soak.generations import reload_and_free, run_generations
from tests.soak.kills import run_kills
from tests.soak.reload import percentile

PLACES = pytest.mark.parametrize("isolation", [Isolation.IN_PROCESS, Isolation.PROCESS], ids=str)


async def test_thousands_of_programs_show_the_same_as_in_stock_lua() -> None:
    engine = Engine()
    for seed in range(1000, 6000):
        body = ordinary(seed)
        assert await in_sandbox(engine, body) == in_stock_lua(body), seed
    engine.close()


@PLACES
async def test_two_thousand_hostile_programs(isolation: Isolation) -> None:
    report = await run_garbage(2000, isolation=isolation)
    print("\n".join(report.lines()))
    assert report.problems == []
    assert percentile(report.late, 99) <= 0.3


@PLACES
async def test_a_hundred_thousand_values(isolation: Isolation) -> None:
    report = await differences(100_000, isolation=isolation)
    print("\n".join(report.lines()))
    assert report.problems == []


@PLACES
@pytest.mark.parametrize("seed", [1, 2])
def test_full_states_and_random_kills(isolation: Isolation, seed: int) -> None:
    report = run_crash_campaign(5000, seed, isolation)
    print("\n".join(report.lines()))
    assert report.ok
    assert report.calls == 5000
    assert "Internal" not in report.ends


@PLACES
async def test_two_thousand_calls_ended_at_random_moments(isolation: Isolation) -> None:
    report = await run_kills(2000, isolation=isolation)
    print("\n".join(report.lines()))
    assert report.problems == []
    assert report.ends.total() == 2000


@PLACES
async def test_a_thousand_generations(isolation: Isolation) -> None:
    report = await run_generations(1000, isolation=isolation)
    print("\n".join(report.lines()))
    assert report.problems == []
    assert report.growth <= 2_000_000


async def test_fifty_reloads_of_a_workspace() -> None:
    assert (await reload_and_free(50)).problems == []
