"""Interleaved arms: machines drift by a factor of two, so only what is measured side by side compares.

Every round runs each arm once, in turn with the order reversed; a ratio is taken within a round.
"""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

__all__ = ["Arm", "Comparison", "Spread", "interleave"]


@dataclass(frozen=True)
class Arm:
    """``run`` measures once and returns seconds."""

    name: str
    run: Callable[[], Awaitable[float]]


@dataclass(frozen=True)
class Spread:
    """A median between its quartiles."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        if len(values) == 1:
            return cls(values[0], values[0], values[0])
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(low, median, high)

    def shown(self, scale: float, digits: int) -> str:
        low, median, high = (f"{value * scale:.{digits}f}" for value in (self.low, self.median, self.high))
        return f"{median} [{low}–{high}]"


@dataclass(frozen=True)
class Comparison:
    """What an arm took, and its ratio to the first arm, round by round."""

    name: str
    seconds: Spread
    ratio: Spread


async def interleave(arms: Sequence[Arm], rounds: int) -> list[Comparison]:
    """Runs every arm ``rounds`` times after one round that does not count. The first arm is the base."""
    samples: dict[str, list[float]] = {arm.name: [] for arm in arms}
    for arm in arms:
        await arm.run()
    for number in range(rounds):
        for arm in arms if number % 2 == 0 else reversed(arms):
            samples[arm.name].append(await arm.run())
    base = samples[arms[0].name]
    return [
        Comparison(name, Spread.of(taken), Spread.of([one / other for one, other in zip(taken, base, strict=True)]))
        for name, taken in samples.items()
    ]
