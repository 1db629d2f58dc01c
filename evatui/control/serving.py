"""A runtime without a screen: ``eva serve``."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from evatui.control.exits import Exit
from evatui.control.failing import CommandFailed
from evatui.control.layouts import layout_of
from evatui.control.metering import serve_metrics
from evatui.control.opening import start_kernel

if TYPE_CHECKING:
    from evatui.control.kernel import Kernel
    from evatui.kernel.workspace.home import OperatorHome

__all__ = ["Beside", "serve"]

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]
_TICK_S = 1.0

Beside = Callable[["Kernel"], tuple[dict[str, str], Callable[[], None]]]


def serve(
    root: Path,
    state_dir: Path | None,
    *,
    home: OperatorHome,
    idle_exit_s: float | None,
    tell: Callable[[dict[str, Any]], None],
    audit_fd: int | None = None,
    metrics: tuple[str, int] | None = None,
    beside: Beside | None = None,
) -> int:
    """Serves until a signal, or until nobody has called for ``idle_exit_s``; blocking, in the main thread.

    ``tell`` gets one mapping a step: ``serving``, ``restarted``, ``down`` where it could not be built anew, ``lost``
    where another runtime took the workspace (then this one ends by itself), ``draining``, ``stopped``. A second signal
    cuts the calls that the first one waits for. ``audit_fd`` gets each audit record as well, ``metrics`` is
    where they are served over HTTP; ``serving`` tells the URL. ``beside`` serves something else of the runtime: it
    gives words for ``serving``, and what ends it.

    Returns the exit code. Raises `CommandFailed` where the
    runtime cannot start.
    """
    with _signals() as pipe:
        kernel = start_kernel(layout_of(root, state_dir), writes=True, listens=True, home=home, audit_fd=audit_fd)
        url, stop_metrics = _metered(kernel, metrics)
        words, stop_beside = _accompanied(kernel, beside, stop_metrics)
        told = {**({"metrics": url} if url else {}), **words}
        tell({"event": "serving", "pid": os.getpid(), "socket": kernel.address, **told})
        number = _wait(pipe, kernel, idle_exit_s, tell)
        if kernel.lost:
            tell({"event": "lost", "cause": kernel.lost})
        tell({"event": "draining", "calls": kernel.in_flight, "at_most_s": kernel.shutdown_s})
        stop_beside()
        stop_metrics()
        stopping = Thread(target=kernel.stop, name="eva-stop")
        stopping.start()
        while stopping.is_alive():
            if select.select([pipe], [], [], 0.1)[0]:
                os.read(pipe, 1)
                kernel.cut()
        stopping.join()
        tell({"event": "stopped"})
        if kernel.lost:
            return Exit.UNAVAILABLE
        return 0 if number in (None, signal.SIGTERM) else 128 + number


def _metered(kernel: Kernel, address: tuple[str, int] | None) -> tuple[str, Callable[[], None]]:
    if address is None:
        return "", lambda: None
    try:
        return serve_metrics(lambda: kernel.metrics, address)
    except CommandFailed:
        kernel.stop()
        raise


def _accompanied(
    kernel: Kernel, beside: Beside | None, stop: Callable[[], None]
) -> tuple[dict[str, str], Callable[[], None]]:
    if beside is None:
        return {}, lambda: None
    try:
        return beside(kernel)
    except CommandFailed:
        stop()
        kernel.stop()
        raise


def _wait(pipe: int, kernel: Kernel, idle_exit_s: float | None, tell: Callable[[dict[str, Any]], None]) -> int | None:
    """The signal that came, None where the idle time ran out or the workspace was lost."""
    known = (kernel.since, kernel.standing)
    while not kernel.lost:
        if select.select([pipe], [], [], _TICK_S)[0]:
            return os.read(pipe, 1)[0]
        before, known = known, (kernel.since, kernel.standing)
        if known[1] != before[1] and known[1].word == "down":
            tell({"event": "down", "cause": known[1].detail})
        elif known[0] != before[0]:
            tell({"event": "restarted", "pid": os.getpid(), "socket": kernel.address})
        if idle_exit_s is not None and kernel.idle_s >= idle_exit_s:
            break
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
