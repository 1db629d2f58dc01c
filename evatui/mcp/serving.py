"""Who serves MCP over HTTP: a process that does nothing else, or a runtime beside its other work."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evatui.control.failing import CommandFailed
from evatui.control.kernel import Kernel
from evatui.control.layouts import layout_of
from evatui.control.local import LocalOperator
from evatui.control.opening import operator_actor
from evatui.control.operator import OnProgress, Operator
from evatui.kernel.model.call import CallerType
from evatui.mcp.asking import Runs
from evatui.mcp.attached import Attached
from evatui.mcp.http import Address, HttpServer
from evatui.mcp.token_file import token_file

__all__ = ["accompany", "serve_beside", "serve_http"]


def serve_http(root: Path, state_dir: Path | None, bind: str | None, tell: Callable[[dict[str, Any]], None]) -> int:
    """A bridge to whoever holds the workspace, until a signal; blocking, in the main thread.

    ``tell`` hears of ``serving`` and ``stopped``. Raises `CommandFailed` where it cannot listen or no runtime is to be
    had.
    """
    layout = layout_of(root, state_dir)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: ended.set())

    async def attached() -> Runs:
        runs = Attached(root, state_dir, operator_actor(CallerType.MCP))
        await runs.attach()
        return runs

    server = HttpServer(attached, layout.state_dir, Address.of(layout.mcp_server, bind))
    tell({"event": "serving", "url": server.url, "token_file": str(token_file(layout.state_dir))})
    while not ended.wait(0.5) and server.alive:
        pass
    server.stop()
    tell({"event": "stopped"})
    return 0


def serve_beside(kernel: Kernel) -> HttpServer:
    """For the runtime in this process, where its eva.yaml says. Blocking; raises `CommandFailed`."""

    async def guest() -> Runs:
        return _Guest(LocalOperator(kernel, operator_actor(CallerType.MCP), guest=True))

    layout = kernel.layout
    server = HttpServer(guest, layout.state_dir, Address.of(layout.mcp_server))
    assert kernel.desk is not None  # Kernel.start() has returned
    kernel.desk.mcp = server.url
    return server


class _Guest:
    """Of a runtime that is there as long as this process: none needs to be started."""

    def __init__(self, operator: LocalOperator) -> None:
        self._operator = operator

    async def run(
        self, command: str, *, on_progress: OnProgress | None = None, starts: bool = True, **params: Any
    ) -> dict[str, Any]:
        return await self._operator.run(command, on_progress=on_progress, **params)

    def on_change(self, notify: Callable[[], None]) -> None:
        self._operator.on_change(notify)

    async def close(self) -> None:
        await self._operator.close()


async def accompany(operator: Operator) -> None:
    """`serve_beside` for the runtime of an operator that holds the workspace; it ends with that.

    Raises `CommandFailed`, and then the operator is closed.
    """
    assert isinstance(operator, LocalOperator)  # whoever holds it is in this process
    try:
        server = await asyncio.to_thread(serve_beside, operator.kernel)
    except CommandFailed:
        await operator.close()
        raise
    operator.beside.append(server.stop)
