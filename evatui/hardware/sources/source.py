"""What looks for devices."""

from __future__ import annotations

from typing import Protocol

from evatui.hardware.dialect import Line
from evatui.hardware.ports.wire import Wire
from evatui.hardware.sighting import Bus, Sighting

__all__ = ["Source"]


class Source(Protocol):
    """``name`` is what people read; all that it sees is on ``bus``."""

    name: str
    bus: Bus

    def scan(self) -> list[Sighting]:
        """What is there now. Blocking; opens nothing; may raise whatever its library does."""
        ...

    def open(self, sighting: Sighting, line: Line) -> Wire:
        """A device that it saw, opened. Blocking; raises `Trouble`."""
        ...
