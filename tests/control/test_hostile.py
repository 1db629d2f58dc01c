"""Whoever comes to the control socket with anything at all is bounded, told what is wrong, and harms nobody else."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode, open_workspace
from evatui.control.wire import MAX_REQUEST
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.errors import ErrorKind
from tests.support.waiting import until
from tests.support.workspaces import GREETER, write

STATUS = b'{"id": 1, "method": "run", "params": {"command": "status"}}\n'
METRICS = b'{"id": 1, "method": "run", "params": {"command": "metrics"}}\n'


@pytest.fixture
def socket(holder: LocalOperator) -> Path:
    return Path(holder.kernel.address)


class Client:
    """Sends bytes, and reads what comes back line by line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def at(cls, socket: Path) -> Client:
        return cls(*await asyncio.open_unix_connection(socket, limit=1 << 26))

    async def says(self, data: bytes) -> dict[str, Any]:
        self.writer.write(data)
        return await self.hears()

    async def hears(self) -> dict[str, Any]:
        line = await asyncio.wait_for(self.reader.readline(), 60)
        return json.loads(line) if line else {}

    async def hangs_up(self) -> None:
        self.writer.close()
        await asyncio.wait({asyncio.ensure_future(self.writer.wait_closed())})


async def serves(socket: Path) -> bool:
    """Does somebody else get an answer?"""
    other = await Client.at(socket)
    answer = await other.says(STATUS)
    await other.hangs_up()
    return bool(answer["result"]["runtime"])


async def dropped(holder: LocalOperator) -> list[str]:
    events = (await holder.run("events"))["events"]
    return [e["payload"]["cause"] for e in events if e["topic"] == "/runtime/operator_dropped"]


GARBAGE = [
    (b"\x00\xff garbage\n", -32700),
    (b"[" * 100_000 + b"\n", -32700),
    (b"GET / HTTP/1.1\r\n", -32700),
    (b"[1, 2]\n", -32600),
    (b'"text"\n', -32600),
    (b"{}\n", -32600),
    (b'{"method": 7}\n', -32600),
    (b'{"method": "run", "params": [1]}\n', -32600),
    (b'{"method": "explode"}\n', -32601),
    (b'{"method": "run"}\n', -32602),
    (b'{"method": "run", "params": {"command": "status", "arguments": 7}}\n', -32602),
    (b'{"method": "snapshot", "params": {"events": "all"}}\n', -32602),
    (b'{"method": "snapshot", "params": {"events": 1e999}}\n', -32700),
    (b'{"method": "run", "params": {"command": "no.such"}}\n', -32000),
]


async def test_garbage_gets_a_named_error_and_the_next_line_an_answer(socket: Path) -> None:
    client = await Client.at(socket)
    for line, code in GARBAGE:
        answer = await client.says(line)
        assert (answer["id"], answer["error"]["code"]) == (None, code), line
        assert answer["error"]["message"]
        assert (await client.says(STATUS))["result"]["runtime"]
    await client.hangs_up()


async def test_a_line_without_an_end_is_cut_off_with_a_reason(socket: Path, holder: LocalOperator) -> None:
    client = await Client.at(socket)
    client.writer.write(b"x" * (MAX_REQUEST + 1))
    told = await client.hears()
    assert told["method"] == "closing"
    assert f"{MAX_REQUEST:,} bytes" in told["params"]["reason"]
    assert await serves(socket)
    assert len(await dropped(holder)) == 1
    await client.hangs_up()


async def test_half_a_line_and_then_silence_keeps_nobody_waiting(socket: Path, holder: LocalOperator) -> None:
    silent = [await Client.at(socket) for _ in range(8)]
    for client in silent:
        client.writer.write(STATUS[:-9])
    assert await serves(socket)
    assert (await silent[0].says(STATUS[-9:]))["result"]["runtime"]
    for client in silent:
        await client.hangs_up()


async def test_ten_thousand_requests_at_once_are_answered_each_and_others_between(
    socket: Path, holder: LocalOperator
) -> None:
    client = await Client.at(socket)
    client.writer.write(b'{"id": 1, "method": "run", "params": {"command": "no.such"}}\n' * 10_000)
    assert await serves(socket)
    server = holder.kernel._server
    for count in range(10_000):
        assert (await client.hears())["id"] == 1
        if count % 1000 == 0:
            assert all(len(peer._asked) <= 64 for peer in server._peers)
    await client.hangs_up()


async def test_who_never_reads_is_hung_up_on_and_that_is_told(
    socket: Path, holder: LocalOperator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evatui.control.outbox._STALL_S", 0.05)
    monkeypatch.setattr("evatui.control.outbox._GRACE_S", 0.05)
    deaf = await Client.at(socket)
    deaf.writer.transport.pause_reading()
    deaf.writer.write(METRICS * 10_000)
    while not await dropped(holder):
        assert await serves(socket)
    assert await dropped(holder) == ["it does not read what it is sent"]
    await until(lambda: len(holder.kernel._server._connections) == 0)
    await deaf.hangs_up()


async def test_a_slow_reader_still_finds_out_why_it_was_dropped(
    socket: Path, holder: LocalOperator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evatui.control.outbox._STALL_S", 0.05)
    slow = await Client.at(socket)
    slow.writer.transport.pause_reading()
    slow.writer.write(METRICS * 1000)
    while not await dropped(holder):
        await asyncio.sleep(0.01)
    slow.writer.transport.resume_reading()
    heard = [await slow.hears()]
    while heard[-1]:
        heard.append(await slow.hears())
    assert heard[-2] == {
        "jsonrpc": "2.0",
        "method": "closing",
        "params": {"reason": "it does not read what it is sent"},
    }
    assert all("result" in answer for answer in heard[:-2])
    await slow.hangs_up()


async def test_notices_do_not_pile_up_before_who_does_not_read(
    socket: Path, holder: LocalOperator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evatui.control.outbox._NOTICES", 0)
    monkeypatch.setattr("evatui.control.outbox._GRACE_S", 0.05)
    watcher = await Client.at(socket)
    watcher.writer.transport.pause_reading()
    watcher.writer.write(b'{"id": 1, "method": "snapshot"}\n' * 500)
    await until(lambda: holder.kernel._server._peers)
    while not await dropped(holder):
        await holder.run("capability.call", name="text.greet", payload={"name": "bob"})
    await watcher.hangs_up()


async def test_there_is_room_for_a_number_of_operators_and_the_next_is_told(
    socket: Path, tmp_path: Path, holder: LocalOperator
) -> None:
    several = [await Client.at(socket) for _ in range(64)]
    await until(lambda: len(holder.kernel._server._connections) == 64)
    late = await open_workspace(
        tmp_path / "ws", state_dir=None, mode=OpenMode.ATTACH, actor=Actor(CallerType.CLI, "late")
    )
    with pytest.raises(CommandFailed, match="64 operators are attached already") as failed:
        await late.run("status")
    assert (failed.value.kind, failed.value.retryable) == (ErrorKind.UNAVAILABLE, True)
    await late.close()
    await several.pop().hangs_up()
    await until(lambda: len(holder.kernel._server._connections) == 63)
    assert await serves(socket)
    for client in several:
        await client.hangs_up()


async def test_a_request_too_long_for_the_socket_is_not_even_sent(
    socket: Path, tmp_path: Path, holder: LocalOperator
) -> None:
    attached = await open_workspace(
        tmp_path / "ws", state_dir=None, mode=OpenMode.ATTACH, actor=Actor(CallerType.CLI, "ann")
    )
    with pytest.raises(CommandFailed) as failed:
        await attached.run("capability.call", name="text.greet", payload={"name": "x" * MAX_REQUEST})
    assert failed.value.kind is ErrorKind.INPUT_TOO_LARGE
    assert (await attached.run("status"))["runtime"]
    await attached.close()


async def test_an_answer_too_long_for_the_socket_is_an_error_of_its_own(
    socket: Path, tmp_path: Path, holder: LocalOperator, monkeypatch: pytest.MonkeyPatch
) -> None:
    attached = await open_workspace(
        tmp_path / "ws", state_dir=None, mode=OpenMode.ATTACH, actor=Actor(CallerType.CLI, "ann")
    )
    monkeypatch.setattr("evatui.control.outbox.MAX_ANSWER", 100)
    with pytest.raises(CommandFailed) as failed:
        await attached.run("status")
    assert failed.value.kind is ErrorKind.OUTPUT_TOO_LARGE
    await attached.close()


async def test_an_answer_that_is_no_json_is_an_error_and_no_silence(
    socket: Path, holder: LocalOperator, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_json(*_: object) -> dict[str, Any]:
        return {"found": object()}

    monkeypatch.setattr(holder.kernel.desk, "run", no_json)
    client = await Client.at(socket)
    answer = await client.says(STATUS)
    assert (answer["id"], answer["error"]["data"]["kind"]) == (1, "Internal")
    await client.hangs_up()


async def test_who_has_left_before_the_system_could_tell_who_it_was_is_refused(
    socket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: object) -> int:
        raise OSError(57, "Socket is not connected")

    with monkeypatch.context() as patched:
        patched.setattr("evatui.control.credentials._user_of", gone)
        client = await Client.at(socket)
        assert (await client.hears())["method"] == "refused"
    await client.hangs_up()
    assert await serves(socket)


_AS_ANOTHER = """
import os, socket, sys
os.setuid(65534)
there = socket.socket(socket.AF_UNIX)
there.connect(sys.argv[1])
print(there.makefile().readline())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system must tell who connects")
async def test_another_user_is_refused_even_where_the_socket_is_open_to_all(
    holder: LocalOperator, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        monkeypatch.setattr("evatui.control.credentials.os.geteuid", lambda: 65533)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        path = Path(folder) / "open.sock"
        os.chmod(folder, 0o755)
        server = holder.kernel._server
        opening = holder.kernel.submit(holder.kernel._loop.create_unix_server(server._connection, path))
        listening = await asyncio.wrap_future(opening)
        os.chmod(path, 0o666)
        if os.geteuid() == 0:
            done = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-c", _AS_ANOTHER, str(path)],
                capture_output=True,
                text=True,
                check=True,
            )
            told = json.loads(done.stdout)
        else:
            client = await Client.at(path)
            told = await client.hears()
        assert told["method"] == "refused"
        assert told["params"]["reason"] == "it belongs to another user"
        holder.kernel._loop.call_soon_threadsafe(listening.close)


async def test_without_unix_sockets_only_the_token_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evatui.control.server._unix_places", lambda state_dir: [])
    write(tmp_path, GREETER)
    ann = Actor(CallerType.USER, "ann")
    holder = await open_workspace(tmp_path, state_dir=None, mode=OpenMode.HOLD, actor=ann)
    host, _, port = holder.kernel.address.rpartition(":")
    for wrong in (b"0" * 64 + b"\n" + STATUS, STATUS, b""):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(wrong)
        writer.write_eof()
        assert await asyncio.wait_for(reader.read(), 60) == b""
        writer.close()
    attached = await open_workspace(tmp_path, state_dir=None, mode=OpenMode.ATTACH, actor=ann)
    assert (await attached.run("status"))["runtime"]
    await attached.close()
    await holder.close()
