"""HID devices, by hidapi: its hidraw library on Linux, since the other one takes a device from the system's own driver
when it opens it, and does not see what is plugged in later."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, Final

from evatui.hardware.dialect import Line
from evatui.hardware.holder import refuse_foreign_holder
from evatui.hardware.ports.hid_port import HidPort
from evatui.hardware.ports.wire import Wire
from evatui.hardware.sighting import Bus, Sighting
from evatui.hardware.sources.node import glance_at_nodes, look_at_node, refuse_another
from evatui.hardware.trouble import translate
from evatui.kernel.model.text import clean_line

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["HidDevices"]

_MAX_TEXT = 120
_SHOWN = "/sys/class/hidraw"
_LIBRARY: Final = threading.Lock()
"""Looking, opening and closing must not happen at once: none of the libraries is made for that."""
_USB_PLACE = re.compile(r"/(\d+-\d[\d.]*):\d+\.\d+/")


class HidDevices:
    name = "hidraw" if sys.platform == "linux" else "hid"
    bus = Bus.HID
    from_memory = False

    def glance(self) -> object:
        """Also of what the system shows without a node, as in a container."""
        nodes = glance_at_nodes("hidraw")
        return (nodes, _shown()) if nodes is not None else None

    def scan(self) -> list[Sighting]:
        library = _library(self.name)
        grouped: dict[bytes, list[dict[str, Any]]] = {}
        with _LIBRARY:
            entries = library.enumerate()
        for entry in entries:
            grouped.setdefault(entry["path"], []).append(entry)
        return [_sighting(path, entries) for path, entries in grouped.items()]

    def open(self, sighting: Sighting, line: Line) -> Wire:
        """By the library of ``line.driver``, where that asks for another one than looks."""
        locked = _locked(sighting.path, sighting.attachment)
        try:
            library = _library(self.name if line.driver == "auto" else line.driver)
            handle: Any = library.device()
            with _LIBRARY:
                if library.__name__ == self.name:
                    handle.open_path(os.fsencode(sighting.path))
                    refuse_another(sighting.path, sighting.attachment)
                else:
                    handle.open(sighting.vendor, sighting.product, sighting.serial or None)
            handle.set_nonblocking(1)
        except Exception as error:
            locked()
            raise translate(error, opening=True) from None
        return HidPort(_Handle(handle), locked, line.feature)


class _Handle:
    """One that is closed while nobody looks for devices."""

    def __init__(self, handle: Any) -> None:
        self.get_report_descriptor = handle.get_report_descriptor
        self.write = handle.write
        self.read = handle.read
        self.send_feature_report = handle.send_feature_report
        self.get_feature_report = handle.get_feature_report
        self._handle = handle

    def close(self) -> None:
        with _LIBRARY:
            self._handle.close()


def _library(name: str) -> Any:
    library = import_module(name)
    if not hasattr(library, "device"):
        raise ImportError("another package than hidapi has that name")
    return library


def _locked(path: str, attachment: str) -> Callable[[], None]:
    """Keeps out other runtimes, since the system lets any number of programs open such a device; returns what lets go
    of that. It is also what says why it cannot be opened, or is another one than was seen: the library says nothing.
    Raises `Trouble`."""
    if fcntl is None or not path.startswith("/"):
        return _nothing
    try:
        refuse_foreign_holder(path)
        node = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
    except Exception as error:
        raise translate(error, opening=True) from None
    try:
        refuse_another(node, attachment)
        fcntl.flock(node, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except Exception as error:
        os.close(node)
        raise translate(error, opening=True) from None
    return partial(_unlock, node)


def _unlock(node: int) -> None:
    with suppress(OSError):
        os.close(node)


def _nothing() -> None:
    """Nothing was locked."""


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


def _shown() -> list[str]:
    try:
        return sorted(os.listdir(_SHOWN))
    except OSError:  # there is no such bus
        return []


def _place(node: str) -> str:
    """Where on which USB hub, empty where that cannot be known."""
    device = os.path.realpath(f"{_SHOWN}/{os.path.basename(node)}/device")
    found = _USB_PLACE.search(f"{device}/")
    return found[1] if found else ""
