"""How a call is ended from outside of Lua: by a kill, by its deadline, or by giving it up."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from enum import Enum, auto
from functools import partial
from typing import Any, Final

from evatui.kernel.lua.outcome import Outcome, Verdict
from evatui.kernel.lua.owner import Owner
from evatui.kernel.lua.port import StatePort
from evatui.kernel.lua.threads import Then
from evatui.kernel.model.errors import ErrorKind

__all__ = ["GRACE_S", "Endable", "Overdue", "Phase"]

GRACE_S: Final = 2.0
"""How long a call may take to end once it was killed, before it is given up and its thread counted as stuck."""

_ENDED: Final = {
    ErrorKind.CANCELLED: "the call was cancelled",
    ErrorKind.UNAVAILABLE: "the generation no longer takes calls",
}


class Overdue(Exception):
    """The handler has ended, but what is made of its outcome does not."""


class Phase(Enum):
    QUEUED = auto()
    """Or on a thread of Lua, but neither in Lua nor at the host."""
    RUNNING = auto()
    ASKING = auto()
    """On a thread of Lua, which the host may block."""
    WAITING = auto()
    """For what the host does on the loop."""


_QUEUED, _RUNNING, _ASKING, _WAITING = Phase  # names are found sooner than members


class _Grace:
    """Fires when a call that was killed has had its time to end."""

    __slots__ = ("_call", "deadline")

    def __init__(self, call: Endable) -> None:
        self._call = call
        self.deadline = time.monotonic() + GRACE_S

    def fire(self) -> None:
        self._call.abandon()


class Endable:
    """The part of a call that others than its own steps may touch. It is the alarm of its own deadline.

    A step says where it is in ``_phase`` and only then looks whether the call has ended; whoever ends the call says
    so in ``_ended`` and only then looks where the step is. So one of them sees the other, without a lock. The lock
    is for the three that may end it: a kill, the last step, and giving it up.
    """

    _state: StatePort | None = None
    _phase = _QUEUED
    _ended: Verdict | None = None
    _done = False
    _finished = False
    """What is made of the outcome was made."""
    _overdue = False
    _abandoned = False
    _lost = False
    _fault: ErrorKind | None = None
    _grace: _Grace | None = None
    _task: asyncio.Task[Any] | None = None
    """What the host does on the loop."""

    def __init__(self, owner: Owner, deadline: float) -> None:
        self.deadline = deadline
        self._owner = owner
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._started = time.monotonic()
        owner.watchdog.watch(self)

    def kill(self, kind: ErrorKind, message: str = "") -> bool:
        """Whether this is what ended the call: it then ends in a `Verdict` of ``kind``."""
        with self._lock:
            if self._done or self._ended is not None:
                if self._done and not self._finished and self._grace is None:
                    self._begin_grace()
                return False
            self._ended = Verdict(kind, message or _ENDED.get(kind, "the call was ended from outside"))
            self._begin_grace()
            phase = self._phase
            if phase is _RUNNING and self._state is not None:
                self._fault = kind if kind is ErrorKind.TIMEOUT else None
                self._state.kill()
            elif phase is _WAITING:
                self._on_loop(self._cancel_task)
        return True

    def _begin_grace(self) -> None:
        self._owner.watchdog.forget(self)
        self._grace = _Grace(self)
        self._owner.watchdog.watch(self._grace)

    def fire(self) -> None:
        """The time is up."""
        allowed = max(0, round((self.deadline - self._started) * 1000))
        self.kill(ErrorKind.TIMEOUT, f"stopped at its deadline, after {allowed} ms")

    def abandon(self) -> None:
        """It did not end in time after it was killed: it is answered all the same, and its thread is replaced."""
        with self._lock:
            if self._done and not self._finished and not self._overdue:
                self._overdue = True
                self._owner.lost()
                self._on_loop(self._settle, None, Overdue())
            if self._done or self._abandoned or self._ended is None:
                return
            self._abandoned = True
            phase, verdict = self._phase, self._ended
            if phase is _RUNNING:
                self._fault = ErrorKind.INTERNAL
            self._lost = phase in (_RUNNING, _ASKING)
            if self._lost:
                self._owner.lost()
        self._owner.submit(partial(self._deliver, verdict, None))

    def _on_loop(self, callback: Callable[..., None], *arguments: Any) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback, *arguments)

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _settle(self, result: Any, error: BaseException | None) -> None:
        """On the loop: who waits for the call gets one of both, if nothing came before."""
        raise NotImplementedError

    def _deliver(self, outcome: Outcome, state: StatePort | None) -> Then:
        """On a thread of Lua: the outcome is told, and the state kept or closed."""
        raise NotImplementedError
