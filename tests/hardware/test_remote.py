"""Serial ports behind the network: a real server in another process, over a real serial port."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from evatui.hardware.dialect import Dialect, Line
from evatui.hardware.hardware import Hardware
from evatui.hardware.matching import Match
from evatui.hardware.ports.remote_port import RemotePort
from evatui.hardware.sighting import Bus
from evatui.hardware.station import Owner
from evatui.hardware.trouble import Trouble
from evatui.kernel.storage.database import Database
from tests.hardware.conftest import RULES
from tests.hardware.rooms import GREETING, Room, fails
from tests.hardware.test_dialect import BASE

FAST = {**BASE, **GREETING, "kind": "line_json", "terminator": "\n", "baud_rate": 57_600, "dtr_on_open": "off"}


class Server:
    def __init__(self, kind: str) -> None:
        command = [sys.executable, "-m", "tests.hardware.network_port", kind]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        scheme = "socket" if kind == "socket" else "rfc2217"
        self.address = f"{scheme}://127.0.0.1:{self.says()}"

    def says(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def says_until(self, *wanted: str) -> set[str]:
        missing = {*wanted}
        while missing:
            missing.discard(self.says())
        return {*wanted}

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def servers() -> Iterator[Any]:
    with contextlib.ExitStack() as started:

        def start(kind: str) -> Server:
            server = Server(kind)
            started.callback(server.end)
            return server

        yield start


@pytest.fixture
async def room(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Room]:
    monkeypatch.setattr(Hardware, "rules", RULES)
    room = Room(Database(None))
    await room.hardware.open()
    assert await room.hardware.settled(30)
    yield room
    await room.hardware.close()


async def test_a_port_of_rfc_2217_is_set_read_and_lost_with_its_server(room: Room, servers: Any) -> None:
    server, dialect = servers("rfc2217"), Dialect(FAST)
    room.hardware.expect("far", Match("scale.far", Bus.REMOTE, address=server.address), dialect)
    assert await room.hardware.settled(30)
    device = room.hardware.using.named("scale.far")
    assert (device.identity.key, device.identity.strength, device.state) == (
        f"remote:0000:0000:n.{server.address.partition('://')[2].replace(':', '~3a')}",
        "bound",
        "authorized",
    )

    async def ask() -> Any:
        return await room.hardware.using.ask(device, dialect, "weigh", {}, Owner("call", "ann"), 30.0, None)

    assert (await ask())["reading"] == 1
    assert server.says_until("baud 57600", "dtr 0", "rts 1")
    assert (await ask())["reading"] == 2
    tap = room.hardware.using.tap(device)
    assert tap.lines == {"cts": True, "dsr": False, "ri": False, "cd": True}
    server.end()
    await fails("DeviceDisconnected", ask())
    assert device.state == "lost"
    async with asyncio.timeout(60):
        while device.state != "authorized":
            await room.hardware.rescan(30)
    again = await fails("DeviceOpenFailed", ask())
    assert "127.0.0.1" not in again.message


@pytest.mark.parametrize("kind", ["socket", "rfc2217"])
def test_the_first_write_after_the_death_of_a_server_lies_and_the_reading_after_it_tells(
    servers: Any, kind: str
) -> None:
    server = servers(kind)
    port = RemotePort(server.address, Line())
    port.write(b"ID?\n")
    said = b""
    while not said.endswith(b"\r\n"):
        said += port.read(time.monotonic() + 30)
    assert (said, port.discard()) == (b"EVA-SCALE 1\r\n", 0)
    server.end()
    port.write(b"ID?\n")
    with pytest.raises(Trouble) as trouble:
        port.read(time.monotonic() + 30)
    assert (trouble.value.kind, trouble.value.sent) == ("DeviceDisconnected", True)
    port.close()


def test_a_server_that_never_answers_is_given_up(servers: Any) -> None:
    server = servers("mute")
    with pytest.raises(Trouble) as trouble:
        RemotePort(server.address, Line())
    assert (trouble.value.kind, trouble.value.retryable) == ("DeviceOpenFailed", True)


def test_what_no_address_leads_to_and_what_never_may_be_dialled_is_not() -> None:
    for address, kind in (
        ("socket://169.254.169.254:80", "DeviceUnauthorized"),
        ("rfc2217://[fe80::1]:4000", "DeviceUnauthorized"),
        ("socket://127.0.0.1:1", "DeviceOpenFailed"),
    ):
        with pytest.raises(Trouble) as trouble:
            RemotePort(address, Line())
        assert trouble.value.kind == kind


def test_a_reading_that_nobody_waits_for_any_more_ends(servers: Any) -> None:
    port = RemotePort(servers("socket").address, Line())
    port.cancel()
    assert port.read(time.monotonic() + 600) == b""
    port.close()
