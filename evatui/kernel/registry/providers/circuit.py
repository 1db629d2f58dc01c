"""When a provider is left alone for a while, and how fast it may be asked."""

from __future__ import annotations

from evatui.kernel.model.adapter import Breaker
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import ErrorKind

__all__ = ["Circuit", "Rate"]

_FAULTS = frozenset(
    {
        ErrorKind.UNAVAILABLE,
        ErrorKind.TIMEOUT,
        ErrorKind.HOST_ERROR,
        ErrorKind.INVALID_RESPONSE,
        ErrorKind.INVALID_OUTPUT,
        ErrorKind.OUTPUT_TOO_LARGE,
        ErrorKind.INTERNAL,
    }
)
"""Ends of a call that are the provider's fault. Its own refusals, and what was wrong with the call, are not."""


class Circuit:
    """Open after so many faults in a row. Then one call at a time tries whether it is well again, once the time to
    recover is over."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._faults = 0
        self._opened: float | None = None
        self._trying = False

    @property
    def is_open(self) -> bool:
        return self._opened is not None

    def left_s(self, breaker: Breaker) -> float:
        """How long it is left alone yet."""
        if self._opened is None:
            return 0.0
        return max(0.0, self._opened + breaker.recovery_ms / 1000 - self._clock.monotonic())

    def enter(self, breaker: Breaker) -> bool:
        """May a call go ahead?"""
        if self._opened is None:
            return True
        if self._trying or self.left_s(breaker) > 0:
            return False
        self._trying = True
        return True

    def leave(self, error: ErrorKind | None, breaker: Breaker) -> bool | None:
        """How a call ended that went ahead: True where that opened it, False where it closed it, else None.

        ``HandlerError`` is an answer: the provider works, and says no.
        """
        self._trying = False
        if error in (None, ErrorKind.HANDLER_ERROR):
            was, self._opened, self._faults = self._opened, None, 0
            return False if was is not None else None
        if error not in _FAULTS:
            return None
        self._faults += 1
        if self._opened is None and (breaker.failures is None or self._faults < breaker.failures):
            return None
        was, self._opened = self._opened, self._clock.monotonic()
        return True if was is None else None


class Rate:
    """At most so many calls a second, and ``burst`` times as many at once where none came before."""

    def __init__(self, clock: Clock, burst: int = 1) -> None:
        self._clock = clock
        self._burst = burst
        self._left: float | None = None
        self._at = 0.0

    def take(self, per_s: int | None) -> bool:
        if per_s is None:
            return True
        now = self._clock.monotonic()
        most = float(per_s * self._burst)
        left = most if self._left is None else min(most, self._left + (now - self._at) * per_s)
        self._at, self._left = now, left
        if left < 1:
            return False
        self._left = left - 1
        return True
