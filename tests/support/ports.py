"""Serial ports that pyserial is made to see; their nodes are files, so that each plugging-in is one of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from serial.tools import list_ports
from serial.tools.list_ports_common import ListPortInfo

__all__ = ["Ports"]


class Ports:
    """``names`` of what is plugged in; `plug` and `unplug` change it."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._there: dict[str, ListPortInfo] = {}
        self.problem: Exception | None = None
        patch.setattr(list_ports, "comports", self._comports)
        patch.setattr("hidraw.enumerate", list)
        patch.setattr("evatui.hardware.sources.node._FOLDER", str(folder))

    def plug(self, name: str, serial: str | None, place: str) -> None:
        node = self._folder / name
        anew = self._folder / f"{name}.anew"
        anew.touch()
        port = ListPortInfo(str(node), skip_link_detection=True)
        port.vid, port.pid, port.serial_number, port.location, port.product = 0x0403, 0x6001, serial, place, "Scale"
        self._there[name] = port
        anew.replace(node)  # beside the old one, so that it has another number; last, since this is what is noticed

    def unplug(self, name: str) -> None:
        del self._there[name]
        (self._folder / name).unlink()

    def _comports(self) -> list[ListPortInfo]:
        if self.problem is not None:
            raise self.problem
        return list(self._there.values())
