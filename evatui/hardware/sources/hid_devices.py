"""HID devices, by hidapi: its hidraw library on Linux, since the other one takes a device from the system's own driver
when it opens it, and does not see what is plugged in later."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from evatui.hardware.sighting import Bus, Sighting
from evatui.hardware.sources.node import look_at_node
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line

__all__ = ["HidDevices"]

_MAX_TEXT = 120
_USB_PLACE = re.compile(r"/(\d+-\d[\d.]*):\d+\.\d+/")


class HidDevices:
    name = "hidraw" if sys.platform == "linux" else "hid"
    bus = Bus.HID

    def scan(self) -> list[Sighting]:
        library = import_module(self.name)
        if not hasattr(library, "device"):
            raise ImportError("another package than hidapi has that name")
        grouped: dict[bytes, list[dict[str, Any]]] = {}
        for entry in library.enumerate():
            grouped.setdefault(entry["path"], []).append(entry)
        return [_sighting(path, entries) for path, entries in grouped.items()]

    def reach(self, sighting: Sighting) -> tuple[str, Callable[[], None]]:
        raise Trouble(ErrorKind.UNAVAILABLE, "HID devices are listed and named, but not opened by this version")


def _sighting(path: bytes, entries: Iterable[dict[str, Any]]) -> Sighting:
    """A device has an entry for each of its usages."""
    first = min(entries, key=lambda one: (one["usage_page"], one["usage"]))
    vendor, product, node = first["vendor_id"], first["product_id"], os.fsdecode(path)
    attachment, access = look_at_node(node, Bus.HID, vendor, product)
    number = first["interface_number"]
    return Sighting(
        bus=Bus.HID,
        vendor=vendor,
        product=product,
        serial=clean_line(first["serial_number"] or "", _MAX_TEXT),
        topology=_place(node),
        interface=f"if{number}" if number >= 0 else "",
        usage=f"{first['usage_page']:04x}.{first['usage']:04x}",
        name=clean_line(first["product_string"] or "HID device", _MAX_TEXT),
        maker=clean_line(first["manufacturer_string"] or "", _MAX_TEXT),
        attachment=attachment,
        path=node,
        access=access,
    )


def _place(node: str) -> str:
    """Where on which USB hub, empty where that cannot be known."""
    device = os.path.realpath(f"/sys/class/hidraw/{os.path.basename(node)}/device")
    found = _USB_PLACE.search(f"{device}/")
    return found[1] if found else ""
