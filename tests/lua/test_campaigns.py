"""The campaigns of tests/soak, small: chance finds here what nobody thought of."""

from __future__ import annotations

import pytest

from evatui.kernel.lua import Engine, sandbox_facts
from evatui.kernel.model.manifest import Isolation
from tests.lua.beside import in_sandbox, in_stock_lua
from tests.lua.grammar import ordinary
from tests.soak.codec import differences
from tests.soak.crash import run_crash_campaign
from tests.soak.garbage import run_garbage
from tests.soak.generations import reload_and_free, run_generations
from tests.soak.kills import run_kills


async def test_programs_made_by_chance_show_the_same_as_in_stock_lua(engine: Engine) -> None:
    for body in map(ordinary, range(60)):
        assert await in_sandbox(engine, body) == in_stock_lua(body), body


@pytest.fixture(params=[Isolation.IN_PROCESS, Isolation.PROCESS], ids=str)
def isolation(request: pytest.FixtureRequest) -> Isolation:
    place: Isolation = request.param
    if place is Isolation.PROCESS and not sandbox_facts().process:
        pytest.skip("there are no worker processes on this system")
    return place


async def test_hostile_programs_made_by_chance_end_and_show_nothing_of_the_host(isolation: Isolation) -> None:
    count = 200 if isolation is Isolation.IN_PROCESS else 100
    report = await run_garbage(count, seconds=0.05, at_once=4, isolation=isolation)
    assert report.problems == []
    assert report.ends.total() == count


async def test_random_values_come_back_with_their_types(isolation: Isolation) -> None:
    report = await differences(300, isolation=isolation)
    assert report.problems == []


def test_full_states_and_random_kills_never_end_the_process(isolation: Isolation) -> None:
    report = run_crash_campaign(200, isolation=isolation)
    assert report.ok, "\n".join(report.lines())
    assert report.calls == 200
    assert "Internal" not in report.ends


async def test_calls_ended_at_random_moments_are_answered_once(isolation: Isolation) -> None:
    report = await run_kills(100, isolation=isolation)
    assert report.problems == []
    assert report.ends.total() == 100


async def test_generations_leave_nothing_behind(isolation: Isolation) -> None:
    assert (await run_generations(30, isolation=isolation)).problems == []


async def test_reloads_leave_nothing_behind() -> None:
    assert (await reload_and_free(5)).problems == []
