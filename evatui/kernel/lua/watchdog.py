"""Deadlines, kept by a thread of their own: an event loop that is busy would be late."""

from __future__ import annotations

import logging
import math
import threading
import time
from typing import Protocol

__all__ = ["Alarm", "Watchdog"]

_log = logging.getLogger(__name__)


class Alarm(Protocol):
    """``deadline`` is on the monotonic clock, in seconds, and does not change."""

    deadline: float

    def fire(self) -> None:
        """Must be quick: it delays the others. May still come when the alarm was forgotten in the same moment."""
        ...


class Watchdog:
    """``watch`` and ``forget`` are for any thread.

    Nearly every alarm is forgotten long before its time. So both take no lock: alarms are in a set, which is
    looked through when the earliest that was seen there is due.
    """

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._live: set[Alarm] = set()
        self._looks_at = math.inf
        self._open = True
        self._thread = threading.Thread(target=self._patrol, name="lua-watchdog", daemon=True)
        self._thread.start()

    def watch(self, alarm: Alarm) -> None:
        """Lets it fire once its time has come."""
        self._live.add(alarm)
        if alarm.deadline < self._looks_at:
            with self._wake:
                self._wake.notify()

    def forget(self, alarm: Alarm) -> None:
        """Also one that has fired already."""
        self._live.discard(alarm)

    def close(self) -> None:
        """Nothing fires any more; returns when the thread is gone."""
        with self._wake:
            self._open = False
            self._live.clear()
            self._wake.notify()
        self._thread.join()

    def _patrol(self) -> None:
        while self._open:
            for alarm in self._due():
                self._live.discard(alarm)
                try:
                    alarm.fire()
                except Exception:  # the other alarms still count
                    _log.exception("an alarm failed")
                del alarm  # or it would live until the next one fires

    def _due(self) -> list[Alarm]:
        """Those whose time has come, once there are any."""
        with self._wake:
            while self._open:
                self._looks_at = math.inf  # from before the look: whoever comes during it wakes us again
                due, earliest = self._look(time.monotonic())
                if due:
                    return due
                self._looks_at = earliest
                self._wake.wait(min(max(0.0, earliest - time.monotonic()), threading.TIMEOUT_MAX))
        return []

    def _look(self, now: float) -> tuple[list[Alarm], float]:
        """Those that are due, and when the next one is. Holds on to no other: it may have to wait for long."""
        alarms = self._live.copy()  # at once, while to iterate may meet a change: a collection can run anything
        due = [alarm for alarm in alarms if alarm.deadline <= now]
        return due, min((alarm.deadline for alarm in alarms), default=math.inf)
