"""``eva mcp serve --stdio`` as clients start it: a process, and its pipes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from evatui.cli.main import run
from evatui.mcp.pipes import _Came, _Going
from tests.mcp.house import FILES, House
from tests.support.waiting import until
from tests.support.workspaces import write

ROOT = Path(__file__).parents[2]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Raw:
    """The process, and lines as they are."""

    def __init__(
        self, root: Path, code: str = "from evatui.cli.main import main; main()", *, sockets: bool = False
    ) -> None:
        """With ``sockets`` in the place of pipes, as programs in Node start theirs."""
        pairs = [socket.socketpair() for _ in range(2)] if sockets else []
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, "-w", root.name, "mcp", "serve", "--stdio"],
            stdin=pairs[0][1] if pairs else subprocess.PIPE,
            stdout=pairs[1][1] if pairs else subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            cwd=root.parent,
        )
        files = (pairs[0][0].makefile("wb"), pairs[1][0].makefile("rb")) if pairs else ()
        for end in (end for pair in pairs for end in pair):
            end.close()  # the files keep what they need
        into, out = files or (self.process.stdin, self.process.stdout)
        assert into
        assert out
        self.into, self.out = into, out

    def tell(self, message: Any) -> None:
        self.into.write(json.dumps(message).encode() + b"\n")
        self.into.flush()

    def ask(self, message: Any) -> Any:
        self.tell(message)
        return json.loads(self.out.readline())

    def end(self) -> tuple[int, bytes, bytes]:
        """Closes its input; the exit code, and the rest that it wrote."""
        with contextlib.suppress(BrokenPipeError):
            self.into.close()
        said = self.out.read(), self.process.stderr.read() if self.process.stderr else b""
        return self.process.wait(30), *said


NOISY = """
import atexit, os, subprocess, sys
from evatui.mcp import stdio
bridge = stdio._bridge
async def noisy(attached):
    from evatui.mcp.server import ToolServer
    call = ToolServer._call
    async def shout(self, ctx):
        print("printed")                                     # into a buffer that is flushed at the very end
        os.write(1, b"written\\n")
        subprocess.run([sys.executable, "-c", "print('a child')"])
        return await call(self, ctx)
    ToolServer._call = shout
    atexit.register(print, "at the end")
    await bridge(attached)
stdio._bridge = noisy
from evatui.cli.main import main
main()
"""


def test_where_nobody_holds_the_workspace_a_runtime_is_started_and_stays(tmp_path: Path) -> None:
    """And nothing but the protocol is on standard output meanwhile."""
    write(tmp_path, {name: text for name, text in FILES.items() if name != "eva.yaml"})
    raw = Raw(tmp_path, NOISY)
    assert raw.ask(HELLO)["result"]["serverInfo"]["name"] == "evatui"
    process = psutil.Process(json.loads((tmp_path / ".eva/lock").read_text())["pid"])
    try:
        assert process.pid != raw.process.pid
        assert "--idle-exit" in process.cmdline()
        assert os.getsid(process.pid) == process.pid
        raw.tell(READY)
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "test_echo", "arguments": {}}}
        assert raw.ask(call)["result"]["isError"] is False
        code, out, err = raw.end()
        assert (code, out) == (0, b"")
        for noise in (b"printed", b"written", b"a child", b"at the end"):
            assert noise in err
        assert process.is_running()
    finally:
        raw.process.kill()
        process.terminate()
        psutil.wait_procs([process], 30)


async def test_a_line_that_no_message_can_have_is_the_end() -> None:
    reader = asyncio.StreamReader(16)
    reader.feed_data(b"x" * 40)
    assert [message async for message in _Came(reader, _Nobody())] == []


class _Nobody(_Going):
    """Who hears nothing."""

    def __init__(self) -> None:
        """No wire."""


def test_a_client_that_dies_takes_its_bridge_along_and_its_calls(house: House) -> None:
    raw = Raw(house.root, sockets=True)
    slow = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "test_slow", "arguments": {}}}
    try:
        garbage = [
            b"no message",
            b"[1, 2]",
            b"\xff",
            b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
            b'{"x": NaN}',
        ]
        raw.into.write(b"\n".join([b"", *garbage, b"\r\n"]))
        assert raw.ask(HELLO)["error"] == {"code": -32700, "message": "Parse error"}
        told = [json.loads(raw.out.readline()) for _ in garbage]
        assert [one["error"]["code"] for one in told[:-1]] == [-32600, -32700, -32600, -32700]
        assert told[-1]["result"]["serverInfo"]["name"] == "evatui"
        raw.tell(READY)
        raw.tell(slow)
        asyncio.run(until(lambda: house.kernel.in_flight == 1))
        raw.tell({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
        asyncio.run(until(lambda: house.kernel.in_flight == 0))
        assert raw.ask({"jsonrpc": "2.0", "id": 3, "method": "ping"}) == {"jsonrpc": "2.0", "id": 3, "result": {}}
        raw.tell({**slow, "id": 4})
        asyncio.run(until(lambda: house.kernel.in_flight == 1))
        raw.out.close()  # the other pipe stays open, as where a grandchild holds it
        assert raw.process.wait(30) == 0
        assert raw.process.stderr
        assert raw.process.stderr.read() == b""
        asyncio.run(until(lambda: house.kernel.in_flight == 0))
    finally:
        raw.process.kill()


def test_why_no_runtime_can_be_had_is_said_where_clients_look(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {"eva.yaml": "version: 2\n", "capabilities/x.txt": ""})
    assert run(["-w", str(tmp_path), "-o", "json", "mcp", "serve", "--stdio"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert "eva.yaml" in err
