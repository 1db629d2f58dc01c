"""The operator of a runtime in this process."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

from evatui.control.commands import COMMANDS, is_followed, is_tied
from evatui.control.failing import CommandFailed
from evatui.control.kernel import Kernel
from evatui.control.operator import OnProgress, lost, refuse_if_readonly
from evatui.control.snapshot import ConsoleSnapshot, Cursor
from evatui.kernel.model.call import Actor
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.ids import new_id
from evatui.kernel.model.progress import Progress

__all__ = ["LocalOperator"]


class LocalOperator:
    """Commands go over to the kernel's loop and are shielded: a caller that leaves does not stop them.

    But for a call in a runtime that does not hold the workspace: it ends with its caller.
    """

    def __init__(
        self, kernel: Kernel, actor: Actor, *, readonly: bool = False, holds: bool = True, guest: bool = False
    ) -> None:
        """A ``guest`` leaves the kernel to whoever started it."""
        self.readonly = readonly
        self.kernel = kernel
        self._actor = actor
        self._holds = holds
        self._guest = guest
        self.beside: list[Callable[[], None]] = []
        """What ends, blocking, whatever else is served of the kernel; it ends before the kernel."""
        self._dirty = threading.Event()
        self._notify: Callable[[], None] | None = None

    async def run(self, command: str, *, on_progress: OnProgress | None = None, **params: Any) -> dict[str, Any]:
        refuse_if_readonly(self, command)
        if not self._holds and command in COMMANDS and COMMANDS[command].needs_runtime:
            raise _no_runtime(command)
        if is_followed(command):
            self._dirty.clear()
        desk = self.kernel.desk
        assert desk is not None  # Kernel.start() has returned
        request_id = params.setdefault("request_id", new_id("req"))
        work = desk.run(command, params, self._actor, _on_this_loop(on_progress) if on_progress else None)
        try:
            future = self.kernel.submit(work)
        except RuntimeError:
            work.close()
            raise lost(request_id, self.kernel.lost) from None
        try:
            return await asyncio.shield(asyncio.wrap_future(future))
        except (asyncio.CancelledError, CancelledError):
            if future.cancelled():
                raise lost(request_id, self.kernel.lost) from None
            if (not self._holds and command == "capability.call") or is_tied(command):
                future.cancel()  # a runtime of the moment runs it for nobody else
            raise

    async def snapshot(self, since: Cursor) -> ConsoleSnapshot:
        self._dirty.clear()
        desk = self.kernel.desk
        assert desk is not None  # Kernel.start() has returned

        async def take() -> ConsoleSnapshot:
            return desk.snapshot(since)

        work = take()
        try:
            return await asyncio.wrap_future(self.kernel.submit(work))
        except RuntimeError:
            work.close()
            raise lost("", self.kernel.lost) from None

    def on_change(self, notify: Callable[[], None]) -> None:
        self._notify = notify
        self.kernel.on_change(self._changed)

    def _changed(self) -> None:
        if self._notify is not None and not self._dirty.is_set():
            self._dirty.set()
            self._notify()

    def cut(self) -> None:
        self.kernel.cut()

    async def close(self) -> None:
        for end in self.beside:
            await asyncio.to_thread(end)
        if not self._guest:
            await asyncio.to_thread(self.kernel.stop)


def _on_this_loop(told: OnProgress) -> OnProgress:
    loop = asyncio.get_running_loop()

    def tell(progress: Progress) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it whoever wanted to know
            loop.call_soon_threadsafe(told, progress)

    return tell


def _no_runtime(command: str) -> CommandFailed:
    word = command.rpartition(".")[2]
    return CommandFailed(
        ErrorKind.UNAVAILABLE,
        f"no runtime holds this workspace, so there is nothing to {word}",
        suggestion="start one with `evatui` or `eva serve`",
    )
