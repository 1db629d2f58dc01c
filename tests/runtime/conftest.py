from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.model.call import Actor, CallerType, CallReport, CallRequest
from evatui.runtime import Runtime
from tests.support.workspaces import GREETER, write

ANN = Actor(CallerType.USER, "ann")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    write(root, GREETER)
    return root


@pytest.fixture
async def start(workspace: Path) -> AsyncIterator[Callable[..., Awaitable[Runtime]]]:
    """Opens the workspace, with the options of `Runtime.open`; whatever was opened is closed at the end."""
    opened: list[Runtime] = []

    async def start(**options: Any) -> Runtime:
        opened.append(await Runtime.open(workspace, **options))
        return opened[-1]

    yield start
    for runtime in opened:
        await runtime.close()


async def records(runtime: Runtime, limit: int) -> list[dict[str, Any]]:
    """The newest ones, with those that were only on their way to the log."""
    return await runtime.registry.journal.written(lambda: runtime.audit.tail(limit))


async def call(runtime: Runtime, name: str = "text.greet", payload: Any = None, **fields: Any) -> CallReport:
    return await runtime.call(CallRequest(name, {"name": "ann"} if payload is None else payload, ANN, **fields))
