"""A hook that fails again and again is left alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from evatui.extensions.hooks.armed import Armed
from evatui.extensions.hooks.meaning import Meaning

__all__ = ["FAILURES", "Breaker"]

FAILURES: Final = 3
"""In a row, and a hook is disabled until another version of its plugin takes its place, or the runtime ends."""

Key = tuple[str, str, int]


class Breaker:
    def __init__(self) -> None:
        self._failures: dict[Key, int] = {}

    def failures(self, armed: Armed) -> int:
        """In a row, so far."""
        return self._failures.get(armed.key, 0)

    def disabled(self, armed: Armed) -> bool:
        return self.failures(armed) >= FAILURES

    def ended(self, armed: Armed, meaning: Meaning) -> bool:
        """A run ended so; True where that has disabled the hook."""
        if meaning is not Meaning.FAILED:
            self._failures.pop(armed.key, None)
            return False
        self._failures[armed.key] = self.failures(armed) + 1
        return self._failures[armed.key] == FAILURES

    def keep(self, armed: Iterable[Armed]) -> None:
        """Forgets all others."""
        keys = {one.key for one in armed}
        self._failures = {key: count for key, count in self._failures.items() if key in keys}
