"""Libraries that do not come back: they cost their own device, and nothing else."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from evatui.hardware import station
from evatui.hardware.simulators.simulators import Simulators
from evatui.hardware.worker import Worker
from tests.hardware.rooms import ANN, Room, fails


class Stuck:
    """Where something hangs, for as long as the test lasts."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.reached = threading.Event()

    def __call__(self, *_: Any) -> None:
        self.reached.set()
        self.free.wait(120)


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stuck]:
    monkeypatch.setattr(station, "_CLOSING_S", 0.05)
    stuck = Stuck()
    yield stuck
    stuck.free.set()


async def test_one_that_does_not_close_takes_no_thread_but_its_own(
    room: Room, stuck: Stuck, monkeypatch: pytest.MonkeyPatch
) -> None:
    await room.ask()
    monkeypatch.setattr("evatui.hardware.ports.serial_port.SerialPort.close", stuck)
    device = room.hardware.using.named("scale.main")
    await room.hardware.claim(device, ANN, "req", force=False)
    room.hardware.using.release(device, ANN, force=False)
    for _ in range(40):
        await fails("DeviceBusy", room.ask())
    async with asyncio.timeout(60):
        assert await asyncio.to_thread(lambda: 1) == 1
    assert stuck.reached.is_set()


async def test_one_that_does_not_open_fails_in_time_whoever_wants_it(
    room: Room, stuck: Stuck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Simulators, "open", stuck)
    monkeypatch.setattr(station, "_OPENING_S", 0.05)
    async with asyncio.timeout(60):
        device = room.hardware.using.named("scale.main")
        trouble = await fails("DeviceOpenFailed", room.hardware.claim(device, ANN, "req", force=False))
        await room.hardware.close()
    assert trouble.retryable


def test_a_program_ends_though_a_device_hangs() -> None:
    code = (
        "import asyncio, threading\n"
        "from evatui.hardware.worker import Worker\n"
        "async def main():\n"
        "    Worker().start(threading.Event().wait)\n"
        "asyncio.run(main())\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=120, check=False).returncode == 0


async def test_what_it_is_given_is_done_in_order_and_nothing_after_the_last() -> None:
    worker, done = Worker(), list[int]()
    first = [worker.start(done.append, number) for number in range(3)]
    worker.finish(lambda: done.append(9))
    worker.finish(lambda: done.append(10))
    await worker.finished()
    with pytest.raises(RuntimeError):
        worker.start(done.append, 11)
    assert (done, all(one.done() for one in first)) == ([0, 1, 2, 9], True)
