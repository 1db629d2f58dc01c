"""The states of one generation, and the calls in them."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any, Final, TypeVar

from evatui.kernel.lua.call import Call
from evatui.kernel.lua.outcome import HostPort, Outcome
from evatui.kernel.lua.owner import Killable
from evatui.kernel.lua.port import StatePort
from evatui.kernel.lua.program import Program
from evatui.kernel.lua.slots import Slots
from evatui.kernel.lua.state import State
from evatui.kernel.lua.threads import Task, Then, Threads
from evatui.kernel.lua.trial import Trial
from evatui.kernel.lua.watchdog import Watchdog
from evatui.kernel.lua.worker.workers import Workers
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.manifest import Isolation

__all__ = ["WARM_S", "LoadedProgram"]

WARM_S: Final = 600.0
"""How long a state that nobody uses is kept."""

T = TypeVar("T")
C = TypeVar("C", bound=Call[Any])

_log = logging.getLogger(__name__)


class LoadedProgram:
    """A program that is ready to be called: up to ``program.concurrency`` calls at once.

    Each call has a state to itself. States are made at first use and kept warm for ten minutes after each
    use; one that ended in a `Verdict` is thrown away. At most half of the threads work for one program.
    ``now`` tells the seconds of a clock that only goes forward.
    """

    def __init__(
        self,
        program: Program,
        threads: Threads,
        watchdog: Watchdog,
        now: Callable[[], float],
        *,
        workers: Workers | None,
        isolation: Isolation,
        on_strike: Callable[[ErrorKind], None] | None,
    ) -> None:
        self.program = program
        self.watchdog = watchdog
        self._workers = workers
        self._isolation = isolation
        self._on_strike = on_strike
        self._threads = threads
        self._share = max(1, threads.size // 2)
        self._slots = Slots(program.concurrency)
        self._lock = threading.Lock()
        self._now = now
        self._idle: list[tuple[StatePort, float]] = []  # with the time of the last use, the latest last
        self._calls: set[Killable] = set()
        self._working = 0
        self._backlog: deque[Task] = deque()
        self._closed = False
        self.load_s = 0.0

    @property
    def in_flight(self) -> int:
        return len(self._calls)

    @property
    def isolation(self) -> Isolation:
        """Where new states are made: ``IN_PROCESS`` or ``PROCESS``."""
        return self._isolation

    def warm(self, isolation: Isolation) -> int:
        """How many states wait there for their next call."""
        with self._lock:
            return sum(state.isolation is isolation for state, _ in self._idle)

    def move_to_process(self) -> None:
        """From now on new states are worker processes. Calls in flight end where they are. From any thread.

        Where there are no workers it stays in this process, as ``isolation`` then says.
        """
        if self._workers is None or not self._workers.available:
            return
        with self._lock:
            self._isolation = Isolation.PROCESS
            kept = [entry for entry in self._idle if entry[0].isolation is Isolation.PROCESS]
            dropped = [state for state, _ in self._idle if state.isolation is not Isolation.PROCESS]
            self._idle = kept
        _free(dropped)

    async def call(
        self,
        entry: str,
        request: Any,
        *,
        deadline: float,
        host: HostPort,
        host_calls: int,
        finish: Callable[[Outcome], T],
        size: int | None = None,
    ) -> T:
        """Runs ``entry(ctx, request)``; what ``finish`` makes of the outcome.

        ``deadline`` is on the monotonic clock, in seconds, and counts the time in host calls. ``finish`` runs
        on a thread of Lua, once, also when the call was killed; its exceptions are raised here.
        ``size``, the bytes of the request as JSON, spares counting them again where the caller has done so; some
        kilobytes that are bounded elsewhere do not matter.
        Cancelling ends the handler and its running host call, and waits until both have ended: ``finish`` has
        then seen a ``Cancelled`` verdict. Only a call that still waits for a slot has never begun.
        """
        has_slot = self._slots.take() or await self._slots.wait(deadline)
        try:  # without a slot the deadline is over: the call is made only to end as one
            return await self.enter(entry, (request,), deadline, host, host_calls, finish, size)
        finally:
            if has_slot:
                self._slots.give()

    async def load(self, allowed_s: float) -> Outcome:
        """Makes a first state ready; afterwards ``load_s`` is how much of ``allowed_s`` (see `Trial`) that took."""
        trial = self._added(Trial(self, None, allowed_s=allowed_s, host=None, host_calls=0))
        outcome = await trial.run()
        self.load_s = trial.spent_s
        return outcome

    async def health(self, *, allowed_s: float, host: HostPort, host_calls: int = 100) -> Outcome:
        """Runs the health check, ``health_check(ctx)``; the program must have one. Takes no slot.

        ``allowed_s`` is its time, as `Trial` counts it.
        """
        if self.program.health_check is None:
            raise ValueError("the program has no health check")
        entry = self.program.health_check
        return await self._added(Trial(self, entry, allowed_s=allowed_s, host=host, host_calls=host_calls)).run()

    async def migrate(
        self, entry: str, rows: Any, *, allowed_s: float, host: HostPort, host_calls: int
    ) -> tuple[Outcome, float]:
        """Runs ``entry(ctx, rows)``, one of the program's migrations; how much of ``allowed_s`` that took, too.

        Takes no slot.
        """
        trial = self._added(Trial(self, entry, (rows,), allowed_s=allowed_s, host=host, host_calls=host_calls))
        return await trial.run(), trial.spent_s

    def enter(
        self,
        entry: str,
        arguments: tuple[Any, ...],
        deadline: float,
        host: HostPort | None,
        host_calls: int,
        finish: Callable[[Outcome], T],
        size: int | None = None,
    ) -> Coroutine[Any, Any, T]:
        """The call begins when it is awaited."""
        call = Call(
            self, entry, arguments, size=size, deadline=deadline, host=host, host_calls=host_calls, finish=finish
        )
        return self._added(call).run()

    def _added(self, call: C) -> C:
        self._calls.add(call)
        if self._closed:
            call.kill(ErrorKind.UNAVAILABLE)
        return call

    def kill(self, reason: ErrorKind) -> int:
        """Ends every call in flight, each in ``Verdict(reason, …)``; how many that were. From any thread."""
        return sum(call.kill(reason) for call in tuple(self._calls))

    def close(self) -> None:
        """Frees the idle states; those of calls in flight go when their calls end. Idempotent.

        A full state takes some milliseconds to free.
        """
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        _free(state for state, _ in idle)

    def cool(self) -> None:
        """Frees the states that were idle for ten minutes."""
        with self._lock:
            cold = [state for state, used in self._idle if self._now() - used >= WARM_S]
            self._idle = self._idle[len(cold) :]
        _free(cold)

    # For its calls

    def borrow(self) -> StatePort | None:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                state = self._idle.pop()[0]
            if state.sound():
                return state
            state.close()

    def fresh(self) -> StatePort:
        if self._workers is not None and self._isolation is Isolation.PROCESS:
            return self._workers.fresh(self.program)
        return State(self.program.memory_bytes)

    def finished(self, call: Killable, state: StatePort | None) -> None:
        self._calls.discard(call)
        with self._lock:
            kept = state is not None and self._keep(state)
        if state is not None and not kept:
            try:
                state.close()
            except Exception:  # its thread has others to serve
                _log.exception("a state of Lua could not be closed")

    def _keep(self, state: StatePort) -> bool:
        wanted = state.isolation is self._isolation and len(self._idle) < self.program.concurrency
        if wanted and not self._closed:
            self._idle.append((state, self._now()))
            return True
        return False

    def strike(self, kind: ErrorKind) -> None:
        if self._on_strike is not None:
            try:
                self._on_strike(kind)
            except Exception:
                _log.exception("a strike could not be told")

    def submit(self, step: Task) -> None:
        with self._lock:
            if self._working >= self._share:
                self._backlog.append(step)
                return
            self._working += 1
        self._threads.submit(partial(self._work, [step]))

    def _work(self, steps: list[Task]) -> Then | None:
        """A step, and those that come meanwhile, on one thread: another would have to be woken for each of them.

        It is taken out of ``steps``, to which its thread holds on: or the first call would live as long as this takes.
        """
        step = steps.pop()
        while True:
            then = step()
            with self._lock:
                if not self._backlog:
                    self._working -= 1
                    return then
                step = self._backlog.popleft()
            if self._threads.wanted:
                self._threads.submit(partial(self._work, [step]))
                return then
            if then is not None:
                then()
            del then  # or it would keep its call alive until the next one ends

    def lost(self) -> None:
        self._threads.lost()

    def found(self) -> None:
        self._threads.found()


def _free(states: Iterable[StatePort]) -> None:
    for state in states:
        state.close()
