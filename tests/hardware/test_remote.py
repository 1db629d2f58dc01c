"""Serial ports behind the network: a real server in another process, over a real serial port."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from evatui.hardware.dialect import Dialect, Line
from evatui.hardware.matching import Match
from evatui.hardware.ports import tcp_port
from evatui.hardware.ports.remote_port import dial
from evatui.hardware.ports.wire import Wire
from evatui.hardware.sighting import Bus
from evatui.hardware.station import Owner
from evatui.hardware.trouble import Trouble
from tests.hardware.rooms import BASE, GREETING, Room, fails

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
    port = dial(server.address, Line())
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
        dial(server.address, Line())
    assert (trouble.value.kind, trouble.value.retryable) == ("DeviceOpenFailed", True)


def test_what_no_address_leads_to_and_what_never_may_be_dialled_is_not() -> None:
    for address, kind in (
        ("socket://169.254.169.254:80", "DeviceUnauthorized"),
        ("rfc2217://[fe80::1]:4000", "DeviceUnauthorized"),
        ("socket://127.0.0.1:1", "DeviceOpenFailed"),
    ):
        with pytest.raises(Trouble) as trouble:
            dial(address, Line())
        assert trouble.value.kind == kind


def test_a_reading_that_nobody_waits_for_any_more_ends(servers: Any) -> None:
    port = dial(servers("socket").address, Line())
    port.cancel()
    assert port.read(time.monotonic() + 600) == b""
    port.close()


@contextlib.contextmanager
def shouting(*said: bytes) -> Iterator[str]:
    """The address of a server that says all of ``said``, and the last of it without an end."""
    listener = socket.create_server(("127.0.0.1", 0))

    def shout() -> None:
        with contextlib.suppress(OSError), listener.accept()[0] as connection:
            for one in said:
                connection.sendall(one)
            while True:
                connection.sendall(said[-1])

    threading.Thread(target=shout, daemon=True).start()
    with listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def drop_all(port: Wire) -> None:
    """Until the other thread has said too much at once."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        port.discard()
        time.sleep(0.001)


def test_a_server_that_never_stops_talking_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp_port, "_MOST", 8_192)
    with shouting(b"x" * 65_536) as address:
        port = dial(f"socket://{address}", Line())
        assert len(port.read(time.monotonic() + 60)) <= 4_096
        with pytest.raises(Trouble, match="says so much") as trouble:
            drop_all(port)
        assert (trouble.value.kind, trouble.value.sent) == ("DeviceProtocolError", False)
        port.close()


def test_what_nobody_reads_of_a_server_waits_at_its_end_and_what_breaks_the_protocol_ends_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    from evatui.hardware.ports import telnet

    asks = bytes((255, 251, 0, 255, 253, 44, 255, 251, 44, 255, 253, 0, 255, 253, 3, 255, 251, 3))
    with shouting(asks, b"x" * 4_096) as address:
        port: Any = telnet.TelnetSerial(None, timeout=0.05)
        port.port = f"rfc2217://{address}"
        port.is_open, port._socket = True, socket.create_connection(address.split(":"))
        reading = threading.Thread(target=port._telnet_read_loop, daemon=True)
        port._telnet_options, port._write_lock = [], threading.Lock()
        reading.start()
        while getattr(port, "_read_buffer", None) is None or port._read_buffer.qsize() < telnet.ROOM:
            time.sleep(0.001)
        assert port._read_buffer.qsize() == telnet.ROOM
        port.is_open = False
        reading.join(60)
        assert not reading.is_alive()
    broken = telnet.TelnetSerial(None)
    ours, theirs = socket.socketpair()
    broken.is_open, broken._socket = True, ours
    theirs.sendall(bytes((255, 240)))  # the end of what never began
    broken._telnet_read_loop()
    assert capfd.readouterr().err == ""
    for one in (ours, theirs):
        one.close()
