"""From a command to the runtime that answers it: the only place of this room that opens one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from evatui.control.commands import COMMANDS
from evatui.control.opening import OpenMode, open_workspace, operator_actor, operator_home
from evatui.control.operator import OnProgress, Operator
from evatui.kernel.model.call import CallerType

__all__ = ["Connect", "Interrupted", "ask", "asked", "connect", "finish"]

T = TypeVar("T")

Connect = Callable[[OpenMode, Path | None, Path | None], Awaitable[Operator]]
"""``(mode, workspace, state_dir)`` to an operator; raises `CommandFailed`."""


class Interrupted(Exception):
    """The person at the terminal pressed ctrl+c."""


async def connect(mode: OpenMode, workspace: Path | None, state_dir: Path | None) -> Operator:
    """The runtime that holds the workspace, else what ``mode`` allows instead; raises `CommandFailed`."""
    actor = operator_actor(CallerType.CLI)
    return await open_workspace(workspace, state_dir=state_dir, mode=mode, actor=actor, home=operator_home())


def _mode(command: str) -> OpenMode:
    """What a command needs where no runtime holds the workspace."""
    known = COMMANDS[command]
    if known.needs_runtime:
        return OpenMode.ATTACH
    return OpenMode.WRITE if known.effects else OpenMode.READ


def finish(work: Coroutine[Any, Any, T]) -> T:
    """Runs ``work`` on a loop of its own; ctrl+c cancels it, lets it clean up, and becomes `Interrupted`."""
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        raise Interrupted from None


def ask(
    connect: Connect,
    workspace: Path | None,
    state_dir: Path | None,
    command: str,
    on_progress: OnProgress | None = None,
    **params: Any,
) -> dict[str, Any]:
    """Runs one command; its ``data``. Detaches in any case, also when interrupted."""
    return finish(asked(connect, workspace, state_dir, command, on_progress, **params))


async def asked(
    connect: Connect,
    workspace: Path | None,
    state_dir: Path | None,
    command: str,
    on_progress: OnProgress | None = None,
    **params: Any,
) -> dict[str, Any]:
    """The same for a loop that runs already."""
    watched: dict[str, Any] = {"on_progress": on_progress} if on_progress else {}
    operator = await connect(_mode(command), workspace, state_dir)
    try:
        return await operator.run(command, **watched, **params)
    finally:
        await operator.close()
