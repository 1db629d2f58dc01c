"""The campaigns of tests/soak, small: chance finds here what nobody thought of."""

from __future__ import annotations

import pytest

from evatui.kernel.lua import Engine
from tests.lua.beside import in_sandbox, in_stock_lua
from tests.lua.grammar import ordinary
from tests.soak.codec import differences
from tests.soak.crash import run_crash_campaign
from tests.soak.garbage import run_garbage
from tests.soak.generations import reload_and_free, run_generations
from tests.soak.kills import run_kills


@pytest.mark.parametrize("seed", range(60))
async def test_programs_made_by_chance_show_the_same_as_in_stock_lua(engine: Engine, seed: int) -> None:
    body = ordinary(seed)
    assert await in_sandbox(engine, body) == in_stock_lua(body)


async def test_hostile_programs_made_by_chance_end_and_show_nothing_of_the_host() -> None:
    report = await run_garbage(200, seconds=0.05, at_once=4)
    assert report.problems == []
    assert report.ends.total() == 200


async def test_random_values_come_back_with_their_types() -> None:
    report = await differences(400)
    assert report.problems == []


def test_full_states_and_random_kills_never_end_the_process() -> None:
    report = run_crash_campaign(250)
    assert report.ok, "\n".join(report.lines())
    assert report.calls == 250
    assert "Internal" not in report.ends


async def test_calls_ended_at_random_moments_are_answered_once() -> None:
    report = await run_kills(100)
    assert report.problems == []
    assert report.ends.total() == 100


async def test_generations_leave_nothing_behind() -> None:
    assert (await run_generations(30)).problems == []
    assert (await reload_and_free(5)).problems == []
