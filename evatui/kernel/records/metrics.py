"""Counts of what happened, from audit records and events, and how they read in Prometheus' text format."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from evatui.kernel.model.event import Event
from evatui.kernel.records.codes import Outcome

if TYPE_CHECKING:
    from prometheus_client.core import Metric
    from prometheus_client.registry import CollectorRegistry

__all__ = ["Gauge", "Metrics"]

_BOUNDS_MS = (1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000)
_MAX_FUNCTIONS = 64
_AT_ONCE = 64
"""Records that are counted together: one alone, between two calls, takes three times as long."""
_OTHER = "other"
_RELOADS = {
    "/capability/loaded": Outcome.OK,
    "/capability/reload_failed": Outcome.ERROR,
    "/capability/rejected": Outcome.ERROR,
}
_DEVICES = "/hardware/"
_LABELS = ["capability_id", "kind", "outcome"]


@dataclass(frozen=True, slots=True)
class Gauge:
    """What holds of a capability now. ``kind`` is that of its manifest, empty where no sound one was seen yet;
    ``generations`` are those that serve: one, two while a canary is tried out.
    """

    capability_id: str
    kind: str
    generations: tuple[str, ...]
    in_flight: int


@dataclass(slots=True)
class _Latency:
    """How many calls took up to each of the bounds, and how long all took together."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS_MS) + 1))
    spent_ms: float = 0.0

    def add(self, spent_ms: float) -> None:
        self.buckets[bisect_left(_BOUNDS_MS, spent_ms)] += 1
        self.spent_ms += spent_ms

    @property
    def count(self) -> int:
        return sum(self.buckets)

    def cumulated(self, divisor: int) -> list[tuple[str, float]]:
        """As Prometheus has it: each bucket holds those below it as well."""
        bounds = [*(str(bound / divisor) for bound in _BOUNDS_MS), "+Inf"]
        return list(zip(bounds, map(float, accumulate(self.buckets)), strict=True))


@dataclass(slots=True)
class _Counts:
    """Of one capability. ``calls`` and ``loads`` by outcome, ``errors`` by outcome and kind, ``host_calls`` by function
    and outcome."""

    calls: dict[str, _Latency] = field(default_factory=dict)
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)
    host_calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    loads: Counter[str] = field(default_factory=Counter)


class Metrics:
    """Thread-safe and cheap to feed; ``prometheus_client`` is loaded when they are first read.

    Labels come from bounded sets: capabilities that are there and their kinds, outcomes, kinds of errors, functions of
    the host, and the topics of devices, to which only the kernel emits.
    ``gauges`` is asked whenever they are read, on any thread.
    """

    def __init__(self, gauges: Callable[[], Iterable[Gauge]]) -> None:
        self._gauges = gauges
        self._lock = threading.Lock()
        self._counts: dict[str, _Counts] = {}
        self._uncounted: deque[Mapping[str, Any]] = deque()
        self._devices: Counter[tuple[str, str]] = Counter()

    def recorded(self, record: Mapping[str, Any]) -> None:
        """Count the final record of a call, with others and at the latest when it is asked for; every other one is
        passed over."""
        self._uncounted.append(record)
        if len(self._uncounted) >= _AT_ONCE:
            with self._lock:
                self._count()

    def _count(self) -> None:
        """With the lock held."""
        while self._uncounted:
            record = self._uncounted.popleft()
            name, spent_us = record.get("capability_id"), record.get("duration_us")
            if name and spent_us is not None and str(record["code"]).startswith("call."):
                self._add(self._of(name), record, spent_us / 1000)

    def _add(self, counts: _Counts, record: Mapping[str, Any], spent_ms: float) -> None:
        outcome = record["outcome"]
        latency = counts.calls.get(outcome)
        if latency is None:
            latency = counts.calls[outcome] = _Latency()
        latency.add(spent_ms)
        if kind := record.get("error_kind"):
            counts.errors[outcome, kind] += 1
        for call in record.get("host_calls") or ():
            key = (str(call.get("fn")), str(call.get("outcome")))
            known = key in counts.host_calls or len(counts.host_calls) < _MAX_FUNCTIONS
            counts.host_calls[key if known else (_OTHER, _OTHER)] += 1

    def told(self, event: Event) -> None:
        """Count loads and failures, and what happens to devices; forget a capability that has gone."""
        if event.topic.startswith(_DEVICES):
            about, _, what = event.topic.removeprefix(_DEVICES).partition("/")
            with self._lock:
                self._devices[about, what] += 1
            return
        outcome, name = _RELOADS.get(event.topic), str(event.payload.get("id") or "")
        with self._lock:
            if event.topic == "/capability/unregistered":
                self._count()  # nothing of it is left over
                self._counts.pop(name, None)
            elif outcome and name:
                self._of(name).loads[outcome] += 1

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

        gauges = {gauge.capability_id: gauge for gauge in self._gauges()}

        def counter(name: str, told: str, *more: str) -> CounterMetricFamily:
            return CounterMetricFamily(name, told, labels=[*_LABELS, *more])

        calls = counter("capability_invocations", "Calls that ended.")
        errors = counter("capability_errors", "Calls that ended in an error.", "error_kind")
        hosts = counter("host_api_calls", "Calls of the host.", "function")
        loads = counter("capability_reload", "Versions that went into service, or were refused.")
        devices = CounterMetricFamily("device_events", "What happened to devices.", labels=["about", "event"])
        failed = counter("capability_reload_failed", "Versions that were refused.")
        in_ms = HistogramMetricFamily("capability_latency_ms", "How long calls took.", labels=_LABELS)
        in_s = HistogramMetricFamily("capability_latency_seconds", "How long calls took.", labels=_LABELS)
        with self._lock:
            self._count()
            for (about, what), count in self._devices.items():
                devices.add_metric([about, what], count)
            for name in [name for name in self._counts if name not in gauges]:
                del self._counts[name]
            for name, counts in self._counts.items():
                whose = [name, gauges[name].kind]
                for outcome, latency in counts.calls.items():
                    calls.add_metric([*whose, outcome], latency.count)
                    in_ms.add_metric([*whose, outcome], latency.cumulated(1), latency.spent_ms)
                    in_s.add_metric([*whose, outcome], latency.cumulated(1000), latency.spent_ms / 1000)
                for (outcome, kind), count in counts.errors.items():
                    errors.add_metric([*whose, outcome, kind], count)
                for (function, outcome), count in counts.host_calls.items():
                    hosts.add_metric([*whose, outcome, function], count)
                for outcome in (Outcome.OK, Outcome.ERROR):
                    loads.add_metric([*whose, outcome], counts.loads[outcome])
                failed.add_metric([*whose, Outcome.ERROR], counts.loads[Outcome.ERROR])
        active = GaugeMetricFamily(
            "capability_generation_active",
            "1 for the generation that serves.",
            labels=["capability_id", "kind", "generation"],
        )
        flying = GaugeMetricFamily("capability_inflight", "Calls under way.", labels=["capability_id", "kind"])
        for gauge in gauges.values():
            flying.add_metric([gauge.capability_id, gauge.kind], gauge.in_flight)
            for generation in gauge.generations:
                active.add_metric([gauge.capability_id, gauge.kind, generation], 1)
        yield from (calls, errors, in_ms, in_s, loads, failed, active, flying, hosts, devices)
