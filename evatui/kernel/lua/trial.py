"""The load, the health check and the migrations of a program: only what they use of the machine is counted.

Nobody waits for them as for a call.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final

from evatui.kernel.lua.call import Call
from evatui.kernel.lua.outcome import HostPort, Outcome, Verdict
from evatui.kernel.lua.owner import Owner
from evatui.kernel.lua.port import StatePort
from evatui.kernel.lua.threads import Then
from evatui.kernel.model.errors import ErrorKind

__all__ = ["AT_MOST_S", "TURN_S", "Trial"]

AT_MOST_S: Final = 5.0
"""How long one may last from its turn on, however little of that time it could run."""
TURN_S: Final = 60.0
"""How long it may wait for its turn: a start loads hundreds at once, on a few threads."""
_SOON_S: Final = 0.005


class Trial(Call[Outcome]):
    """Its time, ``allowed_s``, begins when a thread takes it up.

    As long as it has waited for no host call, it is the time for which that thread and the worker process ran: on a
    machine that is busy with other things a sound program loads late, and loads. Where no such clock is to be read it
    is the time that went by.
    """

    def __init__(
        self,
        owner: Owner,
        entry: str | None,
        arguments: tuple[Any, ...] = (),
        *,
        allowed_s: float,
        host: HostPort | None,
        host_calls: int,
    ) -> None:
        self._allowed = allowed_s
        self._turn: float | None = None
        self._clock: Callable[[], float] | None = None
        self._ran_before: float | None = None
        self.spent_s = 0.0
        """How much of its time it had used when it ended."""
        super().__init__(
            owner,
            entry,
            arguments,
            size=None,
            deadline=time.monotonic() + TURN_S + allowed_s,
            host=host,
            host_calls=host_calls,
            finish=lambda outcome: outcome,
        )

    def fire(self) -> None:
        if self._turn is None:
            self.kill(ErrorKind.TIMEOUT, f"it did not get its turn within {TURN_S:.0f} s")
            return
        now = time.monotonic()
        left = self._allowed - self._used(self._state)
        last = self._turn + max(AT_MOST_S, self._allowed)
        if left > 0 and now < last and not self._done:
            self.deadline = min(now + max(left, _SOON_S), last)
            self._owner.watchdog.watch(self)
            return
        self.kill(ErrorKind.TIMEOUT, f"stopped at its deadline, after {round(self._allowed * 1000)} ms")

    def _begun(self) -> Any:
        self._owner.watchdog.forget(self)
        self._turn = self._started = time.monotonic()
        self._clock = _clock_of_this_thread()
        self.deadline = self._turn + self._allowed
        self._owner.watchdog.watch(self)
        return super()._begun()

    def _run(self, enter: Callable[..., tuple[Any, ...]], *arguments: Any) -> Any:
        if self._ran_before is None and self._state is not None:
            self._ran_before = self._state.ran_s()
        return super()._run(enter, *arguments)

    def _leave_to_loop(self, answer: Any) -> Verdict | None:
        self._clock = None
        return super()._leave_to_loop(answer)

    def _deliver(self, outcome: Outcome, state: StatePort | None) -> Then:
        self.spent_s = self._used(state)
        return super()._deliver(outcome, state)

    def _used(self, state: StatePort | None) -> float:
        """Seconds, of those that count."""
        if self._turn is None:
            return 0.0
        here, there = self._clock, self._ran_there(state)
        if here is not None and there is not None:
            try:
                return here() + there
            except OSError:  # the thread is gone
                pass
        return time.monotonic() - self._turn

    def _ran_there(self, state: StatePort | None) -> float | None:
        """Seconds of the process that the state is in, where that is another one."""
        ran = state.ran_s() if state is not None else 0.0
        return ran - (self._ran_before or 0.0) if ran is not None else None


def _clock_of_this_thread() -> Callable[[], float] | None:
    """How long it ran since now, for any thread to ask; None where the platform cannot tell."""
    try:
        clock = time.pthread_getcpuclockid(threading.get_ident())
        begun = time.clock_gettime(clock)
    except (AttributeError, OSError):
        return None
    return lambda: time.clock_gettime(clock) - begun
