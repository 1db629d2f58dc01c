"""From a command to the runtime that answers it: the only place of this room that opens one."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from evatui.control.operator import Operator
from evatui.kernel.model.call import Actor, CallerType

__all__ = ["Connect", "Interrupted", "ask", "caller", "connect", "finish"]

T = TypeVar("T")

Connect = Callable[[str, Path | None, Path | None], Awaitable[Operator]]
"""``(command, workspace, state_dir)`` to an operator that can run that command; raises `CommandFailed`."""


class Interrupted(Exception):
    """The person at the terminal pressed ctrl+c."""


async def connect(command: str, workspace: Path | None, state_dir: Path | None) -> Operator:
    """The runtime that holds the workspace, else one for the moment, else `CommandFailed` (``Unavailable``)."""
    from evatui.control import open_workspace

    return await open_workspace(workspace, state_dir=state_dir, command=command, actor=caller())


def caller() -> Actor:
    """Who sits at the terminal, as far as the system says."""
    try:
        return Actor(CallerType.CLI, getpass.getuser())
    except (ImportError, KeyError, OSError):
        return Actor(CallerType.CLI, "unknown")


def finish(work: Coroutine[Any, Any, T]) -> T:
    """Runs ``work`` on a loop of its own; ctrl+c cancels it, lets it clean up, and becomes `Interrupted`."""
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        raise Interrupted from None


def ask(
    connect: Connect, workspace: Path | None, state_dir: Path | None, command: str, **params: Any
) -> dict[str, Any]:
    """Runs one command; its ``data``. Detaches in any case, also when interrupted."""

    async def run() -> dict[str, Any]:
        operator = await connect(command, workspace, state_dir)
        try:
            return await operator.run(command, **params)
        finally:
            await operator.close()

    return finish(run())


def serve(workspace: Path | None, state_dir: Path | None, idle_exit: float | None) -> int:
    """Holds the workspace until a signal, or until it was unused for ``idle_exit`` seconds; an exit code."""
    from evatui.control import serve

    return serve(workspace, state_dir=state_dir, idle_exit_s=idle_exit)
