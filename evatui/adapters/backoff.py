"""How long to wait before something that failed is tried again: longer each time, and never all at once."""

from __future__ import annotations

import random
import time
from typing import Final

__all__ = ["Backoff"]

_FIRST_S: Final = 0.5
_LONGEST_S: Final = 60.0


class Backoff:
    """From half a second to a minute, doubled by each failure in a row; of each a half is left to chance."""

    def __init__(self) -> None:
        self._failures = 0
        self._until = 0.0

    @property
    def left_s(self) -> float:
        return max(0.0, self._until - time.monotonic()) if self._failures else 0.0

    def failed(self) -> float:
        """Returns how long to wait, in seconds."""
        longest: float = min(_LONGEST_S, _FIRST_S * 2**self._failures)
        self._failures = min(self._failures + 1, 16)
        wait = longest * random.uniform(0.5, 1.0)
        self._until = time.monotonic() + wait
        return wait

    def reset(self) -> None:
        self._failures = 0
