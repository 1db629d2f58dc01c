"""A host that answers at once does so on the thread of Lua that asks; deadlines, kills and cancels hold there too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from evatui.kernel.lua import Engine, LoadedProgram, Outcome, Raised, Returned
from evatui.kernel.model.errors import ErrorKind, failure
from tests.lua.harness import call, kind_of, program, value_of
from tests.support.waiting import until

SOURCE = """
function look(ctx) return pcall(ctx.host.fs_list, {}) and "listed" end
function look_twice(ctx) pcall(ctx.host.fs_list, {}) pcall(ctx.host.fs_list, {}) return "twice" end
function mixed(ctx)
  local seen = {}
  for i = 1, 6 do seen[i] = ctx.host[i % 2 == 0 and "call_tool" or "state_get"]({n = i}) end
  return seen
end
function spin() while true do end end
function invoke(ctx, request) return request end
"""


class Disk:
    """Blocks the thread that looks at it until it is let go."""

    def __init__(self) -> None:
        self.looked_at = threading.Event()
        self.let_go = threading.Event()
        self.looks = 0

    def __call__(self, function: str, argument: Any) -> Any:
        self.looks += 1
        self.looked_at.set()
        assert self.let_go.wait(60)
        return "files"


@pytest.fixture
def disk() -> Iterator[Disk]:
    disk = Disk()
    yield disk
    disk.let_go.set()


@pytest.fixture
async def loaded(engine: Engine) -> AsyncIterator[LoadedProgram]:
    loaded = await engine.load(program(SOURCE), timeout_s=20)
    yield loaded
    loaded.close()


async def test_it_answers_on_the_thread_that_asks(engine: Engine) -> None:
    threads: set[str] = set()

    def host(function: str, argument: Any) -> Any:
        threads.add(threading.current_thread().name)
        return {"argument": argument, "empty": []}

    body = "local t = {} for i = 1, 3 do t[i] = ctx.host.state_get({n = i}) end return t"
    assert await value_of(engine, body, host=host) == [{"argument": {"n": n}, "empty": []} for n in (1, 2, 3)]
    assert threads == {"lua"}


async def test_calls_that_are_awaited_and_calls_that_are_not_follow_each_other(loaded: LoadedProgram) -> None:
    async def later(argument: Any) -> Any:
        await asyncio.sleep(0)
        return -argument["n"]

    def host(function: str, argument: Any) -> Any:
        return later(argument) if function == "call_tool" else argument["n"]

    assert await call(loaded, entry="mixed", host=host) == Returned([1, -2, 3, -4, 5, -6])


async def test_its_errors_are_errors_in_the_handler(engine: Engine) -> None:
    def host(function: str, argument: Any) -> Any:
        if function == "now":
            raise ZeroDivisionError("/etc/secret")
        raise failure(ErrorKind.NOT_FOUND, "no such file", retryable=True)

    body = """
      local _, e = pcall(ctx.host.fs_read_text, {})
      local _, defect = pcall(ctx.host.now)
      return {e.kind, e.message, e.retryable, defect.kind, defect.message}
    """
    assert await value_of(engine, body, host=host) == [
        *("NotFound", "no such file", True),
        *("HostError", "the host call failed"),
    ]


async def test_an_answer_that_cannot_enter_is_a_host_error(loaded: LoadedProgram) -> None:
    outcome = await call(loaded, entry="mixed", host=lambda function, argument: {1})
    assert isinstance(outcome, Raised)
    assert (outcome.kind, outcome.message.split(":")[0]) == ("HostError", "the host's answer cannot enter Lua")


async def test_past_the_limit_of_host_calls_the_handler_is_ended(loaded: LoadedProgram, disk: Disk) -> None:
    disk.let_go.set()
    assert kind_of(await call(loaded, entry="look_twice", host=disk, host_calls=1)) is ErrorKind.HOST_CALL_LIMIT
    assert disk.looks == 1


async def test_a_deadline_that_passes_meanwhile_is_seen_as_soon_as_it_answers(
    loaded: LoadedProgram, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evatui.kernel.lua.ending.GRACE_S", 60)
    while not disk.looked_at.is_set():  # a busy machine takes that long before the handler has begun
        task = asyncio.create_task(call(loaded, entry="look_twice", host=disk, seconds=0.5))
        await until(lambda: disk.looked_at.is_set() or task.done())  # noqa: B023
    assert kind_of(await call(loaded, entry="spin", seconds=0.6)) is ErrorKind.TIMEOUT  # and so the other's time is up
    disk.let_go.set()
    assert kind_of(await task) is ErrorKind.TIMEOUT
    assert disk.looks == 1


@pytest.mark.parametrize("end", ["kill", "cancel"])
async def test_a_call_that_is_ended_meanwhile_asks_for_nothing_more(
    loaded: LoadedProgram, disk: Disk, end: str
) -> None:
    outcomes: list[Outcome] = []
    task = asyncio.create_task(call(loaded, entry="look_twice", host=disk, finish=outcomes.append))
    assert await asyncio.to_thread(disk.looked_at.wait, 60)
    ending: Callable[[], object] = task.cancel if end == "cancel" else lambda: loaded.kill(ErrorKind.CANCELLED)
    ending()
    await asyncio.sleep(0)
    assert not task.done()
    disk.let_go.set()
    await asyncio.wait((task,))
    assert [kind_of(outcome) for outcome in outcomes] == [ErrorKind.CANCELLED]
    assert disk.looks == 1
    assert await call(loaded, "next") == Returned("next")


async def test_a_disk_that_never_answers_costs_its_thread_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, disk: Disk
) -> None:
    monkeypatch.setattr("evatui.kernel.lua.ending.GRACE_S", 0.02)
    engine = Engine()
    loaded = await engine.load(program(SOURCE), timeout_s=20)
    while not disk.looks:
        assert kind_of(await call(loaded, entry="look", host=disk, seconds=0.5)) is ErrorKind.TIMEOUT
    assert engine.stuck == 1
    assert await call(loaded, "next") == Returned("next")
    disk.let_go.set()
    await until(lambda: engine.stuck == 0)
    engine.close()


async def test_a_call_that_ends_before_its_answer_is_awaited_leaves_no_coroutine(loaded: LoadedProgram) -> None:
    begun: list[str] = []

    async def later() -> None:
        begun.append("later")

    def host(function: str, argument: Any) -> Any:
        loaded.kill(ErrorKind.CANCELLED)
        return later()

    assert kind_of(await call(loaded, entry="look", host=host)) is ErrorKind.CANCELLED
    assert begun == []
