"""How a source fares."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SourceHealth"]


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """``looked``: it has answered at least once. ``problem`` is why the last look failed, empty where it did not."""

    name: str
    bus: str
    looked: bool = False
    problem: str = ""
    took_ms: float = 0.0
    looking: bool = True
    """Whether the policy wants it to."""
