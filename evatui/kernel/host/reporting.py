"""The reports of one call on how far it has come: the newest is kept, and some of them are told."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from evatui.kernel.model.progress import Progress

__all__ = ["TOLD_EVERY_S", "Reporting"]

TOLD_EVERY_S: Final = 0.1


class Reporting:
    """``newest`` is the last report, told or not. ``now`` is a monotonic clock in seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.newest: Progress | None = None
        self._now = now
        self._told_at = -math.inf
        self._told_complete = False

    def take(self, progress: Progress) -> bool:
        """Is this report to be told: at most one each 100 ms is, and the one that completes whenever it comes.

        After that one, too, the next has to wait: a handler cannot tell at will by completing again and again.
        """
        self.newest = progress
        now = self._now()
        completes = progress.complete and not self._told_complete
        if now - self._told_at < TOLD_EVERY_S and not completes:
            return False
        self._told_at, self._told_complete = now, progress.complete
        return True
