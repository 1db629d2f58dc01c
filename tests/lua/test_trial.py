"""A load and a health check have the time that they are given to run in, however busy everything around them is."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from evatui.kernel.lua import sandbox_facts
from evatui.kernel.lua.engine import Engine, LoadFailed
from evatui.kernel.lua.outcome import Returned, Verdict
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.manifest import Isolation
from tests.lua.harness import program
from tests.lua.placed import placed_engine

WORK = "for i = 1, 400000 do end"
"""Some milliseconds."""
SOURCE = f"{WORK} function invoke() return 1 end function well() {WORK} return {{ok = true}} end"
AT_ONCE = 48


@pytest.fixture(params=[Isolation.IN_PROCESS, Isolation.PROCESS], ids=str)
def placed(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param is Isolation.PROCESS and not (sandbox_facts().process and sys.platform == "linux"):
        pytest.skip("there are no worker processes here whose time can be told")
    with placed_engine(request.param) as engine:
        yield engine


async def no_host(function: str, argument: Any) -> Any:
    raise AssertionError(function)


async def test_programs_that_are_loaded_at_once_do_not_wait_at_each_others_cost(placed: Engine) -> None:
    loading = [placed.load(program(SOURCE, health_check="well"), timeout_s=0.15) for _ in range(AT_ONCE)]
    loaded = await asyncio.gather(*loading)
    assert all(0 < one.load_s < 0.15 for one in loaded)
    health = await asyncio.gather(*(one.health(allowed_s=0.15, host=no_host) for one in loaded))
    assert health == [Returned({"ok": True})] * AT_ONCE


async def test_one_that_runs_on_is_stopped_all_the_same(placed: Engine) -> None:
    with pytest.raises(LoadFailed) as failed:
        await placed.load(program("while true do end"), timeout_s=0.05)
    assert (failed.value.kind, failed.value.message) == (ErrorKind.TIMEOUT, "stopped at its deadline, after 50 ms")
    loaded = await placed.load(
        program("function invoke() end function well() while true do end end", health_check="well"), timeout_s=20
    )
    verdict = await loaded.health(allowed_s=0.05, host=no_host)
    assert isinstance(verdict, Verdict)
    assert verdict.kind is ErrorKind.TIMEOUT


async def test_what_waits_for_the_host_is_not_idle_for_nothing(placed: Engine) -> None:
    source = "function invoke() end function well(ctx) ctx.host.call_tool{} return {ok = true} end"
    loaded = await placed.load(program(source, health_check="well"), timeout_s=20)
    asked = threading.Event()

    async def never(function: str, argument: Any) -> Any:
        asked.set()
        await asyncio.Event().wait()

    verdict = await loaded.health(allowed_s=0.5, host=never)
    assert asked.is_set()
    assert isinstance(verdict, Verdict)
    assert verdict.kind is ErrorKind.TIMEOUT
