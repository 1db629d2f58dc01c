"""Threads that hang are replaced, and states that nobody uses go cold."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from evatui.kernel.lua import Engine, Returned
from evatui.kernel.lua.ending import Overdue
from evatui.kernel.lua.state import State
from evatui.kernel.model.errors import ErrorKind
from tests.lua.harness import SPIN_OR_WAIT, Gate, call, kind_of, program
from tests.support.waiting import until


async def test_a_thread_that_does_not_come_back_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands for a call into C that nothing can end: here a kill does nothing until the test lets it."""
    kills: list[Callable[[], None]] = []
    kill = State.kill
    monkeypatch.setattr(State, "kill", lambda self: kills.append(partial(kill, self)))
    monkeypatch.setattr("evatui.kernel.lua.ending.GRACE_S", 0.02)
    engine = Engine()
    loaded = await engine.load(program(SPIN_OR_WAIT), timeout_s=20)
    while not engine.stuck:  # a busy machine takes that long before the handler has begun
        assert kind_of(await call(loaded, entry="spin", seconds=0.5)) is ErrorKind.TIMEOUT
    assert engine.stuck == 1
    assert await call(loaded, "next") == Returned([1, "next"])
    for late in kills:
        late()
    await until(lambda: engine.stuck == 0)
    engine.close()


@pytest.mark.parametrize("ended_by", ["its deadline", "a kill"])
async def test_who_waits_for_an_end_that_hangs_is_told_and_its_thread_replaced(
    monkeypatch: pytest.MonkeyPatch, ended_by: str
) -> None:
    """As where its record is written to a disk that does not answer."""
    monkeypatch.setattr("evatui.kernel.lua.ending.GRACE_S", 0.02)
    engine, reached, answers = Engine(), threading.Event(), threading.Event()
    loaded = await engine.load(program(SPIN_OR_WAIT), timeout_s=20)

    def finish(outcome: Any) -> Any:
        reached.set()
        answers.wait()
        return outcome

    seconds = 0.1 if ended_by == "its deadline" else 60
    waiting = asyncio.create_task(call(loaded, "x", finish=finish, seconds=seconds))
    await until(reached.is_set)
    if ended_by == "a kill":
        loaded.kill(ErrorKind.CANCELLED)
    with pytest.raises(Overdue):
        await waiting
    assert engine.stuck == 1
    assert await call(loaded, "next") == Returned([1, "next"])
    answers.set()
    await until(lambda: engine.stuck == 0)
    loaded.close()
    engine.close()


async def test_a_state_that_nobody_uses_goes_cold() -> None:
    time_is = 1000.0
    engine = Engine(now=lambda: time_is)
    loaded = await engine.load(program(SPIN_OR_WAIT), timeout_s=20)
    assert await call(loaded, "a") == Returned([1, "a"])
    time_is += 599
    engine.cool()
    assert await call(loaded, "b") == Returned([2, "b"])
    time_is += 599
    engine.cool()
    assert await call(loaded, "c") == Returned([3, "c"])
    time_is += 600
    engine.cool()
    assert await call(loaded, "d") == Returned([1, "d"])
    engine.close()


async def test_only_what_is_idle_goes_cold() -> None:
    time_is, gate = 1000.0, Gate()
    engine = Engine(now=lambda: time_is)
    loaded = await engine.load(program(SPIN_OR_WAIT), timeout_s=20)
    waiting = asyncio.create_task(call(loaded, entry="wait", host=gate))
    await gate.entered.wait()
    time_is += 3600
    engine.cool()
    loaded.kill(ErrorKind.CANCELLED)
    assert kind_of(await waiting) is ErrorKind.CANCELLED
    engine.close()


async def test_an_engine_cools_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evatui.kernel.lua.engine.COOLING_S", 0.01)
    monkeypatch.setattr("evatui.kernel.lua.loaded.WARM_S", 0.0)
    freed = threading.Event()
    load = State.load

    def watched(self: State, *arguments: Any) -> Any:
        weakref.finalize(self, freed.set)
        return load(self, *arguments)

    monkeypatch.setattr(State, "load", watched)
    engine = Engine()
    loaded = await engine.load(program(SPIN_OR_WAIT), timeout_s=20)
    assert await asyncio.to_thread(freed.wait, 60)
    assert await call(loaded, "still") == Returned([1, "still"])
    engine.close()
