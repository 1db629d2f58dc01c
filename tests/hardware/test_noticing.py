"""What comes and goes is noticed at once, where the system tells."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from evatui.hardware import rounds
from evatui.hardware.hardware import Hardware
from evatui.hardware.sources.noticing import Noticing
from evatui.hardware.sources.serial_ports import SerialPorts
from evatui.hardware.telling import Telling
from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.records.events import EventBus
from evatui.kernel.storage.database import Database
from evatui.kernel.storage.device_book import DeviceBook
from tests.hardware.bench import RULES
from tests.hardware.rooms import Quiet
from tests.support.ports import Ports

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no inotify")


async def test_what_comes_goes_or_is_opened_to_this_process_is_told_and_what_is_written_is_not(tmp_path: Path) -> None:
    told = asyncio.Event()
    noticing = Noticing(str(tmp_path), told.set)
    assert noticing.open()
    node = tmp_path / "ttyUSB0"
    for change in (node.touch, lambda: node.chmod(0o600), lambda: node.rename(tmp_path / "ttyUSB1")):
        change()
        await asyncio.wait_for(told.wait(), 30)
        told.clear()
    (tmp_path / "ttyUSB1").write_text("x")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not told.is_set()
    (tmp_path / "ttyUSB1").unlink()
    await asyncio.wait_for(told.wait(), 30)
    noticing.close()


async def test_where_nothing_can_be_watched_that_is_said(tmp_path: Path) -> None:
    noticing = Noticing(str(tmp_path / "none"), lambda: None)
    assert not noticing.open()
    noticing.close()


async def test_a_device_is_seen_though_nobody_looks_by_himself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Hardware, "rules", RULES)
    monkeypatch.setattr(rounds, "POLL_S", 3_600.0)
    ports, database = Ports(tmp_path, monkeypatch), DeviceBook(Database(None))
    telling = Telling(EventBus(SYSTEM_CLOCK), Quiet())  # type: ignore[arg-type]
    hardware = Hardware((SerialPorts(),), database, lambda: None, telling, SYSTEM_CLOCK, str(tmp_path))
    await hardware.open()
    assert await hardware.settled(30)
    ports.plug("ttyUSB0", "FT-EVA-1", "1-1")
    async with asyncio.timeout(30):
        while not any(device.state == "quarantined" for device in hardware.fleet.devices):
            await asyncio.sleep(0.01)
    await hardware.close()
