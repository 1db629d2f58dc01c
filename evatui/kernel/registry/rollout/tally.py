"""What is counted of calls: faults, kinds of errors, latency; for ever, and over a window of time. Pure."""

from __future__ import annotations

import math
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any, Final

from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.registry.rollout.judge import Counts

__all__ = ["FAULTS", "Latencies", "Sample", "Tally", "TimedWindow", "Window", "rounded"]

FAULTS: Final = frozenset(
    {
        ErrorKind.HANDLER_ERROR,
        ErrorKind.INVALID_OUTPUT,
        ErrorKind.INVALID_RESPONSE,
        ErrorKind.TIMEOUT,
        ErrorKind.MEMORY_EXCEEDED,
        ErrorKind.OUTPUT_TOO_LARGE,
        ErrorKind.HOST_CALL_LIMIT,
    }
)
"""The ends of a call that speak against the version: everything else is its caller's, or the world's."""
_SLOTS: Final = 60
"""Pieces of a window: it forgets one at a time."""
_GROWTH: Final = math.log(1.1)
"""Latencies are kept to within a tenth."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A call that ran: the kind of its error, None where it answered, and its milliseconds in the handler."""

    error: ErrorKind | None
    ms: float

    @property
    def fault(self) -> bool:
        return self.error in FAULTS


class Latencies:
    """A histogram of milliseconds."""

    __slots__ = ("_buckets",)

    def __init__(self) -> None:
        self._buckets: Counter[int] = Counter()

    def add(self, ms: float) -> None:
        self._buckets[math.ceil(math.log(max(ms, 1e-3)) / _GROWTH)] += 1

    def join(self, other: Latencies) -> None:
        self._buckets.update(other._buckets)

    def quantile(self, share: float) -> float | None:
        """Milliseconds that ``share`` of the calls did not exceed, at most a tenth too high; None without calls."""
        left = math.ceil(self._buckets.total() * share)
        for bucket in sorted(self._buckets):
            left -= self._buckets[bucket]
            if left <= 0:
                return math.exp(bucket * _GROWTH)
        return None


@dataclass(slots=True)
class Tally:
    """Everything since the beginning of a generation."""

    samples: int = 0
    faults: int = 0
    errors: Counter[ErrorKind] = field(default_factory=Counter)
    latencies: Latencies = field(default_factory=Latencies)

    def add(self, sample: Sample) -> None:
        self.samples += 1
        if sample.error is not None:
            self.errors[sample.error] += 1
            self.faults += sample.fault
        self.latencies.add(sample.ms)

    def to_json(self) -> dict[str, Any]:
        return {
            "samples": self.samples,
            "faults": self.faults,
            "errors": {kind.value: count for kind, count in sorted(self.errors.items())},
            "p95_ms": rounded(self.latencies.quantile(0.95)),
        }


@dataclass(slots=True)
class _Slot:
    number: int
    samples: int = 0
    faults: int = 0
    latencies: Latencies = field(default_factory=Latencies)


class Window:
    """The calls of the last ``seconds``. Times are on the monotonic clock and never go back."""

    def __init__(self, seconds: float) -> None:
        self._slot_s = seconds / _SLOTS
        self._slots: deque[_Slot] = deque()
        self._samples = 0
        self.faults = 0
        """In what is kept, which may be a little more than the window."""

    def add(self, sample: Sample, now: float) -> None:
        number = math.floor(now / self._slot_s)
        if not self._slots or self._slots[-1].number != number:
            self._forget(now)
            self._slots.append(_Slot(number))
        slot = self._slots[-1]
        slot.samples += 1
        self._samples += 1
        if sample.error is not None and sample.fault:
            slot.faults += 1
            self.faults += 1

    def counts(self, now: float) -> Counts:
        self._forget(now)
        return Counts(self._samples, self.faults)

    def _forget(self, now: float) -> None:
        oldest = math.floor(now / self._slot_s) - _SLOTS
        while self._slots and self._slots[0].number <= oldest:
            slot = self._slots.popleft()
            self._samples -= slot.samples
            self.faults -= slot.faults


class TimedWindow(Window):
    """One that knows how long the calls took as well."""

    def add(self, sample: Sample, now: float) -> None:
        super().add(sample, now)
        self._slots[-1].latencies.add(sample.ms)

    def p95(self, now: float) -> float | None:
        self._forget(now)
        together = Latencies()
        for slot in self._slots:
            together.join(slot.latencies)
        return together.quantile(0.95)


def rounded(ms: float | None) -> float | None:
    return None if ms is None else round(ms, 3)
