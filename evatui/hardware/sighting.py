"""What a source sees of a device at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

__all__ = ["Access", "Bus", "Sighting"]


class Bus(StrEnum):
    SERIAL = "serial"
    HID = "hid"
    REMOTE = "remote"
    """A serial port behind a network address."""
    SIM = "sim"


@dataclass(frozen=True, slots=True)
class Access:
    """May this process open the device? ``reason`` says why not, ``fix`` what a person can do: text, never run."""

    ok: bool = True
    reason: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One device, as it is plugged in right now. Texts are clean.

    ``topology`` is where it is plugged in (``1-2.3``), ``attachment`` changes whenever it is plugged in anew, and
    ``path`` is what opens it: for this room alone, never for a message, an event or a record.
    """

    bus: Bus
    vendor: int | None = None
    product: int | None = None
    serial: str = ""
    topology: str = ""
    interface: str = ""
    usage: str = ""
    name: str = ""
    maker: str = ""
    attachment: str = ""
    path: str = field(default="", repr=False)
    access: Access = Access()

    @property
    def simulated(self) -> bool:
        return self.bus is Bus.SIM
