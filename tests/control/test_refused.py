"""Why an operator is not let in is said to it, however the closing of the connection and its first order meet."""

from __future__ import annotations

import socket
import tempfile
import threading

import pytest

from evatui.control.operator import CommandFailed
from evatui.control.remote import connect
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.workspace.lock import Holder


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
        late = await connect(Holder(1, "here", f"{folder}/s"), Actor(CallerType.CLI, "late"))
        assert closed.wait(60)  # on the loop, which so has read nothing yet
        with pytest.raises(CommandFailed, match="answers no more operators: it is full"):
            await late.run("status")
        await late.close()
