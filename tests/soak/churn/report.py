"""What came of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import psutil

__all__ = ["Report"]


@dataclass
class Report:
    """``resident`` are bytes: at the start of the run, and after each quarter of its reloads.

    ``internal`` says why calls ended in that kind of error, expected or not.
    """

    wanted: int
    reloads: int = 0
    calls: int = 0
    seconds: float = 0.0
    did: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    cut: Counter[str] = field(default_factory=Counter)
    internal: Counter[str] = field(default_factory=Counter)
    resident: list[int] = field(default_factory=list)
    freed: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems

    @property
    def growth(self) -> int:
        """Of the resident memory over the second half, in bytes: what is kept at most has been filled by then."""
        return self.resident[-1] - self.resident[2]

    def reloaded(self) -> None:
        self.reloads += 1
        if self.reloads % max(1, self.wanted // 4) == 0 and len(self.resident) < 5:
            self.weigh()

    def weigh(self) -> None:
        self.resident.append(psutil.Process().memory_info().rss)

    def lines(self) -> list[str]:
        return [
            f"reloads {self.reloads} in {self.seconds:.0f} s: {_counted(self.did)}",
            f"calls {self.calls}: {_counted(self.ended)}; cut {_counted(self.cut)}",
            *([f"ended as Internal: {_counted(self.internal)}"] if self.internal else []),
            f"generations freed {self.freed}; resident MB {', '.join(f'{one / 1e6:.1f}' for one in self.resident)}",
            *(f"PROBLEM {problem}" for problem in self.problems[:30]),
        ]


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{what} {number}" for what, number in counter.most_common()) or "nothing"
