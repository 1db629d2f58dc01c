"""The runtime of a workspace, whoever holds it; where nobody does, one that is started for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evatui.control.detached import start_detached
from evatui.control.failing import CommandFailed
from evatui.control.opening import OpenMode, open_workspace
from evatui.control.operator import OnProgress
from evatui.control.remote import RemoteOperator
from evatui.kernel.model.call import Actor
from evatui.kernel.model.errors import ErrorKind

__all__ = ["Attached"]


class Attached:
    """Goes over to the next runtime when the one that it is attached to ends. What was sent is never sent twice."""

    def __init__(self, root: Path, state_dir: Path | None, actor: Actor) -> None:
        self._root = root
        self._state_dir = state_dir
        self._actor = actor
        self._operator: RemoteOperator | None = None
        self._notify: Callable[[], None] | None = None
        self._turn = asyncio.Lock()

    async def run(
        self, command: str, *, on_progress: OnProgress | None = None, starts: bool = True, **params: Any
    ) -> dict[str, Any]:
        """As `Operator.run`. Where there is no runtime one is started, unless ``starts`` is False."""
        operator = self._operator
        if operator is None or operator.is_lost:
            operator = await self.attach(starts=starts)
        return await operator.run(command, on_progress=on_progress, **params)

    def on_change(self, notify: Callable[[], None]) -> None:
        self._notify = notify
        if self._operator is not None:
            self._operator.on_change(notify)

    async def attach(self, *, starts: bool = True) -> RemoteOperator:
        """Raises `CommandFailed`."""
        async with self._turn:
            if self._operator is not None and not self._operator.is_lost:
                return self._operator
            if self._operator is not None:
                await self._operator.close()
            self._operator = await self._dial(starts)
            if self._notify is not None:
                self._operator.on_change(self._notify)
                self._notify()  # what the other one serves may differ
            return self._operator

    async def close(self) -> None:
        if self._operator is not None:
            await self._operator.close()

    async def _dial(self, starts: bool) -> RemoteOperator:
        try:
            return await self._open()
        except CommandFailed as failed:
            if not starts or failed.kind is not ErrorKind.UNAVAILABLE:
                raise
        await start_detached(self._root, self._state_dir)
        return await self._open()

    async def _open(self) -> RemoteOperator:
        operator = await open_workspace(self._root, state_dir=self._state_dir, mode=OpenMode.ATTACH, actor=self._actor)
        assert isinstance(operator, RemoteOperator)  # that is what attaching gives
        return operator
