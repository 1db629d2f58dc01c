"""HTTP beside the runtime of a console: it begins and ends with that, and a console shows where it is."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode
from evatui.control.snapshot import Cursor
from evatui.mcp.serving import accompany
from tests.control.crowd import opened
from tests.mcp.house import FILES, POLICY, House, policy
from tests.support.workspaces import write


async def test_a_console_that_holds_the_workspace_serves_clients_until_it_ends(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, POLICY: policy({"ann": "token-of-ann"})})
    operator = await opened(tmp_path, OpenMode.HOLD)
    assert isinstance(operator, LocalOperator)
    await accompany(operator)
    url = (await operator.snapshot(Cursor())).runtime.mcp
    house = House.__new__(House)
    house.host = url.split("/")[2]
    async with asyncio.timeout(30):
        answer = await asyncio.to_thread(house.ask, "tools/call", {"name": "test_echo", "arguments": {}})
        assert answer.json["result"]["isError"] is False
        status = await operator.run("status")
        assert status["mcp"] == {"url": url, "clients": 1}
        [row] = (await operator.snapshot(Cursor())).clients
        assert (row.principal, row.transport, row.client, row.last_call) == ("ann", "http", "tests 1", "test_echo")
        await operator.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(house.host.split(":")).close()


async def test_where_it_cannot_listen_the_runtime_ends_as_well(tmp_path: Path) -> None:
    write(tmp_path, {"eva.yaml": "mcp_server: {bind: '0.0.0.0:0'}\n"})
    operator = await opened(tmp_path, OpenMode.HOLD)
    with pytest.raises(CommandFailed, match="reached from other machines"):
        await accompany(operator)
    again = await opened(tmp_path, OpenMode.HOLD)  # the lock is free
    await again.close()
