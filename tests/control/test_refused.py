"""What is refused is said to whoever asked for it, and nothing follows from it."""

from __future__ import annotations

import asyncio
import json
import socket
import tempfile
import threading

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.local import LocalOperator
from evatui.control.remote import RemoteOperator, connect
from evatui.control.stream import dial
from evatui.control.wire import MAX_ANSWER
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.workspace.lock import Holder

LATE = Actor(CallerType.CLI, "late")


def refuse(listening: socket.socket, closed: threading.Event) -> None:
    there, _ = listening.accept()
    there.sendall(b'{"jsonrpc": "2.0", "method": "refused", "params": {"reason": "it is full"}}\n')
    there.close()
    closed.set()


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs Unix sockets")
async def test_the_reason_is_read_also_by_who_writes_after_the_connection_was_closed() -> None:
    closed = threading.Event()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{folder}/s")
        listening.listen()
        threading.Thread(target=refuse, args=(listening, closed)).start()
        late = RemoteOperator(*await dial(f"{folder}/s", MAX_ANSWER), LATE, Holder(1, "here", f"{folder}/s"))
        assert closed.wait(60)  # on the loop, which so has read nothing yet
        with pytest.raises(CommandFailed, match="answers no more operators: it is full"):
            await late.run("status")
        await late.close()


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs Unix sockets")
async def test_a_runtime_that_was_stopped_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evatui.control.remote._ANSWER_S", 0.05)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{folder}/s")
        listening.listen()
        with pytest.raises(CommandFailed, match="pid 1 holds the workspace, but its control socket does not answer"):
            await connect(Holder(1, "here", f"{folder}/s"), LATE)


async def test_whose_snapshot_was_refused_is_told_of_no_change(holder: LocalOperator) -> None:
    address = holder.kernel.address
    assert address is not None
    reader, writer = await asyncio.open_unix_connection(address, limit=1 << 26)
    writer.write(b'{"id": 1, "method": "snapshot", "params": {"events": "all"}}\n')
    assert json.loads(await reader.readline())["error"]["code"] == -32602
    await holder.run("capability.call", name="text.greet", payload={"name": "bob"})
    writer.write(b'{"id": 2, "method": "run", "params": {"command": "status"}}\n')
    assert json.loads(await reader.readline())["id"] == 2
    writer.close()
    await writer.wait_closed()
