"""A runtime in a thread of its own, with its own event loop: the screen and the kernel never wait for each other."""

from __future__ import annotations

import asyncio
import datetime as dt
import gc
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextvars import Context
from functools import partial
from typing import Any, TypeVar

from evatui.control.desk import Desk
from evatui.control.failing import CommandFailed
from evatui.control.restarting import restart
from evatui.control.server import Server
from evatui.control.snapshot import Indicator
from evatui.control.standings import SERVING, refused, restarting
from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import SYSTEM_CLOCK, Clock
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.records.events import EventBus
from evatui.kernel.records.metrics import Metrics
from evatui.kernel.workspace.home import OperatorHome
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.lock import WorkspaceHeld, WorkspaceLock
from evatui.runtime import Runtime

__all__ = ["LOCK_WAIT_S", "Kernel"]

LOCK_WAIT_S = 5.0
_SWITCH_INTERVAL = 0.0005
"""Seconds between thread switches: beside a busy Python thread the kernel's lag drops about tenfold."""

T = TypeVar("T")


class Kernel:
    """The thread, its loop, and what runs there. Built by `start`; every method may be called from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="eva-kernel", daemon=True)
        self._lock: WorkspaceLock | None = None
        self._runtime: Runtime | None = None
        self._server: Server | None = None
        self._stopping: Future[int] | None = None
        self._guard = threading.Lock()
        self._turn = asyncio.Lock()
        """Held by who opens or closes a runtime."""
        self._make: Callable[..., Awaitable[Runtime]] = Runtime.serve
        self._ending = False
        self._restarted = False
        self._listeners: list[Callable[[], None]] = []
        self.desk: Desk | None = None
        self.address: str | None = None
        """Where the runtime listens, None where it does not."""

    @classmethod
    def start(
        cls,
        layout: Layout,
        *,
        writes: bool,
        listens: bool,
        lock_wait_s: float,
        clock: Clock = SYSTEM_CLOCK,
        home: OperatorHome | None = None,
        audit_fd: int | None = None,
    ) -> Kernel:
        """Blocking; returns once the runtime serves.

        Raises what `Runtime.serve` raises, and `WorkspaceHeld` where another process holds the workspace.
        """
        sys.setswitchinterval(_SWITCH_INTERVAL)
        kernel = cls()
        if writes:
            kernel._lock = WorkspaceLock(layout.state_dir, wait_s=lock_wait_s, listens=listens)
        kernel._thread.start()
        try:
            kernel.submit(kernel._open(layout, writes, listens, clock, home, audit_fd)).result()
        except BaseException:
            kernel.stop()
            raise
        return kernel

    async def _open(
        self,
        layout: Layout,
        writes: bool,
        listens: bool,
        clock: Clock,
        home: OperatorHome | None,
        audit_fd: int | None,
    ) -> None:
        async with self._turn:
            self._make = partial(
                Runtime.serve, writes=writes, clock=clock, lock=self._lock, home=home, audit_fd=audit_fd
            )
            self._runtime = await self._make(layout)
            if listens and self._lock is not None:
                self._server = Server()
                await self._listen(self._server, self._lock, layout)
                self._listeners.append(self._server.changed)
            self.desk = Desk(self._runtime, self.address, self._restart)
            self._adopt(self._runtime)
            if self._server is not None:
                self.desk.consoles = self._server.consoles
                self._server.serve(self.desk)
        # What a start has made stays. With a thousand capabilities the collector of cycles takes a tenth of a second to
        # go over it, in which nobody is answered, and would do so again and again.
        gc.freeze()

    def _adopt(self, runtime: Runtime) -> None:
        runtime.on_lost = self._lost
        runtime.plugging.tasks.stays = self._server is not None
        runtime.on_change(self._changed)
        if self._server is not None and self._lock is not None:
            runtime.on_look = partial(self._look, runtime, self._server, self._lock)
        self._runtime = runtime

    async def _restart(self, actor: Actor) -> dict[str, Any]:
        """Whoever is attached stays: the socket, the lock and the numbers of events go on."""
        if self._turn.locked():
            raise refused(restarting(""))
        assert self._runtime is not None
        assert self.desk is not None  # start() has returned
        async with self._turn:
            try:
                runtime, receipt = await restart(self._runtime, self.desk, self._anew, actor)
                self._adopt(runtime)
                self.desk.serve(runtime)
                gc.unfreeze()
                self._restarted = True
                return receipt
            finally:
                self._changed()

    async def _anew(self, layout: Layout) -> Runtime:
        """Raises `CommandFailed` where the process ends, or the workspace is another one's by now."""
        old = self._runtime
        assert old is not None  # it has just been closed
        if self._ending:
            raise CommandFailed(ErrorKind.UNAVAILABLE, "the runtime ends")
        try:
            if self._lock is not None:
                await asyncio.to_thread(self._lock.look)
        except WorkspaceHeld as held:
            old.lost = str(held)
            self._lost()
            raise CommandFailed(ErrorKind.UNAVAILABLE, old.lost) from None
        # In a context of its own: what its tasks do later was not ordered by who ordered the restart.
        return await asyncio.create_task(self._opened(layout, old.bus), context=Context())

    async def _opened(self, layout: Layout, bus: EventBus) -> Runtime:
        return await self._make(layout, bus=bus)

    def _changed(self) -> None:
        for notify in self._listeners:
            notify()

    async def _listen(self, server: Server, lock: WorkspaceLock, layout: Layout) -> None:
        self.address, token = await server.listen(layout.state_dir)
        await asyncio.to_thread(lock.announce, self.address, token)

    async def _look(self, runtime: Runtime, server: Server, lock: WorkspaceLock) -> None:
        """Once a second, from its first second on: worker processes get ready, and a socket that went away with its
        folder is opened again. Whoever is served for a moment only pays for no process."""
        runtime.workers.open()
        if self._restarted:  # a second ago: whoever had to do with the runtime before has let go of it
            self._restarted = False
            gc.collect()
            gc.freeze()
        if not await asyncio.to_thread(server.reachable):
            await self._listen(server, lock, runtime.layout)

    def _lost(self) -> None:
        """Nobody needs to ask for it: a runtime whose workspace is another one's ends by itself."""
        threading.Thread(target=self.stop, name="eva-lost", daemon=True).start()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Runs ``work`` on the kernel's loop. After the end of the kernel the future holds a `RuntimeError`."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def on_change(self, notify: Callable[[], None]) -> None:
        """``notify`` is called, from any thread and often, when something happened; it must be cheap."""
        self._listeners.append(notify)

    @property
    def standing(self) -> Indicator:
        """Does the runtime serve, or is it built anew, or could it not be?"""
        return self.desk.standing if self.desk is not None else SERVING

    @property
    def layout(self) -> Layout:
        """Of the workspace of a kernel that has started."""
        assert self._runtime is not None
        return self._runtime.layout

    @property
    def since(self) -> dt.datetime | None:
        """When the runtime began; a restart makes a new one."""
        return self._runtime.since if self._runtime is not None else None

    @property
    def lost(self) -> str:
        """Why the runtime ended by itself, empty where it did not."""
        return self._runtime.lost if self._runtime else ""

    @property
    def metrics(self) -> Metrics:
        """Of a kernel that has started."""
        assert self._runtime is not None
        return self._runtime.metrics

    @property
    def in_flight(self) -> int:
        return self._runtime.dispatch.in_flight if self._runtime else 0

    @property
    def idle_s(self) -> float:
        """Seconds since the last call or command ended and the last operator left; 0 while any is there."""
        if self.desk is None or (self._server is not None and self._server.attended):
            return 0.0
        return self.desk.idle_s

    @property
    def shutdown_s(self) -> float:
        """The longest that `stop` may take to drain, in seconds."""
        return self._runtime.layout.runtime.shutdown_timeout_ms / 1000 if self._runtime else 0.0

    def cut(self) -> None:
        """Ends every call in flight, so that a running `stop` comes to its end."""
        runtime = self._runtime
        if runtime is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(runtime.cut)

    def stop(self) -> int:
        """Drains and closes everything; blocking, idempotent. Returns the number of calls cut."""
        with self._guard:  # to the very end: whoever returns from here finds it ended
            if self._stopping is None and self._thread.is_alive():
                self._stopping = self.submit(self._close())
            try:
                return self._stopping.result() if self._stopping is not None else 0
            finally:
                self._end()

    def _end(self) -> None:
        """The thread, then the lock: whoever takes the workspace next finds nobody in it."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            gc.unfreeze()
        if self._lock is not None:
            self._lock.close()

    async def _close(self) -> int:
        self._ending = True
        async with self._turn:
            if self._server is not None:
                await self._server.stop_accepting()
                if self._lock is not None:
                    self._lock.announce(None, listens=False)
            cut = await self._runtime.close() if self._runtime is not None else 0
            if self._server is not None:
                await self._server.close()
            return cut

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            _cancel_rest(self._loop)
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()


def _cancel_rest(loop: asyncio.AbstractEventLoop) -> None:
    """Commands still waiting end with a cancellation that their callers see as a lost runtime."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
