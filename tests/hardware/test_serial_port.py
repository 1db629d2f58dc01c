"""A serial port, over a real pseudo terminal: what it does when the other end goes, hangs, floods or is taken."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tty
from dataclasses import replace
from pathlib import Path

import pytest

from evatui.hardware.connection import Connection
from evatui.hardware.moment import Moment
from evatui.hardware.ports.serial_port import SerialPort
from evatui.hardware.sighting import Bus, Sighting
from evatui.hardware.simulators.faults import Fault
from evatui.hardware.simulators.models import Scale
from evatui.hardware.simulators.terminal import Terminal
from evatui.hardware.sources.hid_devices import HidDevices
from evatui.hardware.sources.node import look_at_node
from evatui.hardware.sources.serial_ports import SerialPorts
from evatui.hardware.tap import Tap
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.errors import ErrorKind
from tests.hardware.rooms import SCALE, fails


def test_a_port_that_went_away_before_anything_was_sent_is_said_to_be_gone() -> None:
    master, slave = os.openpty()
    port = SerialPort(os.ttyname(slave), SCALE.line)
    os.close(slave)
    os.close(master)
    for use in (lambda: port.write(b"ID?\\n"), lambda: port.read(0.0), port.discard):
        with pytest.raises(Trouble) as trouble:
            use()
        assert trouble.value.kind is ErrorKind.DEVICE_DISCONNECTED
    port.close()
    with pytest.raises(Trouble):
        port.write(b"x")


def test_a_device_that_takes_no_more_bytes_may_have_done_something_with_those_before() -> None:
    master, slave = os.openpty()
    port = SerialPort(os.ttyname(slave), replace(SCALE.line, baud_rate=4_000_000))
    with pytest.raises(Trouble) as trouble:
        port.write(bytes(200_000))
    assert (trouble.value.kind, trouble.value.sent, trouble.value.retryable) == ("DeviceWriteUnknown", True, False)
    port.close()
    os.close(slave)
    os.close(master)


def test_what_no_message_may_be_as_long_as_is_dropped_and_costs_the_connection() -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    tap = Tap(lambda: Moment(0.0, "now"))

    async def flooded() -> None:
        connection = Connection(lambda: SerialPort(os.ttyname(slave), SCALE.line), tap)
        await connection.open()
        asking = asyncio.create_task(connection.ask(SCALE, "weigh", {}, 60.0, 1))
        await asyncio.to_thread(os.read, master, 100)
        os.write(master, b"x" * 1_000)
        await fails("DeviceFrameTooLarge", asking)
        await connection.close()

    asyncio.run(flooded())
    assert tap.totals.rx_bytes >= 64
    os.close(slave)
    os.close(master)


async def test_half_a_message_that_is_left_of_what_nobody_asked_for_is_no_fault_of_the_device() -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    connection = Connection(lambda: SerialPort(os.ttyname(slave), SCALE.line), Tap(lambda: Moment(0.0, "now")))
    await connection.open()
    for halves, kind in ((1, ""), (2, "DeviceProtocolError")):
        os.write(master, b'{"seq":0,"we')  # is dropped before it is asked
        asking = asyncio.create_task(connection.ask(SCALE, "weigh", {}, 60.0, 1))
        await asyncio.to_thread(os.read, master, 100)
        os.write(master, b'ight_g":1}\n' * halves + b'{"seq":1,"weight_g":2}\n')
        if kind:
            await fails(kind, asking)
        else:
            assert await asking == {"weight_g": 2}
    await connection.close()
    os.close(slave)
    os.close(master)


def test_a_simulated_port_that_is_opened_after_its_plug_was_pulled_is_nobody_elses_terminal() -> None:
    terminal = Terminal(Scale(), lambda: Fault.NONE)
    terminal.close()
    others = [os.openpty() for _ in range(8)]
    assert terminal.path not in {os.ttyname(slave) for _, slave in others}
    with pytest.raises(Trouble) as trouble:
        SerialPort(terminal.path, SCALE.line, terminal.release)
    assert trouble.value.kind is ErrorKind.DEVICE_DISCONNECTED
    for pair in others:
        for descriptor in pair:
            os.close(descriptor)


def test_what_came_to_the_path_of_a_device_since_it_was_seen_is_not_opened() -> None:
    """The path of another terminal, as if that had been plugged in there meanwhile."""
    (_, seen), (_, other) = pairs = [os.openpty(), os.openpty()]
    was, _ = look_at_node(os.ttyname(seen), Bus.SERIAL, None, None)
    for path, sound in ((os.ttyname(seen), True), (os.ttyname(other), False)):
        if sound:
            SerialPorts().open(Sighting(bus=Bus.SERIAL, attachment=was, path=path), SCALE.line).close()
            continue
        with pytest.raises(Trouble, match="something else") as trouble:
            SerialPorts().open(Sighting(bus=Bus.SERIAL, attachment=was, path=path), SCALE.line)
        assert (trouble.value.kind, trouble.value.sent) == (ErrorKind.DEVICE_DISCONNECTED, False)
        with pytest.raises(Trouble, match="something else"):
            HidDevices().open(Sighting(bus=Bus.HID, attachment=was, path=path), SCALE.line)
    for pair in pairs:
        for descriptor in pair:
            os.close(descriptor)


HOLD = "import sys; held = open(sys.argv[1], 'rb', buffering=0); print('here', flush=True); sys.stdin.read()"


def test_a_port_that_another_program_has_open_names_it() -> None:
    master, slave = os.openpty()
    path = os.ttyname(slave)
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    other.stdout.readline()
    try:
        with pytest.raises(Trouble) as trouble:
            SerialPort(path, SCALE.line)
        assert trouble.value.kind is ErrorKind.DEVICE_BUSY
        assert trouble.value.details["holder"]["pid"] == other.pid
        program = Path(f"/proc/{other.pid}/comm").read_text().strip()
        assert f"pid {other.pid} ({program}) has" in trouble.value.message
    finally:
        other.communicate()
    first = SerialPort(path, SCALE.line)
    with pytest.raises(Trouble) as trouble:
        SerialPort(path, SCALE.line)
    assert trouble.value.kind is ErrorKind.DEVICE_BUSY
    first.close()
    os.close(master)
    os.close(slave)
