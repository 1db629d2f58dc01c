"""Loading programs, and the threads that run them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from weakref import WeakSet

from evatui.kernel.lua.loaded import LoadedProgram
from evatui.kernel.lua.outcome import BadValue, LoadFailed, Raised, Returned, Verdict
from evatui.kernel.lua.program import Program
from evatui.kernel.lua.threads import Threads
from evatui.kernel.lua.watchdog import Watchdog
from evatui.kernel.lua.worker.workers import Workers
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.manifest import Isolation

__all__ = ["Engine", "LoadFailed", "LoadedProgram"]

_CLOSING_S = 5.0
COOLING_S = 60.0
"""How often cold states are looked for."""


class Engine:
    """One a runtime: global threads, a watchdog, and no program of its own.

    Once a minute it frees the states that have gone cold, as ``now`` tells the time. ``workers`` are the caller's
    to open and to close, after the engine; without them every program runs in this process.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic, *, workers: Workers | None = None) -> None:
        self._now = now
        self._workers = workers
        self._threads = Threads()
        self._watchdog = Watchdog()
        self._programs: WeakSet[LoadedProgram] = WeakSet()
        self._cool_later()

    @property
    def stuck(self) -> int:
        """Threads that did not come back from Lua after their call was killed."""
        return self._threads.stuck

    async def load(
        self,
        program: Program,
        *,
        timeout_s: float,
        isolation: Isolation = Isolation.IN_PROCESS,
        on_strike: Callable[[ErrorKind], None] | None = None,
    ) -> LoadedProgram:
        """Compiles the program, runs its top level and looks for its entry and health check.

        Raises `LoadFailed`. ``print`` at the top level goes nowhere: there is no call yet.
        ``isolation`` is ``IN_PROCESS`` or ``PROCESS``; which of them is the caller's decision.
        ``on_strike`` is called, on any thread and before the call is answered, for what speaks against the
        handler: ``Timeout`` where Lua itself was running, ``MemoryExceeded``, and ``Internal`` for a thread that
        did not come back from Lua. It must be quick. ``timeout_s`` is the time of the program, as `Trial` counts it.
        """
        if isolation is Isolation.AUTO:
            raise ValueError("where a program runs is to be decided before it is loaded")
        if isolation is Isolation.PROCESS:
            await self._ready(program)  # a first process is not what the program's time is for
        loaded = LoadedProgram(
            program,
            self._threads,
            self._watchdog,
            self._now,
            workers=self._workers,
            isolation=isolation,
            on_strike=on_strike,
        )
        self._programs.add(loaded)
        outcome = await loaded.load(timeout_s)
        if not isinstance(outcome, Returned):
            loaded.close()
            raise _load_failed(outcome, program)
        return loaded

    async def _ready(self, program: Program) -> None:
        problem = "there are no worker processes on this system"
        if self._workers is not None and self._workers.available:
            await asyncio.to_thread(self._workers.get_ready)
            problem = self._workers.problem
        if problem:
            raise LoadFailed(ErrorKind.UNAVAILABLE, problem, program.script.name)

    def cool(self) -> None:
        """Frees the states that nobody has used for ten minutes; the next call makes its own."""
        for loaded in tuple(self._programs):
            loaded.cool()

    def _cool_later(self) -> None:
        self._round = _Round(self)
        self._watchdog.watch(self._round)

    def cool_again(self) -> None:
        """One round of cooling, and an alarm for the next."""
        self._threads.submit(self.cool)  # a full state takes some milliseconds to free
        self._cool_later()

    def close(self) -> None:
        """Ends all calls and threads, and frees all states."""
        self._watchdog.forget(self._round)
        for loaded in tuple(self._programs):
            loaded.kill(ErrorKind.CANCELLED)
            loaded.close()
        self._threads.close(_CLOSING_S)
        self._watchdog.close()


class _Round:
    """The alarm of the next round of cooling."""

    def __init__(self, engine: Engine) -> None:
        self.deadline = time.monotonic() + COOLING_S
        self.fire = engine.cool_again


def _load_failed(outcome: Raised | Verdict | BadValue, program: Program) -> LoadFailed:
    if isinstance(outcome, Raised):
        return LoadFailed(ErrorKind.HANDLER_ERROR, outcome.message, outcome.file, outcome.line)
    if isinstance(outcome, Verdict) and outcome.missing:
        return LoadFailed(outcome.kind, outcome.message, missing=outcome.missing)
    kind = outcome.kind if isinstance(outcome, Verdict) else ErrorKind.INTERNAL
    return LoadFailed(kind, outcome.message, program.script.name)
