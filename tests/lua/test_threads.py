"""Who holds a thread of Lua, and who does not."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from evatui.kernel.lua import Engine, Returned
from tests.lua.harness import call, program
from tests.support.waiting import until

WAIT = "function invoke(ctx) return ctx.host.call_tool{} end function other() return 'served' end"


async def test_a_call_that_waits_for_the_host_holds_no_thread() -> None:
    engine, go = Engine(), asyncio.Event()
    waiting = 0

    async def host(function: str, argument: Any) -> str:
        nonlocal waiting
        waiting += 1
        await go.wait()
        return "answered"

    loaded = await engine.load(program(WAIT, concurrency=64), timeout_s=20)
    calls = [asyncio.create_task(call(loaded, host=host)) for _ in range(40)]
    await until(lambda: waiting == 40)
    assert await call(loaded, entry="other") == Returned("served")
    assert sum(thread.name == "lua" for thread in threading.enumerate()) < 40
    go.set()
    assert await asyncio.gather(*calls) == [Returned("answered")] * 40
    engine.close()


async def test_one_program_holds_half_of_the_threads_at_most() -> None:
    engine = Engine()
    loaded = await engine.load(program("function invoke() while true do end end", concurrency=64), timeout_s=20)
    threads = engine._threads
    calls = [asyncio.create_task(call(loaded)) for _ in range(40)]
    await until(lambda: loaded._working == threads.size // 2)
    assert len(loaded._backlog) == 40 - threads.size // 2
    engine.close()
    await asyncio.gather(*calls)


async def test_a_thread_goes_on_with_what_waits_for_its_program() -> None:
    """No other one is woken for it."""
    engine, go, served = Engine(), threading.Event(), set()

    def host(function: str, argument: Any) -> str:
        served.add(threading.get_ident())
        assert go.wait(60)
        return "answered"

    loaded = await engine.load(program(WAIT, concurrency=64), timeout_s=20)
    share = engine._threads.size // 2
    calls = [asyncio.create_task(call(loaded, host=host)) for _ in range(40)]
    await until(lambda: len(served) == share and len(loaded._backlog) == 40 - share)
    go.set()
    assert await asyncio.gather(*calls) == [Returned("answered")] * 40
    assert len(served) == share
    engine.close()


async def test_programs_that_want_more_threads_than_there_are_take_turns() -> None:
    engine, go, served = Engine(), threading.Event(), threading.Event()
    asked: list[str] = []

    def host(function: str, argument: Any) -> str:
        if argument["name"] == "modest":
            served.set()
            return "answered"
        asked.append(argument["name"])
        assert (go if len(asked) <= engine._threads.size else served).wait(60)
        return "answered"

    source = "function invoke(ctx, name) return ctx.host.call_tool{name = name} end"
    greedy = [await engine.load(program(source, concurrency=64), timeout_s=20) for _ in range(2)]
    modest = await engine.load(program(source), timeout_s=20)
    calls = [asyncio.create_task(call(loaded, "greedy", host=host)) for loaded in greedy for _ in range(40)]
    await until(lambda: len(asked) == engine._threads.size)
    calls.append(asyncio.create_task(call(modest, "modest", host=host)))
    await until(lambda: engine._threads.wanted)
    go.set()
    assert await asyncio.gather(*calls) == [Returned("answered")] * 81
    engine.close()
