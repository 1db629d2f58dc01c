"""A runtime that ends takes no more orders, and answers whoever looks at it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode
from evatui.kernel.model.errors import ErrorKind
from tests.control.conftest import SPIN
from tests.control.crowd import opened
from tests.support.waiting import until
from tests.support.workspaces import GREETER, tool, write


async def test_no_order_is_taken_while_calls_are_let_go_to_their_end(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    write(root, {**GREETER, **tool("spin", SPIN, limits="{timeout_ms: 60000}")})
    write(root, {"eva.yaml": "runtime: {shutdown_timeout_ms: 60000}\n"})
    holder = await opened(root, OpenMode.HOLD)
    assert isinstance(holder, LocalOperator)
    attached = await opened(root, OpenMode.ATTACH)
    running = asyncio.create_task(attached.run("capability.call", name="test.spin", payload={}))
    await until(lambda: holder.kernel.in_flight)
    closing = asyncio.create_task(holder.close())
    await until(lambda: holder.kernel._runtime.calls.ending)
    for order, params in (("capability.reload", {}), ("capability.disable", {"id": "greet"}), ("runtime.freeze", {})):
        with pytest.raises(CommandFailed, match="the runtime ends") as failed:
            await attached.run(order, **params)
        assert (failed.value.kind, failed.value.retryable) == (ErrorKind.UNAVAILABLE, True)
    assert (await attached.run("status"))["in_flight"] == 1
    holder.cut()
    await closing
    await asyncio.wait([running])
    await attached.close()
    again = await opened(root, OpenMode.READ)
    assert (await again.run("status"))["frozen"] is None
    await again.close()
