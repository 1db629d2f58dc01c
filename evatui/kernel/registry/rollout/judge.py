"""The verdict on a canary: exact bounds on what was counted, beside what the old version did meanwhile. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from evatui.kernel.registry.rollout.bounds import certainly_above, certainly_below, upper_bound

__all__ = ["FAIL_CONFIDENCE", "PASS_CONFIDENCE", "Counts", "Limits", "Verdict", "exceeds", "judge"]

FAIL_CONFIDENCE: Final = 0.99
"""How sure it must be that a version is too bad."""
PASS_CONFIDENCE: Final = 0.95
"""How sure it must be that it is good enough, and what the old version's faults are allowed for."""


@dataclass(frozen=True, slots=True)
class Counts:
    """``samples`` calls, of them ``faults`` that speak against the version."""

    samples: int = 0
    faults: int = 0

    @property
    def rate(self) -> float:
        return self.faults / self.samples if self.samples else 0.0


@dataclass(frozen=True, slots=True)
class Limits:
    min_samples: int
    max_error_rate: float


class Verdict(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    INSUFFICIENT_DATA = "insufficient_data"


def judge(canary: Counts, baseline: Counts, limits: Limits) -> Verdict:
    """``baseline`` is counted over the same time; with fewer than ``min_samples`` it counts as absent.

    A version fails as soon as it is certainly worse than allowed, however few its calls are; it passes with enough
    of them only. Where the old version is over the limit itself, being as good as the old one is enough.
    """
    known = baseline if baseline.samples >= limits.min_samples else None
    if _fails(canary, known, limits):
        return Verdict.FAIL
    if canary.samples < limits.min_samples:
        return Verdict.INSUFFICIENT_DATA
    return Verdict.PASS if _passes(canary, known, limits) else Verdict.INCONCLUSIVE


def _fails(canary: Counts, baseline: Counts | None, limits: Limits) -> bool:
    if not _above(canary, limits.max_error_rate):
        return False
    return baseline is None or _above(canary, _upper(baseline))


def _passes(canary: Counts, baseline: Counts | None, limits: Limits) -> bool:
    if _below(canary, limits.max_error_rate):
        return True
    return baseline is not None and baseline.rate > limits.max_error_rate and _below(canary, _upper(baseline))


def _above(counts: Counts, rate: float) -> bool:
    return counts.rate > rate and certainly_above(rate, counts.faults, counts.samples, FAIL_CONFIDENCE)


def _below(counts: Counts, rate: float) -> bool:
    return counts.rate <= rate and certainly_below(rate, counts.faults, counts.samples, PASS_CONFIDENCE)


def _upper(counts: Counts) -> float:
    return upper_bound(counts.faults, counts.samples, PASS_CONFIDENCE)


def exceeds(counts: Counts, limits: Limits) -> bool:
    """Does a version that serves alone fail too often? By its plain rate, with enough calls."""
    return counts.samples >= limits.min_samples and counts.rate > limits.max_error_rate
