"""What the load has seen so far, counted answer by answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Swap", "Tally"]

_RATE_OVER_S = 2.0
_UNSIGNED = "one"


@dataclass(frozen=True, slots=True)
class Swap:
    """Ids of generations, and the milliseconds from the order to the first answer of the new one."""

    old: str
    new: str
    ms: float | None


@dataclass(slots=True)
class Tally:
    """``lost`` got no answer from a handler, ``errors`` an error from one; ``mixed`` are answers that were not written
    by the version that the runtime says has given them."""

    calls: int = 0
    lost: int = 0
    errors: int = 0
    mixed: int = 0
    swap: Swap | None = None
    _serving: str = ""
    _authors: dict[str, str] = field(default_factory=dict)
    _ordered_at: float | None = None
    _recent: deque[float] = field(default_factory=deque)

    def ordered(self, at: float | None) -> None:
        """A new version was saved or approved at ``at`` (monotonic); None where nobody looked at a watch."""
        self._ordered_at = at

    def answered(self, answer: Mapping[str, Any], now: float, *, tester: bool = False) -> None:
        """``answer`` is what ``capability.call`` gave; that to a tester may come from a version on trial."""
        response, generation = answer["response"], answer["generation"] or ""
        self.calls += 1
        self._recent.append(now)
        error = response.get("error")
        if error is not None and error.get("details", {}).get("origin") != "handler":
            self.lost += 1
            return
        if error is not None:
            self.errors += 1
        else:
            author = (response.get("meta") or {}).get("by", _UNSIGNED)
            self.mixed += self._authors.setdefault(generation, author) != author
        if generation != self._serving and not tester:
            self._swapped(generation, now)

    def unanswered(self, now: float) -> None:
        self.calls += 1
        self.lost += 1
        self._recent.append(now)

    def author(self, generation: str) -> str:
        """Who signs what it answers; empty before its first answer."""
        return self._authors.get(generation, "")

    def rate(self, now: float) -> float:
        """Calls a second, of late."""
        while self._recent and self._recent[0] < now - _RATE_OVER_S:
            self._recent.popleft()
        return len(self._recent) / _RATE_OVER_S

    def _swapped(self, generation: str, now: float) -> None:
        if self._serving:
            took = (now - self._ordered_at) * 1000 if self._ordered_at is not None else None
            self.swap = Swap(self._serving, generation, took)
        self._serving = generation
