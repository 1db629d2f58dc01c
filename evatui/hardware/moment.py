"""When something happened to a device."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Moment"]


@dataclass(frozen=True, slots=True)
class Moment:
    """Seconds that only go forward, and the same moment as RFC 3339."""

    monotonic: float
    at: str
