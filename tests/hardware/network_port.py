"""A program of its own: a simulated scale at a real serial port, offered to the network.

``python -m tests.hardware.network_port rfc2217|socket|mute`` prints the number of its TCP port, and then, a line each,
what is set at the serial port.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from typing import Any

from serial import Serial
from serial.rfc2217 import PortManager

from evatui.hardware.simulators.faults import Fault
from evatui.hardware.simulators.models import Scale
from evatui.hardware.simulators.terminal import Terminal


class Port(Serial):
    """A pseudo terminal has no lines, so they are kept here: whoever raises DTR sees DSR, and RTS is CTS."""

    def __init__(self, path: str) -> None:
        self.held = {"dtr": True, "rts": True}
        super().__init__(path, timeout=0.05)

    def _update_dtr_state(self) -> None:
        self._told("dtr", self._dtr_state)

    def _update_rts_state(self) -> None:
        self._told("rts", self._rts_state)

    def _told(self, line: str, level: bool) -> None:
        self.held[line] = level
        print(line, int(level), flush=True)

    cts = property(lambda self: self.held["rts"])
    dsr = property(lambda self: self.held["dtr"])
    cd = property(lambda self: True)
    ri = property(lambda self: False)

    def _reconfigure_port(self, force_update: bool = False) -> None:
        super()._reconfigure_port(force_update)
        print("baud", self._baudrate, flush=True)


class Client:
    """What the manager writes to."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def write(self, data: bytes) -> None:
        self._connection.sendall(data)


def serve(connection: socket.socket, port: Port, manager: PortManager | None) -> None:
    """Until the other end hangs up."""

    def back() -> None:
        while True:
            said = port.read(port.in_waiting or 1)
            if manager is not None:
                manager.check_modem_lines()
                said = b"".join(manager.escape(said))
            connection.sendall(said)

    threading.Thread(target=_quietly, args=(back,), daemon=True).start()
    while data := connection.recv(1_024):
        port.write(b"".join(manager.filter(data)) if manager is not None else data)


def _quietly(work: Any, *given: Any) -> None:
    with contextlib.suppress(OSError):  # the other end has hung up
        work(*given)


def main(kind: str) -> None:
    terminal = Terminal(Scale(), lambda: Fault.NONE)
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        if kind == "mute":
            threading.Event().wait()
        port = Port(terminal.path)
        _quietly(serve, connection, port, PortManager(port, Client(connection)) if kind == "rfc2217" else None)


if __name__ == "__main__":
    main(sys.argv[1])
