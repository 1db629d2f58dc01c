"""The view Devices: what is plugged in, whether it may be used and by whom, and why not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evatui.console.panes.asked import AskedPane
from evatui.console.panes.pane import Opened
from evatui.console.view.actions import View
from evatui.console.view.devices import (
    DEVICE_COLUMNS,
    DeviceRow,
    device_preview,
    device_row,
    devices_in,
    no_devices,
)
from evatui.console.view.empty import NOT_FOUND
from evatui.console.view.ink import Line
from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["DevicesPane"]


class DevicesPane(AskedPane):
    view = View.DEVICES
    columns = DEVICE_COLUMNS
    nouns = ("device", "devices")
    asks = ("hardware.list",)
    topics = ("/hardware/",)
    _devices: Mapping[str, DeviceRow] = {}

    def show(self, snapshot: ConsoleSnapshot, elapsed: float) -> None:
        """It is asked for once, so that it is looked for; from then on every snapshot has it."""
        super().show(snapshot, elapsed)
        if snapshot.devices:
            self.answered({"hardware.list": snapshot.devices})

    def answered(self, answers: Mapping[str, Mapping[str, Any]]) -> None:
        data = answers["hardware.list"]
        self._devices = {device.key: device for device in devices_in(data)}
        rows = [device_row(device, self.look) for device in self._devices.values()]
        self.fill(rows, NOT_FOUND if rows else no_devices(data.get("sources") or ()))
        self.cursor_moved()

    def known(self, key: str) -> DeviceRow | None:
        return self._devices.get(key)

    def subject(self) -> DeviceRow | None:
        return self._devices.get(self.rows.key or "")

    def preview_lines(self, width: int) -> list[Line]:
        device = self.subject()
        return device_preview(device, width, self.look) if device else []

    def opened(self) -> Opened | None:
        device = self.subject()
        if device is None:
            return None
        return Opened(device.label, lambda width: device_preview(device, width, self.look), device.fix or device.key)

    def copied(self) -> str:
        return self.rows.key or ""
