"""Clients that are killed: what they ordered is the runtime's, and nothing else of them stays."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path

import pytest

from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode, open_workspace
from evatui.control.server import Server
from evatui.kernel.model.call import Actor, CallerType
from tests.soak.gone_clients import kill_clients, recorded
from tests.support.waiting import until
from tests.support.workspaces import GREETER, write

DISABLE = b'{"id": 1, "method": "run", "params": {"command": "capability.disable", "arguments": {"id": "greet"}}}'


async def test_clients_killed_at_any_moment_leave_nothing_but_what_they_ordered() -> None:
    report = await kill_clients(20, seed=3)
    assert report.ok, "\n".join(report.lines())


async def test_an_order_of_a_client_that_never_reads_and_breaks_off_is_done_but_half_a_one_is_not(
    tmp_path: Path,
) -> None:
    write(tmp_path / "ws", GREETER)
    ann = Actor(CallerType.USER, "ann")
    holder = await open_workspace(tmp_path / "ws", state_dir=None, mode=OpenMode.HOLD, actor=ann)
    assert isinstance(holder, LocalOperator)
    server = holder.kernel._server

    async def disabled(sent: bytes) -> int:
        _, writer = await asyncio.open_unix_connection(holder.kernel.address)
        writer.transport.pause_reading()  # what lies unread when it goes makes the connection break, not end
        writer.write(sent)
        await writer.drain()
        await until(lambda: server._connections)
        writer.transport.abort()
        await until(lambda: not server._connections and not server._orders)
        records = await recorded(holder, 100)
        return sum(record["code"] == "capability.disabled" for record in records)

    assert await disabled(DISABLE) == 0
    snapshots = b'{"id": 2, "method": "snapshot"}\n' * 100
    assert await disabled(snapshots + DISABLE + b"\n") == 1
    await holder.close()


@pytest.mark.parametrize("turns", range(6))
async def test_who_comes_just_as_the_runtime_ends_is_hung_up_on(tmp_path: Path, turns: int) -> None:
    server = Server()
    address, _ = await server.listen(tmp_path)
    server.serve(None)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(address)
        for _ in range(turns):
            await asyncio.sleep(0)
        await server.stop_accepting()
        await server.close()
        for _ in range(5):  # as many as the runtime still takes to end
            await asyncio.sleep(0)
        client.settimeout(60)
        with contextlib.suppress(ConnectionResetError):
            while client.recv(1000):
                pass
