"""Worker processes come, are killed, die, and are gone when nobody needs them: whoever called is answered."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from evatui.kernel.lua import Engine, LoadedProgram, Returned, Verdict, Workers
from evatui.kernel.lua.ending import Phase
from evatui.kernel.lua.worker.facts import sandbox_facts
from evatui.kernel.lua.worker.nursery import Nursery
from evatui.kernel.lua.worker.spawn import Spawner
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.manifest import Isolation
from tests.lua.harness import call, program
from tests.lua.worker.harness import SOURCE, below, gone, loaded_in_process, lost, newest, sample, spinning
from tests.support.waiting import until

if not sandbox_facts().process:
    pytest.skip("there are no worker processes on this system", allow_module_level=True)

LAUNCHERS = [Nursery, Spawner] if sys.platform == "linux" else [Spawner]


@pytest.fixture(params=LAUNCHERS)
async def workers(request: pytest.FixtureRequest) -> AsyncIterator[Workers]:
    check = sample()
    workers = Workers(request.param())
    yield workers
    workers.close()
    check()


@pytest.fixture
async def owner(workers: Workers) -> AsyncIterator[Engine]:
    engine = Engine(workers=workers)
    yield engine
    engine.close()
    assert engine.stuck == 0


async def test_an_overrun_ends_its_process_and_the_next_call_has_another(owner: Engine) -> None:
    loaded = await loaded_in_process(owner)
    assert await call(loaded, "a") == Returned([1, "a"])
    worker = newest()
    while not gone(worker):  # a busy machine takes that long before the handler has begun
        outcome = await call(loaded, entry="spin", seconds=0.1)
        assert isinstance(outcome, Verdict)
        assert outcome.kind is ErrorKind.TIMEOUT
    assert await call(loaded, "b") == Returned([1, "b"])
    assert await call(loaded, "c") == Returned([2, "c"])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
async def test_a_worker_that_dies_in_a_call_is_told_by_its_signal(owner: Engine, number: signal.Signals) -> None:
    loaded = await loaded_in_process(owner)
    task, process = await spinning(loaded)
    process.send_signal(number)
    message = lost(await task)
    assert number.name in message
    assert "/" not in message
    assert await call(loaded, "b") == Returned([1, "b"])


async def test_a_worker_that_dies_during_a_host_call_ends_both_at_once(owner: Engine) -> None:
    loaded = await loaded_in_process(owner)
    entered, cancelled = asyncio.Event(), asyncio.Event()

    async def host(function: str, argument: Any) -> None:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    waiting = asyncio.create_task(call(loaded, entry="ask", host=host, seconds=3_600))
    await entered.wait()
    newest().kill()
    async with asyncio.timeout(60):
        message = lost(await waiting, retryable=False)
    assert "SIGKILL" in message
    assert cancelled.is_set()
    assert await call(loaded, "b") == Returned([1, "b"])


async def test_a_worker_that_dies_after_a_host_call_may_have_done_something(owner: Engine) -> None:
    loaded = await loaded_in_process(owner)

    async def host(function: str, argument: Any) -> None:
        newest().suspend()
        newest().kill()

    assert lost(await call(loaded, entry="ask", host=host), retryable=False)


async def test_a_worker_that_died_while_idle_is_replaced_unnoticed(owner: Engine) -> None:
    loaded = await loaded_in_process(owner)
    await call(loaded, "a")
    worker = newest()
    worker.kill()
    await until(lambda: gone(worker))
    assert await call(loaded, "b") == Returned([1, "b"])


async def test_a_call_whose_worker_dies_before_it_takes_it_is_given_to_another(owner: Engine) -> None:
    loaded = await loaded_in_process(owner)
    await call(loaded, "a")
    worker = newest()
    worker.suspend()
    waiting = asyncio.create_task(call(loaded, "b"))
    await until(lambda: asked_of_worker(loaded))
    worker.kill()
    assert await waiting == Returned([1, "b"])


def asked_of_worker(loaded: LoadedProgram) -> bool:
    """Whether a call waits for its worker's answer."""
    return any(one._phase is Phase.RUNNING for one in loaded._calls)


async def test_calls_in_several_processes_at_once(owner: Engine) -> None:
    loaded = await loaded_in_process(owner, concurrency=4)
    release = asyncio.Event()

    async def host(function: str, argument: Any) -> str:
        await release.wait()
        return "answered"

    tasks = [asyncio.create_task(call(loaded, entry="ask", host=host)) for _ in range(4)]
    await until(lambda: len(below()) >= 4)
    release.set()
    assert await asyncio.gather(*tasks) == [Returned("answered")] * 4


async def test_closing_a_program_ends_its_processes(owner: Engine, workers: Workers) -> None:
    before = below()
    loaded = await loaded_in_process(owner, concurrency=2)
    await asyncio.gather(*(call(loaded, n) for n in range(4)))
    loaded.close()
    await until(lambda: len(below() - before) <= 1)  # the zygote stays


async def test_a_program_moves_to_a_process_and_its_calls_in_flight_end_where_they_are(owner: Engine) -> None:
    before = below()
    loaded = await owner.load(program(SOURCE, concurrency=2), timeout_s=20)
    entered, release = asyncio.Event(), asyncio.Event()

    async def host(function: str, argument: Any) -> str:
        entered.set()
        await release.wait()
        return "answered"

    await call(loaded, "a")
    waiting = asyncio.create_task(call(loaded, entry="ask", host=host))
    await entered.wait()
    assert below() <= before
    loaded.move_to_process()
    assert loaded.isolation is Isolation.PROCESS
    assert await call(loaded, "b") == Returned([1, "b"])
    assert below() - before
    release.set()
    assert await waiting == Returned("answered")
    assert await call(loaded, "c") == Returned([2, "c"])


HOST = """
import asyncio, sys, time
from evatui.kernel.lua import Chunk, Engine, Program, Workers
from evatui.kernel.lua.worker.nursery import Nursery
from evatui.kernel.lua.worker.spawn import Spawner
from evatui.kernel.model.manifest import Isolation

SCRIPT = b"function invoke() end function busy(ctx) ctx.host.begun{} while true do end end"

async def main():
    engine = Engine(workers=Workers(globals()[sys.argv[1]]()))
    program = Program(Chunk("a.lua", SCRIPT), host_functions=("begun",))
    loaded = await engine.load(program, timeout_s=20, isolation=Isolation.PROCESS)
    begun = asyncio.Semaphore(0)

    async def host(function, argument):
        begun.release()

    options = dict(host=host, host_calls=1, finish=lambda outcome: outcome, deadline=time.monotonic() + 60)
    busy = [asyncio.create_task(loaded.call("busy", None, **options)) for _ in range(2)]
    await loaded.call("invoke", None, **options)
    for _ in range(2):
        await begun.acquire()
    print("ready", flush=True)
    await asyncio.gather(*busy)

asyncio.run(main())
"""


@pytest.mark.parametrize("launcher", LAUNCHERS)
async def test_no_process_outlives_a_host_that_is_killed(launcher: type) -> None:
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {"PYTHONPATH": paths, "SECRET": "hunter2", "TZ": "Asia/Kathmandu"}
    command = [sys.executable, "-c", HOST, launcher.__name__]
    secret = os.memfd_create("secret", 0) if sys.platform == "linux" else os.dup(0)
    host = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, pass_fds=(secret,))  # noqa: ASYNC220
    os.close(secret)
    assert host.stdout is not None
    assert await asyncio.to_thread(host.stdout.readline) == b"ready\n"
    started = below(host.pid)
    for process in started:
        seen(process)
    host.kill()
    host.wait()
    host.stdout.close()
    await until(lambda: all(gone(process) for process in started))


def seen(process: psutil.Process) -> None:
    """It has nothing of the host's environment, and no descriptor that leads anywhere."""
    try:
        assert process.environ().keys() <= {"TZ", "LC_CTYPE"}
        assert process.open_files() == []
        descriptors = {os.readlink(entry).split(":")[0] for entry in Path(f"/proc/{process.pid}/fd").iterdir()}
        assert descriptors <= {"socket", "pipe", "/dev/null"}
    except (PermissionError, psutil.AccessDenied):  # a worker lets nobody look but root
        return
    except FileNotFoundError:  # no /proc
        return


async def test_a_worker_does_what_takes_memory_and_time(owner: Engine) -> None:
    source = """
      function invoke(ctx, request)
        local kept = {}
        for i = 1, 40 do kept[i] = ("x"):rep(1 << 20) end
        for round = 1, 20 do local garbage = {} for i = 1, 5000 do garbage[i] = {i} end end
        return {#kept, request, ("é"):rep(200000), os.time() > 0, os.clock() >= 0, os.date("%Y") ~= ""}
      end
    """
    large = program(source, memory_bytes=64 << 20, max_output_bytes=1 << 20)
    loaded = await owner.load(large, timeout_s=20, isolation=Isolation.PROCESS)
    request = ["text " * 60000] * 2
    for _ in range(2):
        assert await call(loaded, request) == Returned([40, request, "é" * 200000, True, True, True])


async def test_the_time_of_day_is_the_same_in_a_worker(owner: Engine) -> None:
    source = """
      function invoke(ctx, at)
        return {os.date("%c %Z", at), os.date("!%c", at), os.time{year = 2024, month = 7, day = 1, hour = 12}}
      end
    """
    here = await owner.load(program(source), timeout_s=20)
    there = await owner.load(program(source), timeout_s=20, isolation=Isolation.PROCESS)
    for at in (0, 1_720_000_000, 1_735_000_000):
        assert await call(there, at) == await call(here, at)
