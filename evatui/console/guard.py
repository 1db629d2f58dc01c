"""Leaving always works: a thread that hears signals and hang-ups, and ends what the screen cannot.

Signal handlers do nothing but have the interpreter write a byte to a socket. The guard thread reads it, asks
the app to leave, and where the screen has not come back in time (a terminal that takes no more output, an
editor that is open) it shuts the runtime, puts the terminal back, and exits by itself.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

from evatui.console.tty import RESET, hung_up, modes_of, name_of, offer, restore

__all__ = ["Guard"]

_HANG_UP = getattr(signal, "SIGHUP", signal.SIGTERM)
_WATCHED = tuple(dict.fromkeys((signal.SIGTERM, signal.SIGINT, _HANG_UP)))
_PAUSE, _GO_ON = getattr(signal, "SIGTSTP", None), getattr(signal, "SIGCONT", None)
_STOP, _SHUT = b"\xff", b"\xfe"


class Guard:
    """Watches from `start` to `stop`.

    ``ask`` and ``cut`` must return at once; ``shut`` may take as long as draining takes, and runs on a thread of
    its own. ``patience`` is how many seconds the screen has to come back after the first signal. A second signal
    calls ``cut``, which ends what is waited for; ``farewell`` seconds after it the process ends in any case.
    """

    def __init__(
        self,
        *,
        ask: Callable[[], None],
        shut: Callable[[], None],
        cut: Callable[[], None],
        terminal: int | None,
        patience: float = 1.5,
        farewell: float = 2.0,
    ) -> None:
        self._ask = ask
        self._shut = shut
        self._cut = cut
        self._terminal = terminal
        self._patience = patience
        self._farewell = farewell
        self._modes = modes_of(terminal)
        self._name = name_of(terminal)
        self._ears, self._mouth = socket.socketpair()
        self._thread = threading.Thread(target=self._watch, name="evatui-guard", daemon=True)
        self._number: int | None = None
        self._deadline: float | None = None
        self._last_moment: float | None = None
        self._screen_is_back = False
        self._shutting = False
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def number(self) -> int | None:
        """The first signal, SIGHUP also for a terminal that hung up; None while there was none."""
        return self._number

    def start(self) -> None:
        """From the main thread, before the screen is taken."""
        self._mouth.setblocking(False)
        self._before_fd = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        self._before = {number: signal.signal(number, _nothing) for number in _WATCHED}
        self._thread.start()

    def screen_is_on(self) -> None:
        """From the main thread. Whoever was stopped takes the screen again when it goes on, unless it leaves.

        Without that a terminal that hangs up would have it taken once more, since the system then lets its programs
        go on, and threads that nobody ends would read from what is gone.
        """
        take = signal.getsignal(_GO_ON) if _GO_ON is not None else None
        if _GO_ON is None or not callable(take):
            return

        def go_on(number: int, frame: FrameType | None) -> None:
            if self._number is None and not self._screen_is_back and not hung_up(self._terminal):
                take(number, frame)

        signal.signal(_GO_ON, go_on)

    def screen_is_back(self) -> None:
        """The terminal is plain again; from now on an interrupt cuts what is still draining."""
        if hung_up(self._terminal):
            self._number = self._number or _HANG_UP
        self._screen_is_back = True
        if _PAUSE is not None:
            signal.signal(_PAUSE, signal.SIG_DFL)  # the screen's own would leave it, and take it afterwards

    def stop(self) -> None:
        self._mouth.send(_STOP)
        self._thread.join()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._before_fd)
        self._ears.close()
        self._mouth.close()

    @contextlib.contextmanager
    def child(self, child: subprocess.Popen[bytes]) -> Iterator[None]:
        """While it runs the keyboard's interrupts are the child's; leaving ends it."""
        self._child = child
        try:
            yield
        finally:
            self._child = None

    # --- the guard's own thread -------------------------------------------------------------------

    def _watch(self) -> None:
        poll = select.poll() if hasattr(select, "poll") else None
        if poll is not None:
            poll.register(self._ears, select.POLLIN)
            if self._terminal is not None:
                poll.register(self._terminal, 0)  # hang-up is reported without being asked for
        while True:
            fds = [fd for fd, _ in poll.poll(self._timeout_ms())] if poll else self._wait_without_poll()
            if self._ears.fileno() in fds:
                heard = self._ears.recv(64)
                if _STOP in heard:
                    return
                if _SHUT in heard:
                    self._exit()
                for number in heard:
                    self._hear(number)
            elif fds:
                assert poll is not None
                assert self._terminal is not None
                poll.unregister(self._terminal)
                self._hear(_HANG_UP)
            self._lose_patience()

    def _timeout_ms(self) -> float | None:
        moments = [moment for moment in (self._deadline, self._last_moment) if moment is not None]
        return max(0.0, min(moments) - time.monotonic()) * 1000 + 1 if moments else None

    def _wait_without_poll(self) -> list[int]:
        timeout = self._timeout_ms()
        ready, _, _ = select.select([self._ears], [], [], None if timeout is None else timeout / 1000)
        return [self._ears.fileno()] if ready else []

    def _hear(self, number: int) -> None:
        if number not in _WATCHED or (number == signal.SIGINT and self._child is not None):
            return
        if self._number is None and not (number == signal.SIGINT and self._screen_is_back):
            self._number = number
            if not self._screen_is_back:
                self._deadline = time.monotonic() + self._patience
                self._ask()
        elif number != _HANG_UP:  # shells and the kernel tell one hang-up more than once
            self._number = self._number or number
            self._hurry()

    def _hurry(self) -> None:
        """Waits for no call any more; asked once more, or with no end in sight, for nothing at all."""
        if self._last_moment is not None:
            self._exit()
        self._cut()
        self._last_moment = time.monotonic() + self._farewell
        if self._deadline is not None:
            self._deadline = time.monotonic()

    def _lose_patience(self) -> None:
        now = time.monotonic()
        if self._last_moment is not None and now >= self._last_moment:
            self._exit()
        if self._deadline is None or now < self._deadline:
            return
        self._deadline = None
        if not self._screen_is_back and not self._shutting:
            self._shutting = True
            threading.Thread(target=self._shut_runtime, name="evatui-shut", daemon=True).start()

    def _shut_runtime(self) -> None:
        try:
            self._shut()
        finally:
            self._mouth.send(_SHUT)

    def _exit(self) -> None:
        if not self._screen_is_back:
            restore(self._terminal, self._modes)
            offer(self._name, RESET)
        if self._child is not None:
            self._child.terminate()
        os._exit(128 + (self._number or signal.SIGTERM))


def _nothing(number: int, frame: FrameType | None) -> None:
    """The wake-up descriptor has told the guard already."""
