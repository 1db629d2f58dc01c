"""The process that workers are forked from: single-threaded, with everything loaded that they need."""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import time
from typing import Any, Final

import ormsgpack

from evatui.kernel.lua.prelude import compiled
from evatui.kernel.lua.state import State
from evatui.kernel.lua.worker import landlock, seccomp
from evatui.kernel.lua.worker.confine import end_with
from evatui.kernel.lua.worker.serve import serve

__all__ = ["ENDED", "FORK", "KILL", "MAX_MESSAGE", "READY", "main"]

FORK, ENDED, KILL = 1, 2, 3
"""What may be asked: fork a worker, how did one end, kill one."""

READY: Final = b"\x90"
MAX_MESSAGE: Final = 256

_CRASHED: Final = 70
_REMEMBERED: Final = 256
_PATIENCE_S: Final = 0.25
_LOOKS: Final = 100


class Zygote:
    """Answers one request after the other. Its workers have numbers: those of processes are used again."""

    def __init__(self, host: socket.socket) -> None:
        self._host = host
        self._next = 0
        self._alive: dict[int, int] = {}  # number -> process
        self._ended: dict[int, int] = {}  # number -> exit code, or the signal below zero

    def run(self) -> None:
        """Until the host is gone."""
        ended, wakes = socket.socketpair()
        wakes.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(self._host, select.POLLIN)
        self._host.send(READY)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == ended.fileno():
                    ended.recv(MAX_MESSAGE)
                    self._reap()
                elif not self._answer():
                    return self._end()

    def _answer(self) -> bool:
        """False when there is nobody left to answer."""
        message, passed, _, _ = socket.recv_fds(self._host, MAX_MESSAGE, 1)
        if not message:
            return False
        operation, value = ormsgpack.unpackb(message)
        if operation == FORK:
            self._fork(passed[0], value)
        elif operation == ENDED:
            self._tell(self._how(value))
        elif operation == KILL:
            self._kill(value)
        return True

    def _fork(self, sock: int, memory_bytes: int) -> None:
        number, self._next = self._next, self._next + 1
        parent = os.getpid()
        process = os.fork()
        if process == 0:
            _become_worker(sock, memory_bytes, parent)
        self._alive[number] = process
        os.close(sock)
        try:
            handle = os.pidfd_open(process)
        except (OSError, AttributeError):  # an old kernel, or a container that does not let us
            self._tell(number)
            return
        self._tell(number, handle)
        os.close(handle)

    def _tell(self, value: Any, *handles: int) -> None:
        with contextlib.suppress(OSError):  # the host is gone: the next message says so
            socket.send_fds(self._host, [ormsgpack.packb(value)], handles)

    def _how(self, number: int) -> int | None:
        """How a worker ended whose connection is closed: it is about to, if it has not yet."""
        for _ in range(_LOOKS):
            self._reap()
            if number in self._ended:
                return self._ended.pop(number)
            time.sleep(_PATIENCE_S / _LOOKS)
        return None

    def _kill(self, number: int) -> None:
        if number in self._alive:
            os.kill(self._alive[number], signal.SIGKILL)

    def _reap(self) -> None:
        """Only here a process is waited for, so none that is in ``_alive`` can be another one by now."""
        for number, process in tuple(self._alive.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                del self._alive[number]
                self._ended[number] = os.waitstatus_to_exitcode(status)
        while len(self._ended) > _REMEMBERED:
            self._ended.pop(next(iter(self._ended)))

    def _end(self) -> None:
        for process in self._alive.values():
            os.kill(process, signal.SIGKILL)
        for process in self._alive.values():
            os.waitpid(process, 0)


def _become_worker(sock: int, memory_bytes: int, parent: int) -> None:
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        end_with(parent)
        os.closerange(0, sock)
        os.closerange(sock + 1, os.sysconf("SC_OPEN_MAX"))
        serve(socket.socket(fileno=sock), memory_bytes)
        os._exit(0)
    finally:
        os._exit(_CRASHED)


def main() -> None:
    host = socket.socket(fileno=int(sys.argv[1]))
    time.tzset()
    time.mktime(time.localtime())
    compiled()
    landlock.abi()
    seccomp.available()
    State(1 << 20)
    gc.collect()
    gc.freeze()
    Zygote(host).run()
