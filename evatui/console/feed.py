"""The hand-off: the kernel says that something changed, the console pulls the newest snapshot when it may paint."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable

from evatui.control.operator import Operator
from evatui.control.snapshot import ConsoleSnapshot, Cursor

__all__ = ["Feed"]

_QUIET_S = 0.5
"""After so long without a painting a change is shown at once, else when this time is over."""
_RETRY_S = 1.0
_STALLED_S = 2.0


class Feed:
    """Pulls snapshots and gives them to ``show``, at most twice a second; `pull_now` waits for nothing.

    ``trouble(lost, stalled_s)`` is called when pulling fails, hangs, or is well again.
    Everything but the first hop of a change runs on the loop that made the feed; neither callback may raise.
    """

    def __init__(
        self,
        operator: Operator,
        show: Callable[[ConsoleSnapshot], object],
        trouble: Callable[[bool, int], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._operator = operator
        self._show = show
        self._trouble = trouble
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._posted = threading.Lock()
        self._cursor = Cursor()
        self._painted = -_QUIET_S
        self._timer: asyncio.TimerHandle | None = None
        self._pulling: asyncio.Task[None] | None = None
        self._again = False
        self._troubled = False
        self._closed = False

    def start(self) -> None:
        self._operator.on_change(self._changed)
        self.pull_now()

    def close(self) -> None:
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._pulling is not None:
            self._pulling.cancel()

    def pull_now(self) -> None:
        """For the answer to a key, which is never delayed."""
        if self._closed:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._pulling is not None:
            self._again = True
            return
        self._pulling = self._loop.create_task(self._pull())
        self._pulling.add_done_callback(self._pulled)

    def _changed(self) -> None:
        """From any thread. The lock is the dirty flag: taken, until the loop has seen it."""
        if not self._posted.acquire(blocking=False):
            return
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it whoever wanted to know
            self._loop.call_soon_threadsafe(self._seen)

    def _seen(self) -> None:
        self._posted.release()
        self._plan(self._painted + _QUIET_S - self._clock())

    def _plan(self, delay: float) -> None:
        if self._closed or self._timer is not None:
            return
        if self._pulling is not None:
            self._again = True
        elif delay <= 0:
            self.pull_now()
        else:
            self._timer = self._loop.call_later(delay, self.pull_now)

    async def _pull(self) -> None:
        asking = asyncio.ensure_future(self._operator.snapshot(self._cursor))
        try:
            snapshot = await self._patiently(asking)
        except Exception:  # whatever went wrong over there: without an answer the runtime is lost to this console
            self._tell(lost=True, stalled_s=0)
            self._loop.call_later(_RETRY_S, self.pull_now)
            return
        finally:
            asking.cancel()
        if self._troubled:
            self._tell(lost=False, stalled_s=0)
        self._cursor = snapshot.cursor
        self._painted = self._clock()
        self._show(snapshot)

    async def _patiently(self, asking: asyncio.Future[ConsoleSnapshot]) -> ConsoleSnapshot:
        waited, patience = 0.0, _STALLED_S
        while True:
            done, _ = await asyncio.wait({asking}, timeout=patience)
            if done:
                return asking.result()
            waited += patience
            patience = 1.0
            self._tell(lost=False, stalled_s=round(waited))

    def _tell(self, *, lost: bool, stalled_s: int) -> None:
        self._troubled = lost or stalled_s > 0
        self._trouble(lost, stalled_s)

    def _pulled(self, task: asyncio.Task[None]) -> None:
        self._pulling = None
        if self._again:
            self._again = False
            self._plan(self._painted + _QUIET_S - self._clock())
