"""Deadlines, kept by a thread of their own: an event loop that is busy would be late."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

__all__ = ["Alarm", "Watchdog"]


class Alarm:
    """Fires once, unless cancelled before."""

    __slots__ = ("_fire", "_live", "deadline")

    def __init__(self, deadline: float, fire: Callable[[], None], live: set[Alarm]) -> None:
        self.deadline = deadline
        self._fire: Callable[[], None] | None = fire
        self._live = live

    def cancel(self) -> None:
        """Also lets go of what it would have called."""
        self._live.discard(self)
        self._fire = None

    def fire(self) -> None:
        fire, self._fire = self._fire, None
        if fire is not None:
            fire()


class Watchdog:
    """``watch`` and `Alarm.cancel` are for any thread. What fires must be quick: it delays the others.

    Nearly every alarm is cancelled long before its time. So both take no lock: alarms are in a set, which is
    looked through when the earliest that was seen there is due.
    """

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._live: set[Alarm] = set()
        self._looks_at = math.inf
        self._open = True
        self._thread = threading.Thread(target=self._patrol, name="lua-watchdog", daemon=True)
        self._thread.start()

    def watch(self, deadline: float, fire: Callable[[], None]) -> Alarm:
        """Calls ``fire`` when the monotonic clock reaches ``deadline``, in seconds."""
        alarm = Alarm(deadline, fire, self._live)
        self._live.add(alarm)
        if deadline < self._looks_at:
            with self._wake:
                self._wake.notify()
        return alarm

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
                alarm.fire()

    def _due(self) -> list[Alarm]:
        """Those whose time has come, once there are any."""
        with self._wake:
            while self._open:
                self._looks_at = math.inf  # from before the look: whoever comes during it wakes us again
                alarms = tuple(self._live)
                now = time.monotonic()
                if due := [alarm for alarm in alarms if alarm.deadline <= now]:
                    return due
                self._looks_at = min((alarm.deadline for alarm in alarms), default=math.inf)
                self._wake.wait(min(self._looks_at - now, threading.TIMEOUT_MAX))
        return []
