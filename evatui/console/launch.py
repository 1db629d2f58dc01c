"""From the first frame to the exit code: the screen, then what is still draining, then the end."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable

from evatui.console.app import ConsoleApp
from evatui.console.guard import Guard
from evatui.console.tty import name_of, offer
from evatui.control.operator import CommandFailed, Operator
from evatui.kernel.model.errors import ErrorKind

__all__ = ["end_of", "launch", "say"]

_CODES = {
    ErrorKind.INTERNAL: 1,
    ErrorKind.POLICY_DENIED: 3,
    ErrorKind.UNAVAILABLE: 4,
    ErrorKind.AUDIT_UNAVAILABLE: 4,
    ErrorKind.TIMEOUT: 5,
    ErrorKind.CANCELLED: 5,
}
_REFUSED = 2


def launch(app: ConsoleApp, *, mouse: bool) -> int:
    """Runs the console on this terminal to its end and returns the exit code: 128 + n after signal n.

    Call it from the main thread. The terminal is plain again before anything is waited for.
    """
    ending = _Ending(app)
    terminal = sys.__stdin__.fileno() if sys.__stdin__ is not None else None
    guard = Guard(ask=app.leave_soon, shut=ending.close_silently, terminal=terminal)
    app.guard_child = guard.child
    guard.start()
    try:
        failed = app.run(mouse=mouse)
        guard.screen_is_back()
        ending.close()
    finally:
        guard.stop()
    return 128 + guard.number if guard.number is not None else _told(failed)


def end_of(app: ConsoleApp, failed: CommandFailed | None) -> int:
    """Closes what a console without a terminal had open, and returns its exit code."""
    _Ending(app).close()
    return _told(failed)


def _told(failed: CommandFailed | None) -> int:
    """The exit code of a console whose runtime did not open; why, in the words of ``eva``."""
    if failed is None:
        return 0
    say(f"error: {failed.message}")
    if failed.suggestion:
        say(f"try: {failed.suggestion}")
    return _CODES.get(failed.kind, _REFUSED)


def say(text: str) -> None:
    """On the plain terminal, which may be gone or stuck: then nobody reads it, and nobody waits for it."""
    stream = sys.__stderr__
    if stream is not None and stream.isatty() and (name := name_of(stream.fileno())):
        offer(name, f"{text}\n")
    elif stream is not None:
        with contextlib.suppress(OSError, ValueError):
            stream.write(f"{text}\n")
            stream.flush()


class _Ending:
    """Closes the operator once, whoever comes first: the main thread, or the guard where the screen hangs."""

    def __init__(self, app: ConsoleApp) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._closed = False

    def close(self) -> None:
        self._close(self._announce)

    def close_silently(self) -> None:
        """Where the screen is still on."""
        self._close(lambda: None)

    def _close(self, announce: Callable[[], None]) -> None:
        with self._lock:
            operator = self._app.operator
            if self._closed or operator is None:
                return
            self._closed = True
            announce()
            asyncio.run(_close(operator))

    def _announce(self) -> None:
        snapshot = self._app.snapshot
        if snapshot is None or snapshot.runtime.attached or not snapshot.calls:
            return
        calls = len(snapshot.calls)
        limit = snapshot.runtime.shutdown_timeout_ms / 1000
        say(f"draining {calls} call{'' if calls == 1 else 's'}, at most {limit:.0f} s; ctrl+c cuts them")


async def _close(operator: Operator) -> None:
    # It may have been lost already, and then there is nothing left to end.
    with contextlib.suppress(CommandFailed):
        await operator.close()
