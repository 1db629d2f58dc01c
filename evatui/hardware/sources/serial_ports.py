"""Serial ports, by pyserial."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from evatui.hardware.dialect import Line
from evatui.hardware.ports.serial_port import SerialPort
from evatui.hardware.ports.wire import Wire
from evatui.hardware.sighting import Bus, Sighting
from evatui.hardware.sources.node import glance_at_nodes, look_at_node, refuse_another
from evatui.kernel.model.text import clean_line

__all__ = ["SerialPorts"]

_MAX_TEXT = 120


class SerialPorts:
    name = "serial"
    bus = Bus.SERIAL
    from_memory = False

    def glance(self) -> object:
        return glance_at_nodes("tty", "rfcomm")

    def scan(self) -> list[Sighting]:
        from serial.tools import list_ports

        return [_sighting(port) for port in list_ports.comports()]

    def open(self, sighting: Sighting, line: Line) -> Wire:
        return SerialPort(sighting.path, line, check=partial(refuse_another, attachment=sighting.attachment))


def _sighting(port: Any) -> Sighting:
    place, _, interface = (port.location or "").partition(":")
    attachment, access = look_at_node(port.device, Bus.SERIAL, port.vid, port.pid)
    return Sighting(
        bus=Bus.SERIAL,
        vendor=port.vid,
        product=port.pid,
        serial=clean_line(port.serial_number or "", _MAX_TEXT),
        topology=clean_line(place or _built_in(port), _MAX_TEXT),
        interface=f"if{clean_line(interface.rpartition('.')[2], 8)}" if interface else "",
        name=clean_line(port.product or _described(port), _MAX_TEXT),
        maker=clean_line(port.manufacturer or "", _MAX_TEXT),
        attachment=attachment,
        path=port.device,
        access=access,
    )


def _built_in(port: Any) -> str:
    """Where on the board it is, as the system numbers that; elsewhere than on Linux, its name."""
    where = getattr(port, "device_path", None) or port.name or ""
    return os.path.basename(where).replace(":", "-")


def _described(port: Any) -> str:
    said = port.description or "n/a"
    return said if said not in ("n/a", port.name) else "serial port"
