"""How the program of an MCP server is started, and that it is ended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from evatui.adapters.running import Running
from evatui.kernel.host.credentials import Credential
from evatui.kernel.host.ports import Setting
from evatui.kernel.model.adapter import Adapter

__all__ = ["Start", "Started", "of_the_machine"]


@dataclass(frozen=True, slots=True)
class Started:
    """``secrets`` are what it was given."""

    running: Running
    secrets: list[Credential]


Start = Callable[[Adapter, Setting], AbstractAsyncContextManager[Started]]
"""Raises `CallFailed`; the program is ended where the context is left."""


@asynccontextmanager
async def of_the_machine(adapter: Adapter, setting: Setting) -> AsyncIterator[Started]:
    """A program that is installed, in the folder of the workspace, with nothing but its credentials."""
    secrets = [setting.key(name) for name in adapter.block["env"]]
    environ = {secret.name: secret.value for secret in secrets}
    running = await Running.start(tuple(adapter.block["command"]), setting.root, environ, setting.root)
    try:
        yield Started(running, secrets)
    finally:
        await running.close()
