"""What goes over HTTP, line by line: the answers that clients of both eras count on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.mcp.house import OLD, ORIGIN, TOKENS, House
from tests.support.waiting import until

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}},
}


def opened(house: House, **how: Any) -> str:
    """The id of a session of the era before 2026."""
    answer = house.send(HELLO, **how)
    assert answer.status == 200
    return answer.headers["mcp-session-id"]


@pytest.mark.parametrize("token", [None, "", "wrong", f"{TOKENS['ann']}x"])
def test_without_a_token_there_is_nothing_but_the_way_in(house: House, token: str | None) -> None:
    answer = house.ask("tools/list", token=token)
    assert answer.status == 401
    told = answer.headers["www-authenticate"]
    assert told.startswith('Bearer error="invalid_token"')
    assert f'resource_metadata="http://{house.host}/.well-known/oauth-protected-resource/mcp"' in told


def test_a_client_that_may_see_nothing_lacks_the_scope(house: House) -> None:
    answer = house.ask("tools/list", token=TOKENS["eve"])
    assert (answer.status, answer.json["error"]) == (403, "insufficient_scope")
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]


def test_the_metadata_of_the_resource_need_no_token(house: House) -> None:
    path = "/.well-known/oauth-protected-resource/mcp"
    answer = house.send(None, method="GET", path=path, token=None)
    assert answer.status == 200
    assert answer.json == {
        "resource": f"http://{house.host}/mcp",
        "resource_name": "evatui",
        "scopes_supported": ["tools"],
        "bearer_methods_supported": ["header"],
    }


def test_each_client_sees_its_own_tools(house: House) -> None:
    def names(who: str) -> list[str]:
        return [tool["name"] for tool in house.ask("tools/list", token=TOKENS[who]).json["result"]["tools"]]

    assert names("bob") == ["test_echo", "test_slow"]
    assert {"plain_shown", "test_typed", *names("bob")} < set(names("ann"))


@pytest.mark.parametrize("token", [None, TOKENS["ann"]])
@pytest.mark.parametrize("path", ["/mcp", "/.well-known/oauth-protected-resource/mcp", "/anything"])
def test_another_page_or_name_is_stopped_on_every_route(house: House, token: str | None, path: str) -> None:
    evil = house.send({}, token=token, path=path, headers={"Origin": "https://evil.example"})
    assert (evil.status, evil.body) == (403, b"Invalid Origin header")
    for host in ("evil.example", f"evil.example:{house.host.split(':')[1]}", "127.0.0.1", "localhost:1"):
        rebound = house.send({}, token=token, path=path, headers={"Host": host})
        assert (rebound.status, rebound.body) == (421, b"Invalid Host header")


@pytest.mark.parametrize(
    "origin", [f"{ORIGIN}.evil.example", f"{ORIGIN}:8443", "null", f"{ORIGIN}/", "HTTPS://APP.EXAMPLE"]
)
def test_origins_are_compared_exactly(house: House, origin: str) -> None:
    assert house.ask("tools/list", headers={"Origin": origin}).status == 403
    assert house.ask("tools/list", headers={"Origin": ORIGIN}).status == 200


def test_this_machine_has_two_names(house: House) -> None:
    port = house.host.split(":")[1]
    assert house.ask("tools/list", headers={"Host": f"localhost:{port}"}).status == 200


def test_only_json_is_read(house: House) -> None:
    assert house.ask("tools/list", headers={"Content-Type": "text/plain"}).status == 400
    assert house.send(HELLO, headers={"Content-Type": "text/plain"}).status == 400


def test_a_body_has_a_limit(house: House) -> None:
    huge = {"name": "test_echo", "arguments": {"x": "y" * (3 << 20)}}
    assert house.ask("tools/call", huge).status == 413
    assert house.send(b'"' + b"x" * (3 << 20) + b'"').status == 413


@pytest.mark.parametrize(
    "body", [b"[]", b"{", b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', b'{"id": {}}', b"\xff"]
)
@pytest.mark.parametrize("version", [None, "2026-07-28"])
def test_what_is_no_message_is_refused_in_few_words(house: House, body: bytes, version: str | None) -> None:
    answer = house.send(body, headers={"MCP-Protocol-Version": version})
    assert (answer.status, answer.error["code"]) in [(400, -32602), (400, -32600), (400, -32700)]
    assert len(answer.error["message"]) < 80
    assert b"pydantic" not in answer.body


def test_the_headers_must_say_what_the_body_says(house: House) -> None:
    call = ("tools/call", {"name": "test_echo", "arguments": {}})
    for wrong in ({"Mcp-Method": None}, {"Mcp-Method": "tools/list"}, {"Mcp-Name": "other"}, {"Mcp-Name": None}):
        answer = house.ask(*call, headers=wrong)
        assert (answer.status, answer.error["code"]) == (400, -32020), wrong


def test_an_argument_that_is_bound_to_a_header_must_equal_it(house: House) -> None:
    """Also of the first request of all, before anybody has listed the tools."""
    call = ("tools/call", {"name": "test_bound", "arguments": {"n": "one"}})
    assert house.ask(*call, headers={"Mcp-Param-Number": "one"}).status == 200
    answer = house.ask(*call, headers={"Mcp-Param-Number": "two"})
    assert (answer.status, answer.error["code"]) == (400, -32020)


def test_an_unknown_version_is_told_the_known_one(house: House) -> None:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/list",
        "params": {
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2031-01-01",
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        },
    }
    answer = house.send(body, headers={"MCP-Protocol-Version": "2031-01-01", "Mcp-Method": "tools/list"})
    assert (answer.status, answer.error["code"]) == (400, -32022)
    assert answer.error["data"]["supported"] == ["2026-07-28"]


@pytest.mark.parametrize("method", ["no/such", "resources/list", "resources/templates/list", "logging/setLevel"])
def test_what_is_not_served_is_not_found(house: House, method: str) -> None:
    answer = house.ask(method)
    assert (answer.status, answer.error["code"]) == (404, -32601)


def test_a_session_that_is_not_known_is_not_found(house: House) -> None:
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    unknown = house.send(ping, headers={"Mcp-Session-Id": "0" * 32})
    assert (unknown.status, unknown.error["code"], unknown.error["message"]) == (404, -32600, "Session not found")
    assert house.send(ping).status == 400  # neither a session nor the beginning of one


def test_a_session_belongs_to_whoever_began_it(house: House) -> None:
    session, ping = opened(house), {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert house.send(ping, headers={"Mcp-Session-Id": session}).status == 200
    other = house.send(ping, headers={"Mcp-Session-Id": session}, token=TOKENS["bob"])
    assert (other.status, other.error["message"]) == (404, "Session not found")
    assert house.send(ping, headers={"Mcp-Session-Id": session}, token=None).status == 401


def test_sessions_have_random_names_and_end_when_told(house: House) -> None:
    first, second = opened(house), opened(house)
    assert first != second
    assert len(first) >= 32
    assert house.send(method="DELETE", headers={"Mcp-Session-Id": first}).status == 200
    assert house.send({"jsonrpc": "2.0", "id": 2, "method": "ping"}, headers={"Mcp-Session-Id": first}).status == 404


def test_who_is_connected_is_told_until_the_session_ends(house: House) -> None:
    def mine() -> list[Any]:
        found = house.asked("mcp.server")["sessions"]
        return [row for row in found if row["client"] == "old 1" and row["last_call"] == "test_echo"]

    session = {"Mcp-Session-Id": opened(house)}
    assert house.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session).status == 202
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "test_echo", "arguments": {}}}
    assert house.send(call, headers=session).status == 200
    [row] = mine()
    assert (row["principal"], row["transport"], row["protocol"], row["calls"]) == ("ann", "http", OLD, 1)
    assert session["Mcp-Session-Id"] not in str(row)  # it is as good as a key, and nobody else's
    house.send(method="DELETE", headers=session)
    asyncio.run(until(lambda: not mine()))


def test_who_never_said_that_it_was_ready_is_gone_as_well(house: House) -> None:
    session = {"Mcp-Session-Id": opened(house)}
    assert house.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, headers=session).status == 200
    there = lambda: [row for row in house.asked("mcp.server")["sessions"] if row["client"] == "old 1"]  # noqa: E731
    assert there()
    house.send(method="DELETE", headers=session)
    asyncio.run(until(lambda: not there()))


def test_the_era_since_2026_has_no_sessions(house: House) -> None:
    answer = house.ask("tools/list")
    assert "mcp-session-id" not in answer.headers
    assert house.send(method="GET", headers={"MCP-Protocol-Version": "2026-07-28"}).status == 405


def test_what_the_server_can_is_said_in_both_eras(house: House) -> None:
    can = {"tools": {"listChanged": True}, "prompts": {"listChanged": True}}
    old = house.send(HELLO).json["result"]
    assert (old["capabilities"], old["protocolVersion"]) == (can, OLD)
    new = house.ask("server/discover").json["result"]
    assert (new["capabilities"], new["supportedVersions"]) == (can, ["2026-07-28"])
    assert "instructions" in new


def test_a_list_is_for_this_client_and_for_now(house: House) -> None:
    result = house.ask("tools/list").json["result"]
    assert (result["ttlMs"], result["cacheScope"], result["resultType"]) == (0, "private", "complete")
    assert "nextCursor" not in result


def test_a_cursor_that_nobody_gave_is_refused(house: House) -> None:
    for cursor in ("", "200", "x.200"):
        assert house.ask("tools/list", {"cursor": cursor}).error["code"] == -32602


def test_streams_are_not_kept_back_by_proxies(house: House) -> None:
    answer = house.ask("tools/call", {"name": "test_steps", "arguments": {}, "_meta": {"progressToken": 1}})
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
