"""One entry into a program, from its start to its outcome, over as many steps as it makes host calls."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from enum import Enum, auto
from types import CoroutineType
from typing import Any, Final, Generic, TypeVar

import ormsgpack

from evatui.kernel.lua.judge import Missing, Question, Refused, judge
from evatui.kernel.lua.outcome import HostPort, Outcome, Raised, Returned, Verdict
from evatui.kernel.lua.owner import Owner
from evatui.kernel.lua.port import StatePort
from evatui.kernel.lua.state import Operation
from evatui.kernel.lua.values import Unpackable, pack, refusal
from evatui.kernel.model.errors import CallFailed, ErrorKind

__all__ = ["GRACE_S", "Call"]

T = TypeVar("T")

_ENTER, _GO_ON = int(Operation.ENTER), int(Operation.GO_ON)

_log = logging.getLogger(__name__)

GRACE_S: Final = 2.0
"""How long a call may take to end once it was killed, before it is given up and its thread counted as stuck."""

_ENDED: Final = {
    ErrorKind.CANCELLED: "the call was cancelled",
    ErrorKind.UNAVAILABLE: "the generation no longer takes calls",
}


_Answer = Outcome | Question | Missing | Refused


class _Phase(Enum):
    QUEUED = auto()
    RUNNING = auto()
    ASKING = auto()
    """On the thread of Lua, which the host may block."""
    WAITING = auto()
    """For what the host does on the loop."""
    DONE = auto()
    ABANDONED = auto()


_QUEUED, _RUNNING, _ASKING, _WAITING, _DONE, _ABANDONED = _Phase  # names are found sooner than members


class Call(Generic[T]):
    """``entry`` None only loads a state. ``arguments`` is None or the request.

    Steps run on the threads of Lua, one at a time, and so do the host calls that answer at once. One that has to
    be awaited ends the step, is run by the loop, and its answer begins the next step. ``finish`` is called exactly
    once, on a thread of Lua.
    """

    def __init__(
        self,
        owner: Owner,
        entry: str | None,
        arguments: tuple[Any, ...],
        *,
        size: int | None,
        deadline: float,
        host: HostPort | None,
        host_calls: int,
        finish: Callable[[Outcome], T],
    ) -> None:
        self._owner = owner
        self._entry = entry
        self._arguments = arguments
        self._size = size
        self._deadline = deadline
        self._host = host
        self._host_calls = host_calls
        self._finish = finish
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[T] = self._loop.create_future()
        self._delivered = False
        self._task: asyncio.Task[Any] | None = None
        self._reply: tuple[bool, Any] | None = None
        self._state: StatePort | None = None
        self._lock = threading.Lock()
        self._phase = _QUEUED
        self._ended: Verdict | None = None
        self._unharmed = False
        self._fault: ErrorKind | None = None
        self._started = time.monotonic()
        self._alarm = owner.watchdog.watch(deadline, self._time_is_up)

    async def run(self) -> T:
        """What ``finish`` made of the outcome. Cancelled, it first waits until the handler has ended."""
        if self._started >= self._deadline:
            self._time_is_up()
        self._owner.submit(self._step)
        try:
            return await self._future
        except asyncio.CancelledError:
            if not self._delivered:
                self._future = self._loop.create_future()
                self.kill(ErrorKind.CANCELLED)
                await self._ending()
            elif not self._future.cancelled():
                self._future.exception()  # it came in the same turn, and nobody waits for it any more
            raise

    async def _ending(self) -> None:
        while not self._future.done():
            try:
                await asyncio.wait((self._future,))
            except asyncio.CancelledError:
                continue
        self._future.exception()

    def kill(self, kind: ErrorKind, message: str = "") -> bool:
        """From any thread. Whether this is what ended the call: it then ends in a `Verdict` of ``kind``."""
        with self._lock:
            if self._phase in (_DONE, _ABANDONED) or self._ended is not None:
                return False
            self._ended = Verdict(kind, message or _ENDED.get(kind, "the call was ended from outside"))
            self._alarm.cancel()
            self._alarm = self._owner.watchdog.watch(time.monotonic() + GRACE_S, self._abandon)
            if self._phase is _RUNNING and self._state is not None:
                self._fault = kind if kind is ErrorKind.TIMEOUT else None
                self._state.kill()
            elif self._phase is _WAITING:
                self._on_loop(self._cancel_task)
        return True

    def _time_is_up(self) -> None:
        allowed = max(0, round((self._deadline - self._started) * 1000))
        self.kill(ErrorKind.TIMEOUT, f"stopped at its deadline, after {allowed} ms")

    def _abandon(self) -> None:
        with self._lock:
            if self._phase is _DONE:
                return
            if self._phase is _RUNNING:
                self._fault = ErrorKind.INTERNAL
            holds_thread = self._phase in (_RUNNING, _ASKING)
            self._phase = _ABANDONED
        if holds_thread:
            self._owner.lost()
        verdict = self._ended
        if verdict is not None:
            self._owner.submit(lambda: self._deliver(verdict, None))

    # On a thread of Lua

    def _step(self) -> None:
        try:
            outcome = self._advance()
        except Exception:  # a defect of the sandbox itself; the call must still end
            _log.exception("a step of a Lua call failed")
            outcome = Verdict(ErrorKind.INTERNAL, "the sandbox failed")
        if outcome is None:
            self._owner.stepped()
            return
        with self._lock:
            abandoned = self._phase is _ABANDONED
            if not abandoned:
                self._phase = _DONE
            state, self._state = self._state, None
            outcome = self._ended or outcome
        if abandoned:
            if state is not None:
                state.close()
            self._owner.stepped()
            return
        self._alarm.cancel()
        self._deliver(outcome, state)

    def _advance(self) -> Outcome | None:
        """The outcome, or None where a host call has to be awaited."""
        answer: _Answer | None
        if self._state is None:
            answer = self._begun()
        else:
            reply, self._reply = self._reply, None
            answer = self._ended or self._go_on(self._state, reply)
        while isinstance(answer, Question):
            answer = self._ask(answer)
        if isinstance(answer, Missing):
            return Raised(f"the handler has removed its function '{answer.name}'")
        return Verdict(ErrorKind.INTERNAL, "the sandbox failed") if isinstance(answer, Refused) else answer

    def _begun(self) -> _Answer:
        try:
            data = self._packed()
        except Unpackable as problem:
            return Verdict(ErrorKind.INVALID_INPUT, f"the request cannot enter Lua: {problem}")
        self._state = state = self._owner.borrow()
        if state is None:
            self._state = state = self._owner.fresh()
            outcome = self._load(state)
            if not isinstance(outcome, Returned):
                return outcome
        if self._entry is None:
            return Returned(None)
        answer = self._enter(state, _ENTER, data)
        if isinstance(answer, Refused):
            self._unharmed = True
            return Verdict(ErrorKind.INVALID_INPUT, f"the request cannot enter Lua: {refusal(self._arguments[0])}")
        return answer

    def _packed(self) -> bytes:
        data = ormsgpack.packb(self._entry)
        if self._arguments:
            data += pack(self._arguments[0], self._size)
        return data

    def _go_on(self, state: StatePort, reply: Any) -> _Answer:
        try:
            answer = self._enter(state, _GO_ON, ormsgpack.packb(reply[0]) + pack(reply[1]))
            if not isinstance(answer, Refused):
                return answer
            problem = refusal(reply[1])
        except Unpackable as error:
            problem = error
        failed = _failed(ErrorKind.HOST_ERROR, f"the host's answer cannot enter Lua: {problem}")
        return self._enter(state, _GO_ON, b"".join(map(ormsgpack.packb, failed)))

    def _load(self, state: StatePort) -> Outcome:
        answer = self._run(state, lambda: state.load(self._owner.program))
        if isinstance(answer, Missing):
            return Verdict(ErrorKind.NOT_FOUND, f"the script defines no function '{answer.name}'")
        if isinstance(answer, (Question, Refused)):
            return Verdict(ErrorKind.INTERNAL, "the sandbox failed")
        return answer

    def _enter(self, state: StatePort, operation: int, data: bytes) -> _Answer:
        return self._run(state, lambda: state.enter(operation, data))

    def _run(self, state: StatePort, enter: Callable[[], tuple[Any, ...]]) -> _Answer:
        with self._lock:
            if self._ended is not None:
                return self._ended
            self._phase = _RUNNING
        answer = enter()
        return self._came_back() or judge(answer, self._owner.program)

    def _ask(self, question: Question) -> _Answer | None:
        """What Lua makes of the host's answer; None where that has to be awaited."""
        state = self._state
        self._host_calls -= 1
        if self._host_calls < 0:
            return Verdict(ErrorKind.HOST_CALL_LIMIT, "the handler made more host calls than its limit allows")
        if self._host is None or state is None:
            return Verdict(ErrorKind.INTERNAL, "there is no host to ask here")
        with self._lock:
            if self._ended is not None:
                return self._ended
            self._phase = _ASKING
        try:
            answer = self._host(question.function, question.argument)
        except Exception as error:
            return self._came_back() or self._go_on(state, _failure(error))
        if isinstance(answer, CoroutineType):
            return self._leave_to_loop(answer)
        return self._came_back() or self._go_on(state, (True, answer))

    def _leave_to_loop(self, answer: CoroutineType[Any, Any, Any]) -> Verdict | None:
        with self._lock:
            waits = self._ended is None
            if waits:
                self._phase = _WAITING
        if not waits:
            answer.close()
            return self._came_back()
        self._on_loop(self._wait_for, answer)
        return None

    def _came_back(self) -> Verdict | None:
        """From Lua, or from the host: what the call has ended in meanwhile."""
        with self._lock:
            if self._phase is _ABANDONED:
                self._owner.found()
            elif self._ended is None:
                self._phase = _QUEUED
            return self._ended

    def _deliver(self, outcome: Outcome, state: StatePort | None) -> None:
        if isinstance(outcome, Verdict) and not (self._unharmed and self._ended is None):
            if state is not None:
                state.close()
            state = None
            self._blame(outcome)
        self._owner.leave(self, state)
        del state
        result: Any = None
        failure: BaseException | None = None
        try:
            result = self._finish(outcome)
        except BaseException as error:
            failure = error
        self._owner.stepped()
        self._on_loop(self._settle, result, failure)

    def _blame(self, verdict: Verdict) -> None:
        fault = verdict.kind if verdict.kind is ErrorKind.MEMORY_EXCEEDED else self._fault
        if fault is ErrorKind.TIMEOUT and self._deadline - self._started < self._owner.program.fair_s:
            return
        if fault is not None and self._entry is not None:
            self._owner.strike(fault)

    # On the loop

    def _on_loop(self, callback: Callable[..., None], *arguments: Any) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback, *arguments)

    def _settle(self, result: Any, error: BaseException | None) -> None:
        self._delivered = True
        if self._future.done():
            return
        if error is None:
            self._future.set_result(result)
        else:
            self._future.set_exception(error)

    def _wait_for(self, answer: CoroutineType[Any, Any, Any]) -> None:
        if self._ended is not None:
            answer.close()
            self._owner.submit(self._step)
            return
        self._task = self._loop.create_task(answer)
        self._task.add_done_callback(self._answered)

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _answered(self, task: asyncio.Task[Any]) -> None:
        self._task = None
        if task.cancelled():
            self._reply = _failed(ErrorKind.CANCELLED, "the host call was cancelled")
        elif (error := task.exception()) is None:
            self._reply = (True, task.result())
        else:
            self._reply = _failure(error)
        self._owner.submit(self._step)


def _failure(error: BaseException) -> tuple[bool, Any]:
    if isinstance(error, CallFailed):
        return _failed(error.error.kind, error.error.message, error.error.retryable)
    return _failed(ErrorKind.HOST_ERROR, "the host call failed")


def _failed(kind: ErrorKind, message: str, retryable: bool = False) -> tuple[bool, Any]:
    return False, {"kind": kind.value, "message": message, "retryable": retryable}
