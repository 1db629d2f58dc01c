"""HID devices in use. No machine of the tests has one: what hidapi would open is simulated, the rest is real."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from evatui.hardware.connection import Connection
from evatui.hardware.dialect import Dialect, Line
from evatui.hardware.matching import Match
from evatui.hardware.moment import Moment
from evatui.hardware.ports.hid_port import FULL, HidPort
from evatui.hardware.ports.reports import Reports, reports_in
from evatui.hardware.sighting import Bus, Sighting
from evatui.hardware.simulators.faults import Fault
from evatui.hardware.simulators.models import Panel, Scale
from evatui.hardware.simulators.reporter import Reporter
from evatui.hardware.simulators.terminal import Terminal
from evatui.hardware.sources.hid_devices import HidDevices
from evatui.hardware.station import Owner
from evatui.hardware.tap import Tap
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.errors import ErrorKind
from tests.hardware.rooms import BASE, Room, fails

COMMANDS = {"lamp.set": "{lamp} {on}", "button.press": "ff {count}", "long": "00 00 00 00 00"}
PANEL = Dialect({**BASE, "kind": "hid_report", "commands": COMMANDS, "report_id": 1})
MOUSE = "05010902a1010901a1000509190129031500250195037501810295017505810305010930093109381581257f750895038106c0c0"
OWNER = Owner("call", "ann")


def test_a_descriptor_says_which_reports_there_are_and_how_long() -> None:
    assert reports_in(Panel.descriptor) == Reports(True, {1: 4}, {1: 4}, {2: 1})
    assert reports_in(bytes.fromhex(MOUSE)) == Reports(False, {0: 4}, {}, {})
    pushed = bytes.fromhex("7508 9502 a4 7501 9501 8102 b4 8102 fe02ff0000 9102")
    assert reports_in(pushed) == Reports(False, {0: 3}, {0: 2}, {})
    assert reports_in(b"") == Reports(False, {}, {}, {})


@pytest.mark.parametrize("broken", ["06ff", "7508 97ffffffff 8102", "86ffff 7508 9501 8102"])
def test_what_is_no_descriptor_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match=r"ends|longer"):
        reports_in(bytes.fromhex(broken))


def opened(fault: Fault = Fault.NONE, feature: int | None = None) -> tuple[HidPort, Reporter]:
    reporter = Reporter(Panel(), lambda: fault)
    return HidPort(reporter, reporter.unplug, feature), reporter


def told(work: Any) -> tuple[ErrorKind, str]:
    with pytest.raises(Trouble) as trouble:
        work()
    return trouble.value.kind, trouble.value.message


def test_a_report_is_filled_up_and_one_that_is_not_the_devices_is_not_sent() -> None:
    port, _ = opened()
    port.write(b"\x01\x02\x01")
    assert port.read(time.monotonic() + 30) == b"\x01\x04\x01\0\0"
    assert "takes no report 2" in told(lambda: port.write(b"\x02\0"))[1]
    assert "has 4 bytes, and the command 5" in told(lambda: port.write(b"\x01\0\0\0\0\0"))[1]
    assert port.read(time.monotonic()) == b""


@pytest.mark.parametrize("fault", [Fault.GARBAGE, Fault.PARTIAL])
def test_a_report_of_another_number_or_length_than_the_descriptor_says_is_an_error(fault: Fault) -> None:
    port, _ = opened(fault)
    port.write(b"\x01\x02\x01")
    assert told(lambda: port.read(time.monotonic() + 30))[0] is ErrorKind.DEVICE_PROTOCOL_ERROR


def test_one_that_went_away_says_so_whatever_is_done_with_it() -> None:
    port, reporter = opened()
    reporter.unplug()
    for use in (lambda: port.write(b"\x01\0\0"), lambda: port.read(time.monotonic() + 30), port.discard):
        assert told(use)[0] is ErrorKind.DEVICE_DISCONNECTED
    port.close()


@pytest.mark.parametrize("fault", [Fault.MUTE, Fault.UNPLUG])
def test_one_whose_plug_is_being_pulled_says_nothing_more(fault: Fault) -> None:
    port, _ = opened(fault)
    port.write(b"\x01\x02\x01")
    assert port.read(time.monotonic()) == b""
    terminal = Terminal(Scale(), lambda: fault)
    assert terminal._say(b"late\r\n")
    os.set_blocking(terminal._slave, False)
    with pytest.raises(BlockingIOError):
        os.read(terminal._slave, 1)
    terminal.release()


def test_a_reading_that_nobody_waits_for_any_more_ends_before_it_is_closed() -> None:
    port, _ = opened(Fault.MUTE)
    port.cancel()
    assert port.read(time.monotonic() + 600) == b""


def test_a_feature_report_is_set_and_read_back_and_held_against_the_descriptor() -> None:
    port, reporter = opened(feature=2)
    port.write(b"\x02\x40")
    assert port.read(time.monotonic() + 30) == b"\x02\x40"
    assert "takes no feature report 1" in told(lambda: port.write(b"\x01\0"))[1]
    assert "has 1 bytes, and the command 2" in told(lambda: port.write(b"\x02\0\0"))[1]
    assert "no feature report 3" in told(lambda: opened(feature=3)[0].write(b"\x02\0"))[1]
    reporter.unplug()
    for use in (lambda: port.write(b"\x02\0"), lambda: port.read(time.monotonic() + 30)):
        assert told(use)[0] is ErrorKind.DEVICE_DISCONNECTED


@pytest.mark.parametrize("fault", [Fault.MUTE, Fault.GARBAGE, Fault.PARTIAL])
def test_a_feature_report_that_is_refused_or_spoilt_is_an_error_of_the_device_and_no_pulled_plug(fault: Fault) -> None:
    port, _ = opened(fault, feature=2)
    port.write(b"\x02\x40")
    assert told(lambda: port.read(time.monotonic() + 30))[0] is ErrorKind.DEVICE_PROTOCOL_ERROR


def test_a_descriptor_that_says_nothing_opens_nothing() -> None:
    reporter = Reporter(Panel(), lambda: Fault.NONE)
    reporter._model.descriptor = b"\x06"  # type: ignore[misc]
    assert "descriptor" in told(lambda: HidPort(reporter, reporter.unplug))[1]


def test_a_node_that_is_not_there_is_named_by_the_system_and_not_by_the_library(tmp_path: Path) -> None:
    gone = Sighting(bus=Bus.HID, vendor=1, product=2, path=str(tmp_path / "hidraw9"))
    assert told(lambda: HidDevices().open(gone, Line()))[0] is ErrorKind.DEVICE_DISCONNECTED
    (tmp_path / "hidraw9").touch()
    assert told(lambda: HidDevices().open(gone, Line()))[0] is ErrorKind.DEVICE_OPEN_FAILED
    assert told(lambda: HidDevices().open(gone, Line(driver="hid")))[0] is ErrorKind.DEVICE_OPEN_FAILED


@pytest.fixture
def panels(room: Room) -> Room:
    room.hardware.expect("panel", Match("panel.main", Bus.SIM, serial="panel"), PANEL)
    return room


async def ask(room: Room, capability: str, **payload: Any) -> Any:
    using = room.hardware.using
    return await using.ask(using.named("panel.main"), PANEL, capability, payload, OWNER, 30.0, None)


async def test_a_capability_speaks_in_reports(panels: Room) -> None:
    assert await ask(panels, "lamp.set", lamp=3, on=1) == {"report_id": 1, "hex": "08010000"}
    assert "from 0 to 255" in (await fails("InvalidInput", ask(panels, "lamp.set", lamp=256, on=1))).message
    await fails("DeviceProtocolError", ask(panels, "long"))
    assert (await ask(panels, "lamp.set", lamp=3, on=0))["hex"] == "00020000"


async def test_more_than_the_system_keeps_is_counted_as_a_gap(panels: Room) -> None:
    await ask(panels, "button.press", count=200)
    answer = await ask(panels, "lamp.set", lamp=0, on=1)
    totals = panels.hardware.using.tap(panels.hardware.using.named("panel.main")).totals
    assert (totals.gaps, totals.discarded) == (0, FULL - 1)
    assert answer["hex"] == "01c90000"  # the number of the last one tells what was lost
    panels.simulators._open["panel"].write(b"\x01\xff\xc8")  # type: ignore[union-attr]
    await ask(panels, "lamp.set", lamp=0, on=1)
    assert panels.hardware.using.tap(panels.hardware.using.named("panel.main")).totals.gaps == 1


async def test_unplugged_in_the_middle_is_an_error_at_once(panels: Room) -> None:
    await ask(panels, "lamp.set", lamp=0, on=1)
    panels.simulators.script("panel", Fault.MUTE)
    call = asyncio.create_task(ask(panels, "lamp.set", lamp=0, on=1))
    tap = panels.hardware.using.tap(panels.hardware.using.named("panel.main"))
    async with asyncio.timeout(30):
        while tap.totals.tx_messages < 2:
            await asyncio.sleep(0.001)
    panels.simulators.script("panel", Fault.UNPLUG)
    assert (await fails("DeviceDisconnected", asyncio.wait_for(call, 30))).sent


async def test_a_capability_sets_what_is_read_back(panels: Room) -> None:
    using = panels.hardware.using
    block = {"kind": "hid_report", "commands": {"level.set": "{level}"}, "report_id": 2, "report_type": "feature"}
    answer = using.ask(
        using.named("panel.main"), Dialect({**BASE, **block}), "level.set", {"level": 64}, OWNER, 30.0, None
    )
    assert await answer == {"report_id": 2, "hex": "40"}


async def test_lines_are_not_spoken_to_a_device_of_reports(panels: Room) -> None:
    using = panels.hardware.using
    lines = Dialect({**BASE, "commands": {"lamp.set": "ON"}})
    await fails("DeviceProtocolError", using.ask(using.named("panel.main"), lines, "lamp.set", {}, OWNER, 30.0, None))


async def test_what_opening_resets_is_left_alone_until_it_is_up_or_nobody_wants_it_any_more() -> None:
    there = threading.Event()

    def opener() -> HidPort:
        there.set()
        return opened()[0]

    connection = Connection(opener, Tap(lambda: Moment(0.0, "now")))
    opening = asyncio.create_task(connection.open(settle_s=600.0))
    async with asyncio.timeout(60):
        await asyncio.to_thread(there.wait, 60)
        assert not opening.done()
        await connection.close()
        await opening
