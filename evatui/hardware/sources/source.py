"""What looks for devices."""

from __future__ import annotations

from typing import Protocol

from evatui.hardware.dialect import Line
from evatui.hardware.ports.wire import Wire
from evatui.hardware.sighting import Bus, Sighting

__all__ = ["Source"]


class Source(Protocol):
    """``name`` is what people read; all that it sees is on ``bus``. One ``from_memory`` asks nobody outside of the
    process: its scan waits for nothing."""

    name: str
    bus: Bus
    from_memory: bool

    def glance(self) -> object:
        """What costs little to see, and is never the same where `scan` would see anything else than before; None where
        nothing is. Blocking; may raise whatever the system does."""
        ...

    def scan(self) -> list[Sighting]:
        """What is there now. Blocking; opens nothing; may raise whatever its library does."""
        ...

    def open(self, sighting: Sighting, line: Line) -> Wire:
        """A device that it saw, opened. Blocking; raises `Trouble`."""
        ...
