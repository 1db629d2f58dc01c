"""One canary from its start to its end: what was counted, what stands, what is due. No clock of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from evatui.kernel.model.manifest import AnalysisSpec, CanarySpec
from evatui.kernel.registry.rollout.cohort import told
from evatui.kernel.registry.rollout.judge import Limits, Verdict, judge
from evatui.kernel.registry.rollout.tally import Sample, TimedWindow, rounded

if TYPE_CHECKING:
    from evatui.kernel.registry.generation import Generation

__all__ = ["Decision", "Phase", "Rollout", "Side"]


class Phase(StrEnum):
    """``held``: the deadline passed without a verdict, and a person is to decide."""

    RUNNING = "running"
    PAUSED = "paused"
    HELD = "held"


class Decision(StrEnum):
    PROMOTE = "promote"
    ABORT = "abort"
    HOLD = "hold"


@dataclass(frozen=True, slots=True)
class Side:
    """What one of the two versions did within the window."""

    samples: int
    faults: int
    p95_ms: float | None

    def to_json(self) -> dict[str, Any]:
        rate = self.faults / self.samples if self.samples else None
        return {"samples": self.samples, "faults": self.faults, "rate": rate, "p95_ms": rounded(self.p95_ms)}


@dataclass(slots=True, eq=False)
class Rollout:
    """The canary ``generation``, with evidence of its own, and of what serves beside it since ``began``.

    Times are on the monotonic clock, in seconds. ``deadline`` stands still while it is paused, and ``left`` is what
    was left of it then.
    """

    generation: Generation
    spec: CanarySpec
    analysis: AnalysisSpec
    started_at: str
    began: float
    phase: Phase = Phase.RUNNING
    deadline: float = field(init=False)
    left: float = 0.0
    ending: bool = False
    """Its promotion is being written down; nothing else is decided meanwhile."""
    canary: TimedWindow = field(init=False)
    baseline: TimedWindow = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = self.began + self.analysis.deadline_s
        self.canary = TimedWindow(self.analysis.window_s)
        self.baseline = TimedWindow(self.analysis.window_s)

    def add(self, generation: Generation, sample: Sample, now: float) -> None:
        """A call of either side; one of a generation that is neither any more does not count."""
        (self.canary if generation is self.generation else self.baseline).add(sample, now)

    def verdict(self, now: float) -> Verdict:
        limits = Limits(self.analysis.min_samples, self.analysis.max_error_rate)
        return judge(self.canary.counts(now), self.baseline.counts(now), limits)

    def decide(self, now: float) -> Decision | None:
        """What is to be done by itself. A version that fails is taken back whatever a person ordered before."""
        if self.ending:
            return None
        verdict = self.verdict(now)
        if verdict is Verdict.FAIL:
            return Decision.ABORT
        if not self.waits:
            return None
        if verdict is Verdict.PASS:
            return Decision.PROMOTE
        if now < self.deadline:
            return None
        return Decision(self.analysis.on_insufficient_data.value)

    def why(self, now: float) -> str:
        """The verdict with its numbers, for people: ``fail: 3 of 3 calls failed, 0 of 40 beside it``."""
        canary, baseline = self.canary.counts(now), self.baseline.counts(now)
        late = "" if now < self.deadline else f", no verdict within {self.analysis.deadline_s} s"
        verdict = self.verdict(now)
        said = f"{verdict.value}: {canary.faults} of {canary.samples} calls failed"
        beside = f", {baseline.faults} of {baseline.samples} beside it"
        return said + beside + (late if verdict not in (Verdict.PASS, Verdict.FAIL) else "")

    @property
    def waits(self) -> bool:
        """Is its deadline running?"""
        return self.phase is Phase.RUNNING

    def hold(self) -> None:
        """From now on a person decides; only a failure is acted upon still."""
        self.phase = Phase.HELD

    def pause(self, now: float) -> None:
        """The deadline stands still, and nothing is promoted by itself. Only while it is running."""
        self.phase = Phase.PAUSED
        self.left = max(0.0, self.deadline - now)

    def resume(self, now: float) -> None:
        """What was paused goes on; what was held gets the whole of its time again."""
        self.deadline = now + (self.left if self.phase is Phase.PAUSED else self.analysis.deadline_s)
        self.phase = Phase.RUNNING

    def seconds_left(self, now: float) -> float | None:
        """Until the deadline; None where it is held."""
        if self.phase is Phase.HELD:
            return None
        return self.left if self.phase is Phase.PAUSED else max(0.0, self.deadline - now)

    def sides(self, now: float) -> tuple[Side, Side]:
        """The canary's numbers, and those of what serves beside it."""
        first, second = (
            Side(counts.samples, counts.faults, window.p95(now))
            for window in (self.canary, self.baseline)
            for counts in (window.counts(now),)
        )
        return first, second

    def to_json(self, now: float) -> dict[str, Any]:
        canary, baseline = self.sides(now)
        left = self.seconds_left(now)
        return {
            "generation": self.generation.name.id,
            "number": self.generation.name.short,
            "phase": self.phase.value,
            "verdict": self.verdict(now).value,
            "takes": told(self.spec),
            "percent": self.spec.percent,
            "started_at": self.started_at,
            "seconds_left": None if left is None else round(left, 3),
            "on_insufficient_data": self.analysis.on_insufficient_data.value,
            "canary": canary.to_json(),
            "baseline": baseline.to_json(),
        }
