"""A runtime without a screen: ``eva serve``."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from evatui.control.opening import start_kernel

__all__ = ["serve"]

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]
_TICK_S = 1.0


def serve(
    root: Path, state_dir: Path | None, *, idle_exit_s: float | None, tell: Callable[[dict[str, Any]], None]
) -> int:
    """Serves until a signal, or until nobody has called for ``idle_exit_s``; blocking, in the main thread.

    ``tell`` gets one mapping a step: ``serving``, ``draining``, ``stopped``. A second signal cuts
    the calls that the first one waits for. Returns the exit code. Raises `CommandFailed` where the
    runtime cannot start.
    """
    with _signals() as pipe:
        kernel = start_kernel(root, state_dir, writes=True, listens=True)
        tell({"event": "serving", "pid": os.getpid(), "socket": kernel.address})
        number = _wait(pipe, lambda: kernel.idle_s, idle_exit_s)
        tell({"event": "draining", "calls": kernel.in_flight, "at_most_s": kernel.shutdown_s})
        stopping = Thread(target=kernel.stop, name="eva-stop")
        stopping.start()
        while stopping.is_alive():
            if select.select([pipe], [], [], 0.1)[0]:
                os.read(pipe, 1)
                kernel.cut()
        stopping.join()
        tell({"event": "stopped"})
        return 0 if number in (None, signal.SIGTERM) else 128 + number


def _wait(pipe: int, idle_s: Callable[[], float], idle_exit_s: float | None) -> int | None:
    """The signal that came, None where it is the idle time that ran out."""
    while True:
        if select.select([pipe], [], [], _TICK_S if idle_exit_s is not None else None)[0]:
            return os.read(pipe, 1)[0]
        if idle_exit_s is not None and idle_s() >= idle_exit_s:
            return None


@contextmanager
def _signals() -> Iterator[int]:
    """Signals as bytes of a pipe: a handler that only writes can interrupt nothing half way."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    old = {number: signal.signal(number, lambda _number, _frame: None) for number in _SIGNALS}
    old_fd = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield reading
    finally:
        signal.set_wakeup_fd(old_fd)
        for number, handler in old.items():
            signal.signal(number, handler)
        os.close(reading)
        os.close(writing)
