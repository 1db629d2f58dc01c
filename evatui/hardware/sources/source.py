"""What looks for devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from evatui.hardware.sighting import Bus, Sighting

__all__ = ["Source"]


class Source(Protocol):
    """``name`` is what people read; all that it sees is on ``bus``."""

    name: str
    bus: Bus

    def scan(self) -> list[Sighting]:
        """What is there now. Blocking; opens nothing; may raise whatever its library does."""
        ...

    def reach(self, sighting: Sighting) -> tuple[str, Callable[[], None]]:
        """What opens a device that it saw, and what is to be called when that is closed. Blocking; raises `Trouble`."""
        ...
