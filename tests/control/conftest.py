"""A workspace, the runtime that holds it, and an operator of it: in the process, and over the socket among others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode
from evatui.control.operator import Operator
from evatui.control.snapshot import Cursor
from tests.control.crowd import opened, watchers
from tests.support.workspaces import GREETER, tool, write

SPIN = "function invoke(ctx, request) while true do end end"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    write(root, {**GREETER, **tool("spin", SPIN, limits="{timeout_ms: 20000}", reload="{drain_timeout_ms: 50}")})
    write(root, {"eva.yaml": "runtime: {shutdown_timeout_ms: 1000}\n"})
    return root


@pytest.fixture
async def holder(workspace: Path) -> AsyncIterator[LocalOperator]:
    operator = await opened(workspace, OpenMode.HOLD)
    assert isinstance(operator, LocalOperator)
    while not (await operator.snapshot(Cursor())).audit:  # the record of the start is written in the background
        await asyncio.sleep(0.005)
    yield operator
    await operator.close()


@pytest.fixture(params=["in the process", "over the socket"])
async def operator(request: pytest.FixtureRequest, holder: LocalOperator, workspace: Path) -> AsyncIterator[Operator]:
    """Over the socket it is one of eight: the others watch, and ask meanwhile."""
    if request.param == "in the process":
        yield holder
        return
    attached = await opened(workspace, OpenMode.ATTACH)
    async with watchers(workspace, 7):
        yield attached
    await attached.close()
