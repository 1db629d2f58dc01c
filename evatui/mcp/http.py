"""MCP over HTTP, in a thread of its own: for a runtime in this process, or for one that another process holds."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from evatui.mcp.asking import Runs
from evatui.mcp.borders import borders_of
from evatui.mcp.token_file import local_token

__all__ = ["Address", "HttpServer", "McpSettings"]

_GRACE_S = 2
_AT_ONCE = 512
"""Connections; a further one is answered 503."""
_ENDS_WITHIN_S = 10.0


for _name in ("uvicorn", "uvicorn.error"):  # a screen is no place for what goes wrong with a connection
    logging.getLogger(_name).addHandler(logging.NullHandler())
    logging.getLogger(_name).propagate = False


class McpSettings(Protocol):
    @property
    def bind(self) -> str: ...

    @property
    def allowed_hosts(self) -> tuple[str, ...]: ...

    @property
    def allowed_origins(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, and which names of that place and which pages are let in besides its own."""

    host: str
    port: int
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: McpSettings, bind: str | None = None) -> Address:
        """That of eva.yaml's ``mcp_server``, or ``bind`` in the place of its own."""
        host, _, port = (bind or settings.bind).rpartition(":")
        return cls(host.strip("[]"), int(port), settings.allowed_hosts, settings.allowed_origins)


class HttpServer:
    """Listens from the moment it is made, and serves until `stop`. Every method is for any thread."""

    def __init__(self, runs: Callable[[], Awaitable[Runs]], state_dir: Path, address: Address) -> None:
        """Blocking. ``runs`` is called on the server's own loop.

        Raises `CommandFailed` where it may not or cannot listen there, or nobody's token would be good.
        """
        borders_of(address.host, 0, address.allowed_hosts, address.allowed_origins)
        self._socket = _bound(address)
        self._port = self._socket.getsockname()[1]
        self._borders = borders_of(address.host, self._port, address.allowed_hosts, address.allowed_origins)
        self._host = f"[{address.host}]" if ":" in address.host else address.host
        self._state_dir = state_dir
        self._runs = runs
        self._stop: Callable[[], None] = lambda: None
        started: Future[None] = Future()
        self._thread = threading.Thread(target=self._serve, args=(started,), name="eva-mcp-http", daemon=True)
        self._thread.start()
        started.result()

    @property
    def url(self) -> str:
        from evatui.mcp.app import PATH

        return f"http://{self._host}:{self._port}{PATH}"

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        """Ends streams in good order, then connections; blocking, and safe to call twice."""
        self._stop()
        self._thread.join(_ENDS_WITHIN_S)

    def _serve(self, started: Future[None]) -> None:
        try:
            asyncio.run(self._main(started))
        except Exception as problem:
            if not started.done():
                started.set_exception(problem)
        finally:
            self._socket.close()

    async def _main(self, started: Future[None]) -> None:
        import uvicorn

        from evatui.mcp.app import make_app, who_asks
        from evatui.mcp.connection import Connection
        from evatui.mcp.server import ToolServer
        from evatui.mcp.tokens import Verifier

        runs = await self._runs()
        base = f"http://{self._host}:{self._port}"
        token = await asyncio.to_thread(local_token, self._state_dir)
        server, verifier = ToolServer(runs, who_asks), Verifier(runs, f"{base}/mcp", token)
        await verifier.learn()
        app = make_app(server, verifier, self._borders, base)
        serving = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                http=Connection,
                limit_concurrency=_AT_ONCE,
                timeout_graceful_shutdown=_GRACE_S,
                lifespan="on",
            )
        )
        loop = asyncio.get_running_loop()

        def stop() -> None:
            server.changes.close()
            serving.should_exit = True

        self._stop = lambda: _on(loop, stop)
        started.set_result(None)  # whoever connects from now on waits in the backlog
        try:
            await serving.serve(sockets=[self._socket])
        finally:
            await runs.close()


def _on(loop: asyncio.AbstractEventLoop, work: Callable[[], Any]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(work)


def _bound(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family, backlog=128)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        message = f"MCP cannot be served at {address.host}:{address.port}: {reason}"
        raise CommandFailed(ErrorKind.UNAVAILABLE, message, suggestion="mcp_server.bind in eva.yaml") from None
