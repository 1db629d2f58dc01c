"""The host's side of the zygote: starts it, asks it for workers, and starts another when it dies."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections import deque
from typing import Any, Final

import ormsgpack

from evatui.kernel.lua.worker.clock import pid_of, ran_s
from evatui.kernel.lua.worker.command import command, environment
from evatui.kernel.lua.worker.launch import Launched, NotLaunched
from evatui.kernel.lua.worker.zygote import ENDED, FORK, KILL, MAX_MESSAGE, READY

__all__ = ["Nursery"]

_START_S: Final = 20.0
_ANSWER_S: Final = 5.0
_END_S: Final = 2.0
_STARTS: Final = 5
_WITHIN_S: Final = 60.0
"""A zygote that dies is replaced, but no more often than so many times in so many seconds."""


class Nursery:
    """One zygote at a time. Requests are made one after the other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._zygote: subprocess.Popen[bytes] | None = None
        self._sock: socket.socket | None = None
        self._starts: deque[float] = deque(maxlen=_STARTS)
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The zygote's, while there is one."""
        return self._zygote.pid if self._zygote is not None else None

    def start(self) -> None:
        with self._lock:
            self._ready()

    def launch(self, memory_bytes: int) -> Launched:
        with self._lock:
            for again in (True, False):
                sock = self._ready()
                ours, theirs = socket.socketpair()
                try:
                    with theirs:
                        number, handles = _ask(sock, (FORK, memory_bytes), theirs.fileno())
                except (OSError, ormsgpack.MsgpackDecodeError):
                    ours.close()
                    self._drop()
                    if again:
                        continue
                    break
                return Launched(ours, _Forked(self, sock, number, handles[0] if handles else None))
        raise NotLaunched("the process that workers are forked from does not answer")

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._drop()

    def ask(self, sock: socket.socket, operation: int, number: int, *, answered: bool) -> Any:
        """None where it is another zygote by now: with the one that ``sock`` led to its workers ended."""
        with self._lock:
            if sock is not self._sock:
                return None
            try:
                if answered:
                    return _ask(sock, (operation, number))[0]
                sock.send(ormsgpack.packb((operation, number)))
            except (OSError, ormsgpack.MsgpackDecodeError):
                self._drop()
            return None

    def _ready(self) -> socket.socket:
        if self._closed:
            raise NotLaunched("workers are no longer started")
        if self._sock is not None and self._zygote is not None and self._zygote.poll() is None:
            return self._sock
        self._drop()
        now = time.monotonic()
        if len(self._starts) == _STARTS and now - self._starts[0] < _WITHIN_S:
            raise NotLaunched("the process that workers are forked from died too often")
        self._starts.append(now)
        return self._start()

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self._zygote = subprocess.Popen(
                    command("zygote", theirs.fileno()),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    env=environment(),
                    cwd="/",
                    start_new_session=True,
                )
            self._sock = ours
            ours.settimeout(_START_S)
            if ours.recv(MAX_MESSAGE) != READY:
                raise OSError
            ours.settimeout(_ANSWER_S)
        except OSError:
            ours.close()
            self._drop()
            raise NotLaunched("the process that workers are forked from did not start") from None
        return ours

    def _drop(self) -> None:
        if self._sock is not None:
            self._sock.close()
            self._sock = None
        if self._zygote is not None:
            try:
                self._zygote.wait(0 if self._zygote.poll() is not None else _END_S)
            except subprocess.TimeoutExpired:
                self._zygote.kill()
                self._zygote.wait()
            self._zygote = None


def _ask(sock: socket.socket, message: tuple[int, int], *passed: int) -> tuple[Any, list[int]]:
    socket.send_fds(sock, [ormsgpack.packb(message)], passed)
    answer, handles, _, _ = socket.recv_fds(sock, MAX_MESSAGE, 1, socket.MSG_CMSG_CLOEXEC)
    if not answer:
        raise ConnectionResetError
    return ormsgpack.unpackb(answer), handles


class _Forked:
    """A worker of a zygote. ``handle`` is a process descriptor, where the system has them."""

    def __init__(self, nursery: Nursery, sock: socket.socket, number: int, handle: int | None) -> None:
        self._nursery = nursery
        self._zygote = sock
        self._number = number
        self._handle = handle
        self._lock = threading.Lock()

    def kill(self) -> None:
        with self._lock:
            if self._handle is not None:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._handle, signal.SIGKILL)
                return
        self._nursery.ask(self._zygote, KILL, self._number, answered=False)

    def ended(self) -> int | None:
        ended = self._nursery.ask(self._zygote, ENDED, self._number, answered=True)
        return ended if isinstance(ended, int) else None

    def ran_s(self) -> float | None:
        with self._lock:
            pid = pid_of(self._handle) if self._handle is not None else None
        return ran_s(pid) if pid is not None else None

    def close(self) -> None:
        with self._lock:
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None
