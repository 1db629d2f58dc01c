"""The process that workers are forked from: it dies, is started again, and dresses its workers."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import psutil
import pytest

from evatui.kernel.lua import Engine, Returned, Workers
from evatui.kernel.lua.worker.facts import sandbox_facts
from evatui.kernel.lua.worker.launch import NotLaunched
from evatui.kernel.lua.worker.nursery import Nursery
from tests.lua.harness import call
from tests.lua.worker.harness import below, gone, loaded_in_process, lost, spinning, zygote
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no zygote on this system")


async def test_a_zygote_that_dies_takes_its_workers_along_and_another_is_started() -> None:
    workers = Workers()
    engine = Engine(workers=workers)
    loaded = await loaded_in_process(engine)
    await call(loaded, "a")
    first = zygote(workers)
    idle = below(first.pid)
    first.kill()
    await until(lambda: all(gone(process) for process in {first, *idle}))
    assert await call(loaded, "b") == Returned([1, "b"])
    task, _ = await spinning(loaded)
    zygote(workers).kill()
    assert lost(await task)
    assert await call(loaded, "c") == Returned([1, "c"])
    engine.close()
    workers.close()


def test_a_zygote_that_keeps_dying_is_not_started_for_ever() -> None:
    nursery = Nursery()
    for _ in range(5):
        nursery.start()
        psutil.Process(nursery.pid).kill()
        psutil.Process(nursery.pid).wait(60)
    with pytest.raises(NotLaunched, match="too often"):
        nursery.start()
    nursery.close()


async def test_what_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    workers = Workers()
    workers.open()
    engine = Engine(workers=workers)
    with pytest.raises(Exception, match="did not start") as failed:
        await loaded_in_process(engine)
    assert "nowhere" not in str(failed.value)
    assert workers.problem == str(failed.value)
    engine.close()
    workers.close()


def test_a_kill_without_a_process_descriptor_goes_through_the_zygote() -> None:
    nursery = Nursery()
    worker = nursery.launch(1 << 20)
    worker.process.close()  # gives the descriptor away
    worker.process.kill()
    assert worker.process.ended() == -signal.SIGKILL
    worker.process.kill()
    worker.sock.close()
    nursery.close()


async def test_a_running_worker_wears_its_walls() -> None:
    workers = Workers()
    engine = Engine(workers=workers)
    loaded = await loaded_in_process(engine)
    await call(loaded, "a")
    (worker,) = below(zygote(workers).pid)
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{worker.pid}/status").read_text().splitlines())
    assert status["NoNewPrivs"] == "1"
    assert int(status["Seccomp"]) == (2 if sandbox_facts().seccomp else 0)
    limits = Path(f"/proc/{worker.pid}/limits").read_text()
    for name in ("Max open files", "Max processes", "Max core file size", "Max file size"):
        (line,) = (line for line in limits.splitlines() if line.startswith(name))
        assert line.removeprefix(name).split()[:2] == ["0", "0"]
    loaded.close()
    engine.close()
    workers.close()
