"""When sources look again: never in a hurry that nobody is served by."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evatui.hardware import rounds
from evatui.hardware.dialect import Line
from evatui.hardware.hardware import Hardware
from evatui.hardware.ports.wire import Wire
from evatui.hardware.sighting import Bus, Sighting
from evatui.hardware.telling import Telling
from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.records.events import EventBus
from evatui.kernel.storage.database import Database
from evatui.kernel.storage.device_book import DeviceBook
from tests.hardware.bench import RULES, port
from tests.hardware.rooms import Quiet


class Failing:
    """It sees a device once, and then nothing but errors."""

    name = "failing"
    bus = Bus.SERIAL
    from_memory = True

    def __init__(self) -> None:
        self.looks = 0

    def glance(self) -> object:
        return None

    def scan(self) -> list[Sighting]:
        self.looks += 1
        if self.looks > 1:
            raise OSError(5, "it fails")
        return [port()]

    def open(self, sighting: Sighting, line: Line) -> Wire:
        raise AssertionError("nobody asks for it")


async def test_what_is_due_while_its_source_fails_waits_for_the_next_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hardware, "rules", RULES)
    monkeypatch.setattr(rounds, "POLL_S", 1e9)
    monkeypatch.setattr("evatui.hardware.device.DEBOUNCE_S", 0.01)
    source, telling = Failing(), Telling(EventBus(SYSTEM_CLOCK), Quiet())  # type: ignore[arg-type]
    hardware = Hardware((source,), DeviceBook(Database(None)), lambda: None, telling, SYSTEM_CLOCK, str(tmp_path))
    await hardware.open()
    async with asyncio.timeout(30):
        while source.looks < 2:  # the second when it has settled
            await asyncio.sleep(0.001)
    await asyncio.sleep(0.05)  # far longer than it took to look again and again
    assert source.looks == 2
    await hardware.close()
