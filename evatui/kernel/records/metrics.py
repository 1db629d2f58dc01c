"""Counts of what happened, from audit records and events, and how they read in Prometheus' text format."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evatui.kernel.model.event import Event

if TYPE_CHECKING:
    from prometheus_client.core import Metric
    from prometheus_client.registry import CollectorRegistry

__all__ = ["Gauge", "Metrics"]

_BOUNDS_MS = (1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000)
_MAX_FUNCTIONS = 64
_OTHER = "other"
_RELOADS = {
    "/capability/loaded": "reload",
    "/capability/reload_failed": "failed",
    "/capability/rejected": "failed",
}


@dataclass(frozen=True, slots=True)
class Gauge:
    """What holds of a capability now."""

    capability_id: str
    generation: str | None
    in_flight: int


@dataclass(slots=True)
class _Counts:
    """Of one capability. ``calls`` by outcome, ``errors`` by kind, ``host_calls`` by function and outcome."""

    calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    host_calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    reloads: Counter[str] = field(default_factory=Counter)
    buckets: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS_MS) + 1))
    spent_ms: float = 0.0


class Metrics:
    """Thread-safe and cheap to feed; ``prometheus_client`` is loaded when they are first read.

    Labels come from bounded sets: capabilities that are there, kinds of errors, outcomes, functions of the host.
    ``gauges`` is asked whenever they are read, on any thread.
    """

    def __init__(self, gauges: Callable[[], Iterable[Gauge]]) -> None:
        self._gauges = gauges
        self._lock = threading.Lock()
        self._counts: dict[str, _Counts] = {}

    def recorded(self, record: Mapping[str, Any]) -> None:
        """Count the final record of a call; every other one is passed over."""
        name, spent_us = record.get("capability_id"), record.get("duration_us")
        if not name or spent_us is None or not str(record["code"]).startswith("call."):
            return
        spent_ms = spent_us / 1000
        with self._lock:
            counts = self._of(name)
            counts.calls[record["outcome"]] += 1
            if kind := record.get("error_kind"):
                counts.errors[kind] += 1
            counts.buckets[bisect_left(_BOUNDS_MS, spent_ms)] += 1
            counts.spent_ms += spent_ms
            for call in record.get("host_calls") or ():
                key = (str(call.get("fn")), str(call.get("outcome")))
                known = key in counts.host_calls or len(counts.host_calls) < _MAX_FUNCTIONS
                counts.host_calls[key if known else (_OTHER, _OTHER)] += 1

    def told(self, event: Event) -> None:
        """Count loads and failures; forget a capability that has gone."""
        what, name = _RELOADS.get(event.topic), str(event.payload.get("id") or "")
        with self._lock:
            if event.topic == "/capability/unregistered":
                self._counts.pop(name, None)
            elif what and name:
                self._of(name).reloads[what] += 1

    def _of(self, name: str) -> _Counts:
        counts = self._counts.get(name)
        if counts is None:
            counts = self._counts[name] = _Counts()
        return counts

    def registry(self) -> CollectorRegistry:
        """A registry of its own, which reads anew whenever it is collected."""
        from prometheus_client.registry import Collector, CollectorRegistry

        metrics = self

        class Reading(Collector):
            def collect(self) -> Iterator[Metric]:
                return metrics._families()

        registry = CollectorRegistry(auto_describe=False)
        registry.register(Reading())
        return registry

    def text(self) -> str:
        """In Prometheus' text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry()).decode()

    def _families(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        gauges = list(self._gauges())
        here = {gauge.capability_id for gauge in gauges}

        def counter(name: str, told: str, labels: list[str]) -> CounterMetricFamily:
            return CounterMetricFamily(name, told, labels=labels)

        calls = counter("capability_invocations", "Calls that ended.", ["capability_id", "outcome"])
        errors = counter("capability_errors", "Calls that ended in an error.", ["capability_id", "kind"])
        hosts = counter("host_api_calls", "Calls of the host.", ["capability_id", "function", "outcome"])
        loads = counter("capability_reload", "Versions that went into service.", ["capability_id"])
        failed = counter("capability_reload_failed", "Versions that were refused.", ["capability_id"])
        in_ms = HistogramMetricFamily("capability_latency_ms", "How long calls took.", labels=["capability_id"])
        in_s = HistogramMetricFamily("capability_latency_seconds", "How long calls took.", labels=["capability_id"])
        with self._lock:
            for name in [name for name in self._counts if name not in here]:
                del self._counts[name]
            for name, counts in self._counts.items():
                for outcome, count in counts.calls.items():
                    calls.add_metric([name, outcome], count)
                for kind, count in counts.errors.items():
                    errors.add_metric([name, kind], count)
                for (function, outcome), count in counts.host_calls.items():
                    hosts.add_metric([name, function, outcome], count)
                loads.add_metric([name], counts.reloads["reload"])
                failed.add_metric([name], counts.reloads["failed"])
                in_ms.add_metric([name], _cumulated(counts, 1), counts.spent_ms)
                in_s.add_metric([name], _cumulated(counts, 1000), counts.spent_ms / 1000)
        active = GaugeMetricFamily(
            "capability_generation_active", "1 for the generation that serves.", labels=["capability_id", "generation"]
        )
        flying = GaugeMetricFamily("capability_inflight", "Calls under way.", labels=["capability_id"])
        for gauge in gauges:
            flying.add_metric([gauge.capability_id], gauge.in_flight)
            if gauge.generation is not None:
                active.add_metric([gauge.capability_id, gauge.generation], 1)
        yield from (calls, errors, in_ms, in_s, loads, failed, active, flying, hosts)


def _cumulated(counts: _Counts, divisor: int) -> list[tuple[str, float]]:
    """As Prometheus has it: each bucket holds those below it as well."""
    total, buckets = 0, []
    for bound, count in zip([*(str(bound / divisor) for bound in _BOUNDS_MS), "+Inf"], counts.buckets, strict=True):
        total += count
        buckets.append((bound, float(total)))
    return buckets
