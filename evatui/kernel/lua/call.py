"""One entry into a program, from its start to its outcome, over as many steps as it awaits host calls."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from types import CoroutineType
from typing import Any, Final, Generic, TypeVar

from evatui.kernel.lua.ending import Endable, Phase
from evatui.kernel.lua.judge import Lost, Missing, Question, Refused, judge
from evatui.kernel.lua.message import Reply, failed, failure, packed_entry, packed_failure, packed_reply
from evatui.kernel.lua.outcome import HostPort, Outcome, Raised, Returned, Verdict
from evatui.kernel.lua.owner import Owner
from evatui.kernel.lua.port import StatePort
from evatui.kernel.lua.state import Operation
from evatui.kernel.lua.threads import Then
from evatui.kernel.lua.values import Unpackable, refusal
from evatui.kernel.model.errors import ErrorKind

__all__ = ["Call"]

T = TypeVar("T")

_ENTER, _GO_ON = int(Operation.ENTER), int(Operation.GO_ON)

_log = logging.getLogger(__name__)

_NO_ANSWER: Final = failed(ErrorKind.CANCELLED, "the host call was cancelled")
_Answer = Outcome | Question | Missing | Refused | Lost
_FAILED: Final = Verdict(ErrorKind.INTERNAL, "the sandbox failed")
_QUEUED, _RUNNING, _ASKING, _WAITING = Phase  # names are found sooner than members


class Call(Endable, Generic[T]):
    """``entry`` None only loads a state. ``arguments`` is empty or the request.

    Steps run on the threads of Lua, one at a time, and so do the host calls that answer at once. One that has to
    be awaited ends the step, is run by the loop, and its answer begins the next step. ``finish`` is called exactly
    once, on a thread of Lua.
    """

    _unharmed = False
    _asked = False
    _watched: int | None = None
    _reply: Reply | None = None
    _delivered = False

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
        super().__init__(owner, deadline)
        self._entry = entry
        self._arguments = arguments
        self._size = size
        self._host = host
        self._host_calls = host_calls
        self._finish = finish
        self._future: asyncio.Future[T] = self._loop.create_future()

    async def run(self) -> T:
        """What ``finish`` made of the outcome; cancelled, it first waits until the handler has ended. Raises `Overdue`
        where ``finish`` goes on long after the deadline."""
        if self._started >= self.deadline:
            self.fire()
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

    # On a thread of Lua

    def _step(self) -> Then | None:
        try:
            outcome = self._advance()
        except Exception:  # a defect of the sandbox itself; the call must still end
            _log.exception("a step of a Lua call failed")
            outcome = Verdict(ErrorKind.INTERNAL, "the sandbox failed")
        if outcome is None:
            return None
        state = self._state
        with self._lock:
            self._done = True
            self._state = None
            outcome = self._ended or outcome
        if not self._abandoned:
            return self._deliver(outcome, state)
        self._come_too_late(state)
        return None

    def _come_too_late(self, state: StatePort | None) -> None:
        if self._lost:
            self._owner.found()
        if state is not None:
            state.close()

    def _advance(self) -> Outcome | None:
        """The outcome, or None where a host call has to be awaited."""
        answer: _Answer | None
        if self._state is None:
            answer = self._begun()
        else:
            reply, self._reply = self._reply, None
            answer = self._ended or self._go_on(self._state, reply or _NO_ANSWER)
        while isinstance(answer, Question):
            answer = self._ask(answer)
        if type(answer) is Returned:
            return answer
        if isinstance(answer, Missing):
            return Raised(f"the handler has removed its function '{answer.name}'")
        if isinstance(answer, Lost):
            return self._without_state(answer)
        return _FAILED if isinstance(answer, Refused) else answer

    def _begun(self) -> _Answer:
        entry = self._entry
        try:
            data = packed_entry(entry, self._arguments, self._size) if entry is not None else b""
        except Unpackable as problem:
            return Verdict(ErrorKind.INVALID_INPUT, f"the request cannot enter Lua: {problem}")
        self._state = state = self._owner.borrow()
        if state is not None:
            answer = self._entered(state, data)
            if not isinstance(answer, Lost) or answer.heard:
                return answer
            self._state = None
            state.close()
        self._state = state = self._owner.fresh()
        outcome = self._load(state)
        return self._entered(state, data) if isinstance(outcome, Returned) else outcome

    def _entered(self, state: StatePort, data: bytes) -> _Answer:
        if self._entry is None:
            return Returned(None)
        answer = self._run(state.enter, _ENTER, data)
        if isinstance(answer, Refused):
            self._unharmed = True
            return Verdict(ErrorKind.INVALID_INPUT, f"the request cannot enter Lua: {refusal(self._arguments[0])}")
        return answer

    def _go_on(self, state: StatePort, reply: Reply) -> _Answer:
        try:
            answer = self._run(state.enter, _GO_ON, packed_reply(reply))
            if not isinstance(answer, Refused):
                return answer
            problem = refusal(reply[1])
        except Unpackable as error:
            problem = error
        return self._run(state.enter, _GO_ON, packed_failure(problem))

    def _load(self, state: StatePort) -> Outcome:
        answer = self._run(state.load, self._owner.program)
        if isinstance(answer, Missing):
            return Verdict(ErrorKind.NOT_FOUND, f"the script defines no function '{answer.name}'", missing=answer.name)
        if isinstance(answer, Lost):
            return self._without_state(answer)
        return _FAILED if isinstance(answer, (Question, Refused)) else answer

    def _without_state(self, lost: Lost) -> Verdict:
        """To be tried again where nothing can have happened: nothing was asked of the host."""
        return Verdict(ErrorKind.INTERNAL, lost.reason, retryable=not self._asked)

    def _run(self, enter: Callable[..., tuple[Any, ...]], *arguments: Any) -> _Answer:
        self._phase = _RUNNING
        if self._ended is None:
            answer = enter(*arguments)
            self._phase = _QUEUED
            if self._ended is None:
                return judge(answer, self._owner.program)
        return self._ended

    def _ask(self, question: Question) -> _Answer | None:
        """What Lua makes of the host's answer; None where that has to be awaited."""
        state = self._state
        self._host_calls -= 1
        if self._host_calls < 0:
            return Verdict(ErrorKind.HOST_CALL_LIMIT, "the handler made more host calls than its limit allows")
        if self._host is None or state is None:
            return Verdict(ErrorKind.INTERNAL, "there is no host to ask here")
        self._asked = True
        self._phase = _ASKING
        if self._ended is not None:
            return self._ended
        try:
            answer = self._host(question.function, question.argument)
            reply = (True, answer)
        except Exception as error:
            answer, reply = None, failure(error)
        if isinstance(answer, CoroutineType):
            return self._leave_to_loop(answer)
        self._phase = _QUEUED
        return self._ended or self._go_on(state, reply)

    def _leave_to_loop(self, answer: CoroutineType[Any, Any, Any]) -> Verdict | None:
        self._phase = _WAITING
        if self._ended is not None:
            answer.close()
            return self._ended
        self._on_loop(self._wait_for, answer)
        return None

    def _deliver(self, outcome: Outcome, state: StatePort | None) -> Then:
        if isinstance(outcome, Verdict) and not (self._unharmed and self._ended is None):
            if state is not None:
                state.close()
            state = None
            self._blame(outcome)
        result: Any = None
        error: BaseException | None = None
        try:
            result = self._finish(outcome)
        except BaseException as failed_to_finish:
            error = failed_to_finish
        with self._lock:
            self._finished = True
        self._owner.watchdog.forget(self._grace or self)
        self._grace = None
        if self._overdue:
            self._owner.found()
        self._owner.finished(self, state)
        return partial(self._on_loop, self._settle, result, error)

    def _blame(self, verdict: Verdict) -> None:
        fault = verdict.kind if verdict.kind is ErrorKind.MEMORY_EXCEEDED else self._fault
        if fault is ErrorKind.TIMEOUT and self.deadline - self._started < self._owner.program.fair_s:
            return
        if fault is not None and self._entry is not None:
            self._owner.strike(fault)

    # On the loop

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
        self._watched = self._state.descriptor() if self._state is not None else None
        if self._watched is not None:
            self._loop.add_reader(self._watched, self._spoken_out_of_turn)

    def _spoken_out_of_turn(self) -> None:
        """The state speaks, or is gone, while it is the host's turn: nobody waits for the answer any more."""
        self._watch_no_more()
        self._cancel_task()

    def _watch_no_more(self) -> None:
        if self._watched is not None:
            self._loop.remove_reader(self._watched)
            self._watched = None

    def _answered(self, task: asyncio.Task[Any]) -> None:
        self._task = None
        self._watch_no_more()
        if task.cancelled():
            self._reply = _NO_ANSWER
        elif (error := task.exception()) is None:
            self._reply = (True, task.result())
        else:
            self._reply = failure(error)
        self._owner.submit(self._step)
