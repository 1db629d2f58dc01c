"""What metrics say of each capability that is there."""

from __future__ import annotations

from evatui.kernel.records.metrics import Gauge
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.providers.providers import Providers
from evatui.kernel.registry.registry import Registry

__all__ = ["gauges", "provider_gauges"]


def gauges(registry: Registry) -> list[Gauge]:
    """From any thread. One that was deleted is there until its last call has ended."""
    return [
        Gauge(capability.id, _kind(capability), tuple(one.name.id for one in capability.serving), capability.in_flight)
        for capability in tuple(registry.capabilities.values())
        if not capability.gone or capability.in_flight
    ]


def _kind(capability: Capability) -> str:
    serving, candidate = capability.active, capability.candidate
    manifest = serving.manifest if serving else candidate.manifest if candidate else None
    return manifest.kind.value if manifest else ""


def provider_gauges(providers: Providers) -> list[Gauge]:
    """The same of what serves besides. From any thread."""
    return [
        Gauge(key, f"adapter_{one.adapter.transport}", (one.adapter.title,), one.in_flight)
        for key, one in tuple(providers.serving.items())
    ]
