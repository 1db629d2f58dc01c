"""A state in a process of its own, as the threads of Lua see it."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Callable
from typing import Any, ClassVar, Final

from evatui.kernel.lua.program import Program
from evatui.kernel.lua.state import Answer, Operation, packed
from evatui.kernel.lua.worker.frames import MAX_REQUEST, Channel, Gone, OutOfTurn
from evatui.kernel.lua.worker.launch import Launched, NotLaunched
from evatui.kernel.lua.worker.plausible import most, read
from evatui.kernel.lua.worker.serve import UNCONFINED
from evatui.kernel.model.manifest import Isolation

__all__ = ["WorkerState"]

_KILLED: Final = (int(Answer.NO_MEMORY),)
_BROKEN: Final = (int(Answer.BROKEN), "")


class WorkerState:
    """A `StatePort`. Its process is started when it is loaded.

    Nothing that the process says is believed: an answer that no state gives ends it. A process that ended by itself
    answers ``(LOST, reason)``, or ``(UNHEARD, reason)`` where it did so before it took what it was asked.
    """

    isolation: ClassVar = Isolation.PROCESS

    def __init__(self, program: Program, launch: Callable[[int], Launched]) -> None:
        self._program = program
        self._launch = launch
        self._most = most(program)
        self._lock = threading.Lock()
        self._worker: Launched | None = None
        self._channel: Channel | None = None
        self._killed = False

    def load(self, program: Program) -> tuple[Any, ...]:
        try:
            worker = self._launch(program.memory_bytes)
        except NotLaunched as reason:
            return (int(Answer.LOST), str(reason))
        with self._lock:
            self._worker, self._channel = worker, Channel(worker.sock)
            if self._killed:
                self._end(worker)
        return self.enter(int(Operation.LOAD), packed(program))

    def enter(self, operation: int, data: bytes) -> tuple[Any, ...]:
        channel = self._channel
        if self._killed or channel is None:
            return _KILLED
        if len(data) >= MAX_REQUEST:
            return _BROKEN
        try:
            channel.send(operation.to_bytes(1) + data)
            answer = read(bytes(channel.receive(self._most)), self._program)
        except (BrokenPipeError, ConnectionResetError):  # it ended with what it was asked unread
            return self._lost(answer=Answer.UNHEARD)
        except (Gone, OSError):
            return self._lost()
        except OutOfTurn:
            answer = None
        return answer or self._lost("it gave an answer that no state gives")

    def kill(self) -> None:
        with self._lock:
            self._killed = True
            if self._worker is not None:
                self._end(self._worker)

    def sound(self) -> bool:
        """A word out of turn would be taken for the answer to what is asked next."""
        return not self._killed and self._channel is not None and self._channel.silent()

    def descriptor(self) -> int | None:
        with self._lock:
            return self._worker.sock.fileno() if self._worker is not None else None

    def ran_s(self) -> float | None:
        with self._lock:
            return self._worker.process.ran_s() if self._worker is not None else 0.0

    def close(self) -> None:
        self.kill()
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            _let_go(worker)

    def __del__(self) -> None:
        if self._worker is not None:
            _let_go(self._worker)  # it is idle, and ends with its connection

    def _end(self, worker: Launched) -> None:
        worker.process.kill()
        with contextlib.suppress(OSError):
            worker.sock.shutdown(socket.SHUT_RDWR)  # whoever waits for its answer need not wait for its end

    def _lost(self, reason: str = "", answer: Answer = Answer.LOST) -> tuple[Any, ...]:
        with self._lock:
            worker, killed = self._worker, self._killed
        if killed or worker is None:
            return _KILLED
        self.kill()
        return (int(answer), f"the worker process was given up: {reason or _told(worker.process.ended())}")


def _let_go(worker: Launched) -> None:
    worker.sock.close()
    worker.process.close()


def _told(ended: int | None) -> str:
    if ended is None:
        return "it closed its connection"
    if ended == UNCONFINED:
        return "it could not be confined"
    if ended >= 0:
        return f"it ended by itself, with code {ended}"
    try:
        return f"it was ended by {signal.Signals(-ended).name}"
    except ValueError:
        return f"it was ended by signal {-ended}"
