"""How many calls there were over the last minutes, and how long they took, as lines of blocks."""

from __future__ import annotations

import datetime as dt
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evatui.console.view.canary import canary_of
from evatui.console.view.ink import Ink, Line, line
from evatui.console.view.words import duration
from evatui.control.snapshot import AuditRow, CapabilityRow

__all__ = ["SPAN_S", "STEP_S", "Trends", "quantile", "spark", "trend_lines"]

STEP_S = 5
"""Seconds of one block."""
SPAN_S = 120
_STEPS = SPAN_S // STEP_S
_SAMPLES = 64
"""Durations that are kept of one step; of more calls the last ones."""
_KEPT = 4_000
"""Capabilities and generations that are remembered, the busiest of late."""
_BLOCKS = "▁▂▃▄▅▆▇█"


def spark(values: Sequence[float | None]) -> str:
    """One block a value, the highest as high as a line; a blank where there is none."""
    known = [value for value in values if value is not None]
    most = max(known, default=0.0)
    if most <= 0:
        return "".join(" " if value is None else _BLOCKS[0] for value in values)
    last = len(_BLOCKS) - 1
    return "".join(" " if value is None else _BLOCKS[min(last, round(value / most * last))] for value in values)


def quantile(samples: Iterable[float], share: float) -> float | None:
    """The value that ``share`` of the samples do not exceed; None of none."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else None


@dataclass(slots=True)
class _Step:
    number: int
    calls: int = 0
    durations_ms: array[float] = field(default_factory=lambda: array("f"))


class _Series:
    """The last steps of one capability or generation, the oldest first; those without calls are not there."""

    def __init__(self) -> None:
        self._steps: list[_Step] = []

    def step(self, number: int) -> _Step:
        for step in reversed(self._steps):
            if step.number == number:
                return step
            if step.number < number:
                break
        self._steps = [*(step for step in self._steps if number - _STEPS < step.number < number), _Step(number)]
        return self._steps[-1]

    def calls(self, now: int) -> list[float]:
        found = {step.number: float(step.calls) for step in self._steps}
        return [found.get(number, 0.0) for number in range(now - _STEPS + 1, now + 1)]

    def p95_ms(self, now: int) -> list[float | None]:
        found = {step.number: quantile(step.durations_ms, 0.95) for step in self._steps}
        return [found.get(number) for number in range(now - _STEPS + 1, now + 1)]


class Trends:
    """Learns from every snapshot: exact counts from the totals of capabilities, durations from the records."""

    def __init__(self) -> None:
        self._series: OrderedDict[str, _Series] = OrderedDict()
        self._totals: dict[str, int] = {}
        self._now = 0

    def learn(self, at: str, capabilities: Iterable[CapabilityRow], records: Iterable[AuditRow]) -> None:
        self._now = _step_of(at)
        for row in capabilities:
            before = self._totals.get(row.id)
            if row.calls != before:
                self._totals[row.id] = row.calls
                if before is not None and row.calls > before:
                    self._of(row.id).step(self._now).calls += row.calls - before
        for record in records:
            if record.code.startswith("call.") and record.duration_us:
                self._learn_call(record)

    def _learn_call(self, record: AuditRow) -> None:
        number, took = _step_of(record.at), record.duration_us / 1000
        if number <= self._now - _STEPS:
            return
        durations = self._of(record.capability_id).step(number).durations_ms
        if len(durations) < _SAMPLES:
            durations.append(took)
        else:
            durations[record.seq % _SAMPLES] = took
        if record.generation:
            step = self._of(record.generation).step(number)
            step.calls += 1
            if len(step.durations_ms) < _SAMPLES:
                step.durations_ms.append(took)

    def _of(self, key: str) -> _Series:
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = _Series()
            if len(self._series) > _KEPT:
                self._series.popitem(last=False)
        self._series.move_to_end(key)
        return series

    def calls(self, key: str) -> list[float]:
        """Of each step, the oldest first. ``key`` is the id of a capability or of a generation."""
        return self._series[key].calls(self._now) if key in self._series else [0.0] * _STEPS

    def p95_ms(self, key: str) -> list[float | None]:
        return self._series[key].p95_ms(self._now) if key in self._series else [None] * _STEPS


def _step_of(at: str) -> int:
    return int(dt.datetime.fromisoformat(at).timestamp()) // STEP_S


def trend_lines(row: CapabilityRow, trends: Trends) -> list[Line]:
    """The calls and the p95 of the last minutes; of a canary and what serves beside it, each its own."""
    canary = canary_of(row)
    if canary is not None and row.generation is not None:
        sides: Mapping[str, str] = {canary.number: canary.generation, row.number or "": row.generation}
        return [part for name, key in sides.items() for part in _pair(key, trends, f"{name} ")]
    return _pair(row.id, trends, "")


def _pair(key: str, trends: Trends, name: str) -> list[Line]:
    calls, took = trends.calls(key), trends.p95_ms(key)
    if not any(calls) and not any(took):
        return []
    now = next((value for value in reversed(took) if value is not None), None)
    return [
        line((f"{name + 'calls':<9}", Ink.DIM), (spark(calls), Ink.INFO), (f" {_rate(max(calls))}", Ink.DIM)),
        line(
            (f"{name + 'p95':<9}", Ink.DIM),
            (spark(took), Ink.INFO),
            (f" {duration(now)}" if now is not None else "", Ink.DIM),
        ),
    ]


def _rate(most: float) -> str:
    return f"≤ {most / STEP_S:.3g}/s"
