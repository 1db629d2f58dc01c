"""How often opening a device is tried again, as its adapter's manifest says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Hotplug", "hotplug_of"]

_LONGEST_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Hotplug:
    """``attempts`` None is without an end; more follow once it was plugged in anew, or an operator looks again."""

    first_s: float = 0.25
    attempts: int | None = None

    def wait_s(self, failures: int) -> float:
        """How long it is left alone after so many failures before this one: ever longer, up to 5 s."""
        return float(min(self.first_s * 2 ** min(failures, 16), _LONGEST_S))

    def is_over(self, failures: int) -> bool:
        return self.attempts is not None and failures >= self.attempts


def hotplug_of(block: Mapping[str, Any]) -> Hotplug:
    """``block`` is the ``hotplug`` of a manifest."""
    return Hotplug(block["reconnect_backoff_ms"] / 1000, block["max_reconnect_attempts"])
