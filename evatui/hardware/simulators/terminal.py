"""A simulated device behind a pseudo terminal: whoever opens that finds a serial port."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Callable
from typing import Final

from evatui.hardware.simulators.faults import SLOW_S, Fault
from evatui.hardware.simulators.models import Model

__all__ = ["Terminal"]

_GARBAGE: Final = bytes((0xFE, 0x81, 0x0A))


class Terminal:
    """Runs in a thread of its own until `close`, or until whoever opened ``path`` has closed it."""

    def __init__(self, model: Model, fault: Callable[[], Fault]) -> None:
        """Raises `OSError` where the system has no pseudo terminals left."""
        self._model = model
        self._fault = fault
        self._master, slave = os.openpty()
        self.path = os.ttyname(slave)
        self._slave = slave  # stays open, so that nobody's closing ends it before it was opened
        self._wake_r, self._wake_w = os.pipe()
        self._closing = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="eva-simulator", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Like pulling the plug: whoever waits for it sees it go at once. Idempotent, from any thread."""
        with self._closing:
            if not self._closed:
                self._closed = True
                with contextlib.suppress(OSError):  # it has ended by itself
                    os.write(self._wake_w, b"x")
                os.close(self._wake_w)
        self._thread.join()

    def release(self) -> None:
        """After whoever opened ``path`` has closed it, or could not open it. Until then its number is nobody else's:
        whoever opens it late finds it gone, and not the terminal of another program."""
        self.close()
        with self._closing:
            slave, self._slave = self._slave, -1
        if slave >= 0:
            os.close(slave)

    def _serve(self) -> None:
        try:
            self._listen()
        except OSError:
            pass  # nobody is at the other end any more
        finally:
            for descriptor in (self._master, self._wake_r):
                os.close(descriptor)  # by the thread that waits on them, or whoever reads learns it late

    def _listen(self) -> None:
        rest = b""
        while self._waits():
            *lines, rest = (rest + os.read(self._master, 4_096)).split(b"\n")
            for line in lines:
                said = self._model.answer(line.decode("utf-8", "replace").strip())
                if said is not None and not self._say(f"{said}\r\n".encode()):
                    return

    def _waits(self, timeout: float | None = None, *, reads: bool = True) -> bool:
        """True when there is something to read, or the time is over; False when it is to end."""
        watched = [self._wake_r, *([self._master] if reads else [])]
        ready, _, _ = select.select(watched, [], [], timeout)
        return self._wake_r not in ready

    def _say(self, answer: bytes) -> bool:
        match self._fault():
            case Fault.MUTE | Fault.UNPLUG:  # also in the moment before whoever has it open sees it go
                return True
            case Fault.GARBAGE:
                answer = _GARBAGE
            case Fault.PARTIAL:
                answer = answer[: len(answer) // 2]
            case Fault.SLOW if not self._waits(SLOW_S, reads=False):
                return False
        os.write(self._master, answer)
        return True
