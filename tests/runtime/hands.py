"""Time in the hands of a test."""

from __future__ import annotations

import datetime as dt
import time

__all__ = ["Hands"]


class Hands:
    """A clock whose hands a test turns: the wall anywhere, the seconds only forward."""

    def __init__(self) -> None:
        self.wall = dt.timedelta()
        self.ahead = 0.0

    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC) + self.wall

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead
