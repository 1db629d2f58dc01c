"""What metrics say of each capability that is there."""

from __future__ import annotations

from evatui.kernel.records.metrics import Gauge
from evatui.kernel.registry.registry import Registry

__all__ = ["gauges"]


def gauges(registry: Registry) -> list[Gauge]:
    """From any thread."""
    return [
        Gauge(capability.id, active.name.id if (active := capability.active) else None, capability.in_flight)
        for capability in tuple(registry.capabilities.values())
    ]
