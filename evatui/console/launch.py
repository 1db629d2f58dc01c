"""From the first frame to the exit code: the screen, then what is still draining, then the end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evatui.console.app import ConsoleApp
from evatui.console.guard import Guard
from evatui.console.strays import kept_off_the_screen
from evatui.console.tty import name_of, offer
from evatui.control.exits import exit_for
from evatui.control.failing import CommandFailed

if TYPE_CHECKING:
    from textual.pilot import Pilot

__all__ = ["launch", "pose", "say"]


def launch(app: ConsoleApp, *, mouse: bool, strays: Path | None = None) -> int:
    """Runs the console on this terminal to its end and returns the exit code: 128 + n after signal n.

    Call it from the main thread. The terminal is plain again before anything is waited for. ``strays`` gets what is
    written to the standard streams by whatever is not the screen.
    """
    # What a shell or a library exported at some time is not how large the terminal is now, for children neither.
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)
    ending = _Ending(app)
    terminal = sys.__stdin__.fileno() if sys.__stdin__ is not None else None
    guard = Guard(ask=app.leave_soon, shut=ending.close_stuck, cut=ending.cut, terminal=terminal)
    app.guard_child = guard.child
    app.on_screen = guard.screen_is_on
    guard.start()
    try:
        # One loop for both: an operator that is attached belongs to the loop that it was opened on.
        with asyncio.Runner() as runner:
            with kept_off_the_screen(strays):
                failed = runner.run(app.run_async(mouse=mouse))
            guard.screen_is_back()
            runner.run(ending.close())
    finally:
        guard.stop()
    return 128 + guard.number if guard.number is not None else _told(failed)


def pose(
    app: ConsoleApp, size: tuple[int, int], auto_pilot: Callable[[Pilot[object]], Coroutine[Any, Any, None]]
) -> int:
    """Runs the console without a terminal and returns its exit code."""
    with asyncio.Runner() as runner:
        failed = runner.run(app.run_async(headless=True, size=size, auto_pilot=auto_pilot))
        runner.run(_Ending(app).close())
    return _told(failed)


def _told(failed: CommandFailed | None) -> int:
    """The exit code of a console whose runtime did not open; why, in the words of ``eva``."""
    if failed is None:
        return 0
    say(f"error: {failed.message}")
    if failed.hint:
        say(failed.hint)
    return exit_for(failed)


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
        self._begun = threading.Lock()

    async def close(self) -> None:
        """On the loop of the console; also an operator that is still opening."""
        if self._app.opening is None or not self._begun.acquire(blocking=False):
            return
        self._announce()
        # What did not open needs no closing, and a runtime that is lost has ended already.
        with contextlib.suppress(Exception):
            await (await self._app.opening).close()

    def cut(self) -> None:
        operator = self._app.operator
        if operator is not None:
            operator.cut()

    def close_stuck(self) -> None:
        """From a thread of its own, while the console's loop hangs and the screen is still on."""
        operator = self._app.operator
        if operator is not None and self._begun.acquire(blocking=False):
            with contextlib.suppress(Exception):
                asyncio.run(operator.close())

    def _announce(self) -> None:
        snapshot = self._app.snapshot
        if snapshot is None or snapshot.runtime.attached or not snapshot.calls:
            return
        calls = len(snapshot.calls)
        limit = snapshot.runtime.shutdown_timeout_ms / 1000
        say(f"draining {calls} call{'' if calls == 1 else 's'}, at most {limit:.0f} s; ctrl+c cuts them")
