"""What a simulated device can be told to do wrong."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

__all__ = ["SLOW_S", "Fault"]

SLOW_S: Final = 0.5


class Fault(StrEnum):
    NONE = "none"
    UNPLUG = "unplug"
    """It is not there; whatever has it open sees it go."""
    FLAP = "flap"
    """It is plugged in anew three times, at every look."""
    MUTE = "mute"
    """It takes what it is asked, and says nothing."""
    GARBAGE = "garbage"
    PARTIAL = "partial"
    """It says half of its answer."""
    SLOW = "slow"
    """It answers, half a second late."""
    TWIN = "twin"
    """Another device shows the same number."""
    DENIED = "denied"
    """The system does not let anybody open it."""
    BUSY = "busy"
    """Another program has it."""
