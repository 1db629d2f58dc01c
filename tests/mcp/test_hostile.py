"""A client with a token that keeps to no rule: it is answered, in time, and nobody else notices."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.remote import RemoteOperator
from evatui.mcp.connection import Connection
from tests.mcp.house import OLD, TOKENS, House, housed, modern
from tests.mcp.test_wire import HELLO
from tests.support.waiting import until

CALL = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "test_slow", "arguments": {}}}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


RUDE = {**HELLO, "params": {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "rude", "version": "1"}}}


def opened(house: House, **how: Any) -> str:
    answer = house.send(RUDE, **how)
    assert answer.status == 200
    return answer.headers["mcp-session-id"]


def waited(condition: Callable[[], object]) -> None:
    """What goes on in the server after an answer has left takes a moment."""
    asyncio.run(until(condition))


def raw(house: House, more: str, body: bytes = b"") -> bytes:
    """All that comes until the server hangs up, which it must."""
    head = f"POST /mcp HTTP/1.1\r\nHost: {house.host}\r\nAuthorization: Bearer {TOKENS['ann']}\r\n{more}"
    with socket.create_connection(house.host.split(":"), timeout=60) as line:
        with contextlib.suppress(ConnectionError):
            line.sendall(head.encode("latin-1") + body)
        said = bytearray()
        with contextlib.suppress(ConnectionResetError):  # what it has not read is no reason to keep what it said back
            while part := line.recv(65_536):
                said += part
        return bytes(said)


@pytest.mark.parametrize("id", [None, True, 1.5, [], {}])
def test_what_has_an_id_that_is_none_is_no_notification(house: House, id: Any) -> None:
    session = {"Mcp-Session-Id": opened(house)}
    answer = house.send({**PING, "id": id}, headers=session)
    assert (answer.status, answer.error["code"]) == (400, -32600)
    house.send(method="DELETE", headers=session)


@pytest.mark.parametrize("again", [5, "5"])
def test_an_id_that_is_in_use_is_refused_and_free_after_that(house: House, again: Any) -> None:
    """The SDK would send the answer of the first to the second, and keep the first waiting."""
    session = {"Mcp-Session-Id": opened(house)}
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(house.send, CALL, headers=session)
        waited(lambda: house.kernel.in_flight == 1)
        second = house.send({**CALL, "id": again}, headers=session)
        assert (second.status, second.error["message"]) == (400, "Invalid request: an id is for one request at a time")
        stop = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
        assert house.send(stop, headers=session).status == 202
        first.result(60)
    waited(lambda: house.send({**PING, "id": again}, headers=session).status == 200)
    assert house.ask("tools/call", {"name": "test_echo"}).json["result"]["isError"] is False
    house.send(method="DELETE", headers=session)


@pytest.mark.parametrize("last", ["0", "../../x", "\xff", "x" * 5_000])
def test_a_stream_that_is_to_be_resumed_begins_anew(house: House, last: str) -> None:
    session = opened(house)
    lines = [
        "GET /mcp HTTP/1.1",
        f"Host: {house.host}",
        f"Authorization: Bearer {TOKENS['ann']}",
        "Accept: text/event-stream",
        "Connection: close",
        f"Mcp-Session-Id: {session}",
        f"Last-Event-ID: {last}",
    ]
    with socket.create_connection(house.host.split(":"), timeout=60) as line:
        line.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
        assert line.recv(15) == b"HTTP/1.1 200 OK"
        house.send(method="DELETE", headers={"Mcp-Session-Id": session})
        while line.recv(4_096):
            pass


def test_a_body_that_does_not_come_is_not_waited_for(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evatui.mcp.bodies._WITHIN_S", 0.05)
    said = raw(house, "Connection: close\r\nContent-Length: 90\r\n\r\n", b"{")
    assert said.startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("sent", ["", "X-Half: of a head"])
def test_a_connection_without_a_request_is_closed(house: House, monkeypatch: pytest.MonkeyPatch, sent: str) -> None:
    monkeypatch.setattr("evatui.mcp.connection._HEADERS_S", 0.05)
    with socket.create_connection(house.host.split(":"), timeout=60) as line, contextlib.suppress(ConnectionError):
        line.sendall(sent.encode())
        assert line.recv(100) == b""


def test_one_with_a_request_is_not_however_long_that_takes() -> None:
    closed: list[bool] = []
    line: Any = Connection.__new__(Connection)
    line.loop = SimpleNamespace(call_later=lambda seconds, work: None)
    line.transport = SimpleNamespace(close=lambda: closed.append(True))
    line.cycle = SimpleNamespace(response_complete=False)
    for _ in range(5):
        line._looked()
    line.cycle.response_complete = True
    line._looked()
    assert closed == []  # whoever was just answered has time for the next one
    line.cycle = SimpleNamespace(response_complete=True)
    line._looked()
    assert closed == []
    line._looked()
    assert closed == [True]


def test_one_client_does_not_take_the_sessions_of_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("evatui.mcp.app._SESSIONS_EACH", 2)
    with housed(tmp_path) as small:
        first = opened(small)
        small.send({**RUDE, "params": {}})  # also what was refused is one
        assert small.send(RUDE).status == 503
        opened(small, token=TOKENS["bob"])
        small.send(method="DELETE", headers={"Mcp-Session-Id": first})
        waited(lambda: small.send(RUDE).status == 200)


def test_one_client_does_not_take_the_connections_of_all(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evatui.mcp.bodies._AT_ONCE", 1)
    session = {"Mcp-Session-Id": opened(house)}

    def call() -> None:
        while house.send(CALL, headers=session).status == 503:
            """The one before is not quite over."""

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(call)
        waited(lambda: house.kernel.in_flight == 1)
        full = house.ask("tools/list")
        assert (full.status, full.headers["retry-after"]) == (503, "1")
        assert house.ask("tools/list", token=TOKENS["bob"]).status == 200
        house.kernel.submit(_cut(house)).result()
        slow.result(60)
    house.send(method="DELETE", headers=session)


async def _cut(house: House) -> None:
    house.kernel.cut()


@pytest.mark.parametrize(
    ("more", "body"),
    [
        ("Content-Length: -5\r\n\r\n", b""),
        ("Content-Length: 5\r\nContent-Length: 6\r\n\r\n", b"12345"),
        ("X: " + "y" * 200_000 + "\r\n\r\n", b""),
        ("Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n", b"\x1f\x8b\x08\x00"),
    ],
)
def test_what_is_no_http_is_refused(house: House, more: str, body: bytes) -> None:
    said = raw(house, f"Connection: close\r\n{more}" + ("" if more.endswith("\r\n\r\n") else "\r\n"), body)
    assert said.startswith((b"HTTP/1.1 400", b"HTTP/1.1 406")), said[:200]


def test_the_session_of_another_can_be_neither_heard_nor_ended(house: House) -> None:
    session, bob = {"Mcp-Session-Id": opened(house)}, TOKENS["bob"]
    for method in ("GET", "DELETE", "POST"):
        body = PING if method == "POST" else None
        answer = house.send(body, method=method, token=bob, headers={**session, "Accept": "text/event-stream, */*"})
        assert (answer.status, answer.error["message"]) == (404, "Session not found")
    assert house.send(PING, headers=session).status == 200
    house.send(method="DELETE", headers=session)


def test_a_flood_of_notifications_is_taken_or_refused_and_the_session_stays(house: House) -> None:
    session = {"Mcp-Session-Id": opened(house)}
    notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: house.send(notice, headers=session).status, range(200)))
    assert found <= {202, 503}
    waited(lambda: house.send(PING, headers=session).status == 200)
    house.send(method="DELETE", headers=session)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "18446744073709551616", "9223372036854775808"])
def test_a_number_that_is_none_does_not_become_another(house: House, number: str) -> None:
    body, headers = modern("tools/call", {"name": "test_echo", "arguments": {"x": 12345}})
    answer = house.send(json.dumps(body).replace("12345", number).encode(), headers=headers).json["result"]
    assert answer["isError"] is True
    assert answer["content"][0]["text"].startswith("InvalidInput: ")


async def test_nor_does_it_on_its_way_to_another_process(house: House) -> None:
    from evatui.control.opening import OpenMode
    from tests.control.crowd import opened as attached

    operator = await attached(house.root, OpenMode.ATTACH)
    assert isinstance(operator, RemoteOperator)
    for arguments in ({"x": float("inf")}, {"x": [None, {"y": float("nan")}]}):
        with pytest.raises(CommandFailed, match="a number that is not finite"):
            await operator.run("mcp.call", tool="test_echo", arguments=arguments)
    assert (await operator.run("mcp.call", tool="test_echo", arguments={"x": None}))["response"]["ok"]
    await operator.close()


@pytest.mark.parametrize(
    "params", [{}, {"name": ["x"]}, {"name": "test_echo", "arguments": []}, {"name": "x", "_meta": []}]
)
def test_a_call_that_is_none_is_refused_in_both_eras(house: House, params: Mapping[str, Any]) -> None:
    session = {"Mcp-Session-Id": opened(house)}
    before = house.send({**CALL, "params": params}, headers=session)
    assert (before.error["code"], before.error["message"]) == (-32602, "Invalid request parameters")
    if isinstance(params.get("_meta", {}), dict) and isinstance(params.get("name", ""), str):
        assert house.ask("tools/call", params).error["code"] in (-32602, -32020)
    house.send(method="DELETE", headers=session)


@pytest.mark.parametrize("era", [OLD, None])
def test_what_only_goes_wrong_here_is_not_told(house: House, monkeypatch: pytest.MonkeyPatch, era: str | None) -> None:
    async def broken(*given: Any, **named: Any) -> None:
        raise KeyError("/secret/path of ours")

    monkeypatch.setattr("evatui.mcp.server.answered", lambda *given: 1 / 0)
    monkeypatch.setattr("evatui.mcp.prompts.Prompts._asked", broken)
    session = {"Mcp-Session-Id": opened(house)} if era else {}
    for method, params in (("tools/call", {"name": "test_echo", "arguments": {}}), ("prompts/list", {})):
        sent = {"jsonrpc": "2.0", "id": 3, "method": method, "params": params}
        answer = house.send(sent, headers=session) if era else house.ask(method, params)
        assert (answer.error["code"], answer.error["message"]) == (-32603, "Internal server error")
        assert b"division" not in answer.body
        assert b"secret" not in answer.body
    if era:
        house.send(method="DELETE", headers=session)
