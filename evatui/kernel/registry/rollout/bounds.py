"""Exact one-sided confidence bounds on a rate, from counts (Clopper-Pearson). Pure."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

__all__ = ["certainly_above", "certainly_below", "lower_bound", "upper_bound"]

_STEPS: Final = 200
"""Halvings at most, and terms of the fraction: both end long before."""
_TINY: Final = 1e-300
_EXACT: Final = 1e-15


@lru_cache(4096)
def lower_bound(faults: int, samples: int, confidence: float) -> float:
    """The rate that the true one is above with ``confidence``: 0.0 where nothing failed.

    Raises `ValueError` unless ``0 <= faults <= samples``.
    """
    _check(faults, samples)
    if faults == 0:
        return 0.0
    return _quantile(1 - confidence, faults, samples - faults + 1)


@lru_cache(4096)
def upper_bound(faults: int, samples: int, confidence: float) -> float:
    """The rate that the true one is below with ``confidence``: 1.0 where everything failed, or nothing was seen.

    Raises `ValueError` unless ``0 <= faults <= samples``.
    """
    _check(faults, samples)
    if faults == samples:
        return 1.0
    return _quantile(confidence, faults + 1, samples - faults)


def certainly_above(rate: float, faults: int, samples: int, confidence: float) -> bool:
    """``lower_bound(…) > rate``, at a fraction of its cost."""
    _check(faults, samples)
    return faults > 0 and _beta(rate, faults, samples - faults + 1) < 1 - confidence


def certainly_below(rate: float, faults: int, samples: int, confidence: float) -> bool:
    """``upper_bound(…) <= rate``, at a fraction of its cost."""
    _check(faults, samples)
    return rate >= 1 or (faults < samples and _beta(rate, faults + 1, samples - faults) >= confidence)


def _check(faults: int, samples: int) -> None:
    if not 0 <= faults <= samples:
        raise ValueError(f"{faults} faults of {samples} samples")


def _quantile(probability: float, a: int, b: int) -> float:
    """The point below which ``probability`` of the beta distribution with whole ``a`` and ``b`` lies."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _beta(middle, a, b) < probability else (low, middle)
    return (low + high) / 2


def _beta(x: float, a: int, b: int) -> float:
    """The regularised incomplete beta function: the chance of ``a`` faults or more in ``a + b - 1`` samples."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):  # where the fraction converges fast; else by symmetry
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: int, b: int) -> float:
    """Its continued fraction, by Lentz's method: forwards, with no term that could divide by nothing."""
    above, below = 1.0, _inverse(1 - (a + b) * x / (a + 1))
    value = below
    for m in range(1, _STEPS + int(10 * math.sqrt(a + b))):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            below = _inverse(1 + term * below)
            above = 1 + term / above
            above = above if abs(above) > _TINY else _TINY
            step = below * above
            value *= step
        if abs(step - 1) < _EXACT:
            break
    return value


def _inverse(value: float) -> float:
    return 1 / (value if abs(value) > _TINY else _TINY)
