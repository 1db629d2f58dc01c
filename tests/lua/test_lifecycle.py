"""Deadlines, cancelling, killing, and what is left afterwards: nothing."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import threading
import time
import weakref
from typing import Any

import pytest

from evatui.kernel.lua import Engine, LoadedProgram, Returned, Verdict
from evatui.kernel.lua.port import StatePort
from evatui.kernel.model.errors import ErrorKind
from tests.lua.harness import SPIN_OR_WAIT, Gate, call, kind_of, no_host, program
from tests.support.waiting import until


async def test_time_in_host_calls_counts(engine: Engine) -> None:
    loaded, gate = await engine.load(program(SPIN_OR_WAIT), timeout_s=20), Gate()
    while not gate.entered.is_set():  # a busy machine takes that long before the handler has begun
        assert kind_of(await call(loaded, entry="wait", host=gate, seconds=0.5)) is ErrorKind.TIMEOUT
    assert gate.cancelled == 1
    loaded.close()


async def test_a_deadline_that_is_over_ends_the_call_before_it_starts(engine: Engine) -> None:
    loaded = await engine.load(program(SPIN_OR_WAIT), timeout_s=20)
    assert kind_of(await call(loaded, seconds=-1)) is ErrorKind.TIMEOUT
    loaded.close()


@pytest.mark.parametrize("entry", ["spin", "wait"])
async def test_cancelling_ends_the_handler_and_its_host_call(engine: Engine, entry: str) -> None:
    loaded, gate = await engine.load(program(SPIN_OR_WAIT), timeout_s=20), Gate()
    outcomes: list[Any] = []
    task = asyncio.create_task(call(loaded, entry=entry, host=gate, finish=outcomes.append))
    await (gate.entered.wait() if entry == "wait" else asyncio.sleep(0))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [kind_of(outcome) for outcome in outcomes] == [ErrorKind.CANCELLED]
    assert gate.cancelled == (entry == "wait")
    assert loaded.in_flight == 0
    assert await call(loaded, "next") == Returned([1, "next"])
    loaded.close()


async def test_kill_ends_every_call_in_flight(engine: Engine) -> None:
    loaded, gate = await engine.load(program(SPIN_OR_WAIT, concurrency=3), timeout_s=20), Gate()
    tasks = [asyncio.create_task(call(loaded, entry=entry, host=gate)) for entry in ("spin", "wait", "wait")]
    await gate.entered.wait()
    assert loaded.kill(ErrorKind.CANCELLED) == 3
    assert loaded.kill(ErrorKind.CANCELLED) == 0
    assert {kind_of(outcome) for outcome in await asyncio.gather(*tasks)} == {ErrorKind.CANCELLED}
    loaded.close()


async def test_a_state_serves_again_and_a_verdict_throws_it_away(engine: Engine) -> None:
    strikes: list[ErrorKind] = []
    loaded = await engine.load(program(SPIN_OR_WAIT), timeout_s=20, on_strike=strikes.append)
    assert await call(loaded, "a") == Returned([1, "a"])
    assert await call(loaded, "b") == Returned([2, "b"])
    while not strikes:  # it did begin, and was stopped
        await call(loaded, entry="spin", seconds=0.1)
    assert await call(loaded, "c") == Returned([1, "c"])
    loaded.close()


async def test_what_a_state_keeps_ends_in_a_fresh_state(engine: Engine) -> None:
    source = "kept = {} function invoke() for i = 1, 20000 do kept[#kept + 1] = {i} end return #kept end"
    loaded = await engine.load(program(source, memory_bytes=4 << 20), timeout_s=20)
    outcomes = [await call(loaded) for _ in range(8)]
    assert outcomes[0] == Returned(20000)
    first = next(index for index, outcome in enumerate(outcomes) if isinstance(outcome, Verdict))
    assert kind_of(outcomes[first]) is ErrorKind.MEMORY_EXCEEDED
    assert outcomes[first + 1] == Returned(20000)
    loaded.close()


async def test_at_most_so_many_calls_run_at_once(engine: Engine) -> None:
    loaded = await engine.load(program("function invoke(ctx) ctx.host.call_tool{} end", concurrency=2), timeout_s=20)
    running, most, go = 0, 0, asyncio.Event()

    async def host(function: str, argument: Any) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await go.wait()
        running -= 1

    tasks = [asyncio.create_task(call(loaded, host=host)) for _ in range(6)]
    await until(lambda: running == 2)
    late = await call(loaded, host=host, seconds=0.05)
    go.set()
    assert await asyncio.gather(*tasks) == [Returned(None)] * 6
    assert most == 2
    assert kind_of(late) is ErrorKind.TIMEOUT
    loaded.close()


async def test_one_program_leaves_threads_for_the_others(engine: Engine) -> None:
    greedy = await engine.load(program(SPIN_OR_WAIT, concurrency=64), timeout_s=20)
    other = await engine.load(program(SPIN_OR_WAIT), timeout_s=20)
    tasks = [asyncio.create_task(call(greedy, entry="spin")) for _ in range(64)]
    await asyncio.sleep(0)
    assert await call(other, "served") == Returned([1, "served"])
    assert not any(task.done() for task in tasks)
    greedy.kill(ErrorKind.CANCELLED)
    assert {kind_of(outcome) for outcome in await asyncio.gather(*tasks)} == {ErrorKind.CANCELLED}
    greedy.close()
    other.close()


async def test_a_closed_program_takes_no_calls(engine: Engine) -> None:
    loaded = await engine.load(program(SPIN_OR_WAIT), timeout_s=20)
    loaded.close()
    loaded.close()
    assert kind_of(await call(loaded)) is ErrorKind.UNAVAILABLE


async def test_states_are_freed(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[weakref.ref[StatePort]] = []
    fresh = LoadedProgram.fresh

    def remembered(self: LoadedProgram) -> StatePort:
        state = fresh(self)
        states.append(weakref.ref(state))
        return state

    monkeypatch.setattr(LoadedProgram, "fresh", remembered)
    gate = Gate()
    gc.disable()
    try:
        loaded = await engine.load(program(SPIN_OR_WAIT, concurrency=3), timeout_s=20)
        await asyncio.gather(*(call(loaded, n) for n in range(9)))
        await call(loaded, entry="spin", seconds=0.05)
        await call(loaded, entry="wait", host=gate, seconds=0.05)
        gate = Gate()
        last = asyncio.create_task(call(loaded, entry="wait", host=gate))
        await gate.entered.wait()
        loaded.close()
        assert not last.done()
        assert loaded.kill(ErrorKind.TIMEOUT) == 1
        assert kind_of(await last) is ErrorKind.TIMEOUT
        gone = weakref.ref(loaded)
        del loaded, last
        with contextlib.suppress(TimeoutError):
            await until(lambda: gone() is None)  # the thread of the last step lets go of it after it has answered
        assert len(states) >= 3
        assert [state() for state in states if state() is not None] == []
        assert gone() is None
    finally:
        gc.enable()


async def test_closing_an_engine_ends_calls_and_threads() -> None:
    before = set(threading.enumerate())
    engine, gate = Engine(), Gate()
    loaded = await engine.load(program(SPIN_OR_WAIT, concurrency=4), timeout_s=20)
    tasks = [asyncio.create_task(call(loaded, entry=entry, host=gate)) for entry in ("spin", "spin", "wait")]
    await gate.entered.wait()
    engine.close()
    assert set(threading.enumerate()) <= before
    assert {kind_of(outcome) for outcome in await asyncio.gather(*tasks)} == {ErrorKind.CANCELLED}
    assert gate.cancelled == 1


WORK = """
function invoke(ctx, request)
  local kept = {}
  for i = 1, 50 do
    kept[#kept + 1] = json.encode(request) .. ("x"):rep(i * 50)
    pcall(function() local c <close> = setmetatable({}, {__close = function() kept[#kept] = nil end}) error("x") end)
    if i % 10 == 0 then ctx.host.progress({done = i, text = kept[#kept]}) end
    coroutine.wrap(function() for n = 1, 20 do coroutine.yield(n) end end)()
  end
  return {request, kept}
end
"""


async def test_kills_at_any_moment_leave_the_rest_unharmed(engine: Engine) -> None:
    chance = random.Random(7)
    loaded = await engine.load(program(WORK, memory_bytes=2 << 20, concurrency=4), timeout_s=20)
    request = {"text": "é" * 200, "list": list(range(100)), "deep": {"null": None, "empty": []}}
    expected = await call(loaded, request, host=echo)
    assert isinstance(expected, Returned)
    for _ in range(100):
        task = asyncio.create_task(call(loaded, request, host=echo))
        await asyncio.sleep(chance.random() * 0.006)
        if chance.random() < 0.5:
            loaded.kill(ErrorKind.CANCELLED)
            outcome = await task
            assert outcome == expected or kind_of(outcome) is ErrorKind.CANCELLED
        else:
            task.cancel()
            await asyncio.wait([task])
    assert await call(loaded, request, host=echo) == expected
    loaded.close()


async def echo(function: str, argument: Any) -> Any:
    return argument


async def test_loops_stay_quick_while_lua_spins(engine: Engine) -> None:
    loaded = await engine.load(program(SPIN_OR_WAIT), timeout_s=20)
    spinning = asyncio.create_task(call(loaded, entry="spin", seconds=0.5))
    turns = 0
    while not spinning.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 100
    loaded.close()


async def test_health_while_all_slots_are_taken(engine: Engine) -> None:
    source = SPIN_OR_WAIT + "function health() return {ok = true} end"
    loaded: LoadedProgram = await engine.load(program(source, concurrency=1, health_check="health"), timeout_s=20)
    gate = Gate()
    waiting = asyncio.create_task(call(loaded, entry="wait", host=gate))
    await gate.entered.wait()
    assert await loaded.health(allowed_s=60, host=no_host) == Returned({"ok": True})
    loaded.kill(ErrorKind.CANCELLED)
    await waiting
    loaded.close()


async def test_a_result_that_takes_long_to_look_through_ends_at_its_deadline(engine: Engine) -> None:
    source = """
      function invoke()
        local hollow = {} for i = 1, 100000 do hollow["n" .. i] = i end
        for name in pairs(hollow) do hollow[name] = nil end
        local all = {} for i = 1, 500000 do all[i] = hollow end
        return all
      end
    """
    loaded = await engine.load(program(source, memory_bytes=1 << 26), timeout_s=20)
    began = time.monotonic()
    assert kind_of(await call(loaded, seconds=0.4)) is ErrorKind.TIMEOUT
    assert time.monotonic() - began < 20  # to look through it all would take minutes
    loaded.close()


async def test_what_speaks_against_a_handler_is_told_once_a_call(engine: Engine) -> None:
    strikes: list[ErrorKind] = []
    source = SPIN_OR_WAIT + "function hoard() local t = {} while true do t[#t + 1] = {} end end"
    small = program(source, memory_bytes=2 << 20)
    loaded, gate = await engine.load(small, timeout_s=20, on_strike=strikes.append), Gate()
    await call(loaded)
    while not gate.entered.is_set():
        strikes.clear()
        await call(loaded, entry="wait", host=gate, seconds=0.5)  # the host's time is not the handler's fault
    spinning = asyncio.create_task(call(loaded, entry="spin"))
    while not loaded.kill(ErrorKind.CANCELLED):
        await asyncio.sleep(0)
    await spinning
    assert strikes == []
    assert kind_of(await call(loaded, entry="spin", seconds=0.5)) is ErrorKind.TIMEOUT
    assert strikes == [ErrorKind.TIMEOUT]
    assert kind_of(await call(loaded, entry="hoard")) is ErrorKind.MEMORY_EXCEEDED
    assert strikes == [ErrorKind.TIMEOUT, ErrorKind.MEMORY_EXCEEDED]
    loaded.close()
