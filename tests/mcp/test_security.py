"""Who gets in, who stays in, and what each can find out about the others."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.workspace.settings import McpServerSettings
from evatui.mcp.attached import Attached
from evatui.mcp.borders import borders_of
from evatui.mcp.http import Address, HttpServer
from evatui.mcp.token_file import local_token, token_file
from tests.control.crowd import ANN
from tests.mcp.house import ECHO, FILES, POLICY, TOKENS, House, handler, housed, modern, policy
from tests.mcp.test_wire import HELLO, opened
from tests.support.waiting import until
from tests.support.workspaces import save


@pytest.fixture
def own(tmp_path: Path) -> Iterator[House]:
    """One that a test may change."""
    with housed(tmp_path / "ws") as house:
        yield house


def waited(condition: Callable[[], object]) -> None:
    asyncio.run(until(condition))


def listed(house: House, who: str) -> list[str]:
    return [tool["name"] for tool in house.ask("tools/list", token=TOKENS[who]).json["result"]["tools"]]


def test_what_the_policy_takes_away_is_gone_at_the_next_request(own: House) -> None:
    session = opened(own, token=TOKENS["bob"])
    save(own.root, POLICY, policy(TOKENS, deny="[test.echo]"))
    waited(lambda: listed(own, "bob") == ["test_slow"])
    assert own.ask("tools/call", {"name": "test_echo"}, token=TOKENS["bob"]).error["code"] == -32602
    save(own.root, POLICY, policy({**TOKENS, "bob": "another-token"}))
    waited(lambda: own.ask("tools/list", token=TOKENS["bob"]).status == 401)
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    anew = own.send(ping, token="another-token", headers={"Mcp-Session-Id": session})
    assert anew.status == 200  # a session is its client's, whatever token that has by now
    save(own.root, POLICY, policy({"ann": TOKENS["ann"]}))
    waited(lambda: own.ask("tools/list", token="another-token").status == 401)
    assert own.send(ping, token=TOKENS["bob"], headers={"Mcp-Session-Id": session}).status == 401
    assert own.ask("tools/list", token=TOKENS["eve"]).status == 401


async def test_a_client_hears_of_its_own_list_only(own: House) -> None:
    told = []
    async with own.client("2026-07-28", TOKENS["bob"]) as client, client.listen(tools_list_changed=True) as changes:

        async def follow() -> None:
            async for change in changes:
                told.append(change)

        following = asyncio.create_task(follow())
        await client.list_tools()
        save(own.root, "capabilities/typed.yaml", FILES["capabilities/typed.yaml"].replace("Does typed", "Anew"))
        anew = lambda: "Anew" in str(own.ask("tools/list").json)  # noqa: E731
        while not await asyncio.to_thread(anew):
            await asyncio.sleep(0.01)
        assert told == []
        save(own.root, "capabilities/echo.yaml", FILES["capabilities/echo.yaml"].replace("Does echo", "Anew"))
        await until(lambda: told)
        assert "echo" not in str(told)
        following.cancel()


def test_two_clients_with_equal_ids_get_their_own_answers(house: House) -> None:
    def call(n: int) -> tuple[str, Any]:
        who = ("ann", "bob")[n % 2]
        answer = house.ask("tools/call", {"name": "test_echo", "arguments": {"n": n}}, token=TOKENS[who])
        heard = answer.json["result"]["structuredContent"]
        return who, (heard["context"]["caller"]["id"], heard["payload"]["n"] == n)

    with ThreadPoolExecutor(8) as pool:
        assert all(found == (who, True) for who, found in pool.map(call, range(40)))


def test_nothing_that_only_an_operator_may_ask_is_a_tool(house: House) -> None:
    for name in ("status", "capability.reload", "capability_reload", "mcp.identify", "runtime.restart", "policy"):
        assert house.ask("tools/call", {"name": name}).error["code"] == -32602
    for path in ("/", "/admin", "/health", "/metrics", "/mcp/", "/messages", "/sse"):
        assert house.send({}, path=path).status in (404, 307, 405)
        assert house.send(None, method="GET", path=path, token=None).status in (404, 307)


def test_without_principals_a_token_of_this_workspace_is_good(tmp_path: Path) -> None:
    with housed(tmp_path, {**FILES, POLICY: policy({})}) as house:
        path = token_file(tmp_path / ".eva")
        token = path.read_text().strip()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert len(token) >= 32
        heard = house.ask("tools/call", {"name": "test_echo", "arguments": {}}, token=token).json["result"]
        assert heard["structuredContent"]["context"]["caller"] == {"type": "mcp", "id": "local"}
        digest = hashlib.sha256(token.encode()).hexdigest()
        assert house.ask("tools/list", token=digest).status == 401
        save(tmp_path, POLICY, policy(TOKENS))
        waited(lambda: house.ask("tools/list", token=token).status == 401)
        assert house.ask("tools/list").status == 200


def test_only_a_token_that_was_good_starts_a_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    async def start(root: Path, state_dir: Path | None) -> None:
        started.append(root)
        raise CommandFailed(ErrorKind.UNAVAILABLE, "none could be started")

    async def attached() -> Attached:
        runs = Attached(tmp_path, None, ANN)
        await runs.attach()
        return runs

    monkeypatch.setattr("evatui.mcp.attached.start_detached", start)
    with housed(tmp_path) as house:
        server = HttpServer(attached, tmp_path / ".eva", Address("127.0.0.1", 0))
        bridge = House(tmp_path, house.kernel, server)
    try:
        for token in ("wrong", "", None):
            assert bridge.ask("tools/list", token=token).status in (401, 503)
        assert started == []
        for token in (TOKENS["bob"], local_token(tmp_path / ".eva")):
            assert bridge.ask("tools/list", token=token).status == 503
        assert started == [tmp_path, tmp_path]
    finally:
        server.stop()


def test_a_token_is_kept_until_others_could_have_read_it(tmp_path: Path) -> None:
    first = local_token(tmp_path)
    assert local_token(tmp_path) == first
    for spoil in (lambda path: path.chmod(0o644), lambda path: path.write_text("short\n"), lambda path: path.unlink()):
        spoil(token_file(tmp_path))
        second = local_token(tmp_path)
        assert second != first
        first = second
    token_file(tmp_path).unlink()
    (tmp_path / "elsewhere").write_text("x" * 40)
    (tmp_path / "elsewhere").chmod(0o600)
    token_file(tmp_path).symlink_to(tmp_path / "elsewhere")
    assert local_token(tmp_path) != "x" * 40
    assert not token_file(tmp_path).is_symlink()


def test_a_token_that_cannot_be_kept_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CommandFailed, match="cannot be written"):
        local_token(tmp_path / "file/state")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", "127.0.0.1.example.org"])
def test_it_does_not_start_where_others_reach_it_unless_told_under_which_name(tmp_path: Path, host: str) -> None:
    async def nobody() -> Any:
        raise AssertionError("it asked for a runtime")

    with pytest.raises(CommandFailed, match="reached from other machines"):
        HttpServer(nobody, tmp_path, Address(host, 0))
    found = borders_of(host, 80, ["mcp.example.org"], [])
    assert found.hosts == ("mcp.example.org",)
    assert found.refusal([b"127.0.0.1:80"], []) is not None
    assert found.refusal([b"MCP.example.org"], []) is None


def test_the_loopback_has_two_families() -> None:
    assert borders_of("::1", 80, [], []).hosts == ("[::1]:80", "localhost:80")
    assert Address.of(McpServerSettings("[::1]:80")) == Address("::1", 80)


def test_a_request_names_one_host_and_at_most_one_page() -> None:
    borders = borders_of("127.0.0.1", 80, [], ["https://a"])
    assert borders.refusal([b"127.0.0.1:80"], [b"https://a"]) is None
    assert borders.refusal([], []) is not None
    assert borders.refusal([b"127.0.0.1:80", b"evil"], []) is not None
    assert borders.refusal([b"127.0.0.1:80"], [b"https://a", b"https://b"]) is not None


def test_where_somebody_else_listens_it_says_so(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandFailed, match=f"cannot be served at 127.0.0.1:{port}"):
            HttpServer(lambda: None, tmp_path, Address("127.0.0.1", port))  # type: ignore[arg-type,return-value]


def test_sessions_are_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("evatui.mcp.app._MAX_SESSIONS", 2)
    with housed(tmp_path) as small:
        first, _ = opened(small), opened(small)
        assert small.send(HELLO).status == 503
        small.send(method="DELETE", headers={"Mcp-Session-Id": first})
        assert small.send(HELLO).status == 200


async def test_streams_are_bounded(own: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evatui.mcp.changes._STREAMS", 1)
    async with own.client("2026-07-28", TOKENS["ann"]) as client, client.listen(tools_list_changed=True):
        with pytest.raises(Exception, match="Subscription limit reached"):
            async with client.listen(tools_list_changed=True):
                pass
        async with (
            own.client("2026-07-28", TOKENS["bob"]) as other,
            other.listen(tools_list_changed=True),
        ):
            pass  # another client has streams of its own


def test_a_server_in_a_process_of_its_own_is_a_bridge_and_ends_in_good_order(house: House) -> None:
    words = ["-m", "evatui.cli.main", "-w", str(house.root), "-o", "json", "mcp", "serve", "--http"]
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": root}
    )
    assert process.stdout
    serving = json.loads(process.stdout.readline())
    assert serving["event"] == "serving"
    bridge = House(house.root, house.kernel, house.server)
    bridge.host = serving["url"].split("/")[2]
    called = bridge.ask("tools/call", {"name": "test_echo", "arguments": {}}, token=TOKENS["bob"]).json["result"]
    assert called["structuredContent"]["context"]["caller"]["id"] == "bob"
    listen, headers = modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    with socket.create_connection(bridge.host.split(":")) as stream:
        stream.sendall(_request(bridge.host, json.dumps(listen), headers))
        heard = stream.recv(4096)
        while b"notifications/subscriptions/acknowledged" not in heard:
            heard += stream.recv(4096)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
        while more := stream.recv(4096):
            heard += more
    assert b'"result":{' in heard.split(b"acknowledged")[1]  # the stream was ended, and did not break
    assert (process.returncode, json.loads(out), err) == (0, {"event": "stopped"}, b"")
    assert house.ask("tools/list").status == 200


def _request(host: str, body: str, headers: Mapping[str, str]) -> bytes:
    lines = [
        "POST /mcp HTTP/1.1",
        f"Host: {host}",
        f"Authorization: Bearer {TOKENS['ann']}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers.items()),
        "",
        body,
    ]
    return "\r\n".join(lines).encode()


def test_what_a_tool_says_of_itself_is_cleaned(tmp_path: Path) -> None:
    files = handler("odd", ECHO)
    files["capabilities/odd.yaml"] = files["capabilities/odd.yaml"].replace(
        "description: Does odd", 'description: "a\\u202eb\\u001b[31m"'
    )
    with housed(tmp_path, {**FILES, **files}) as house:
        [odd] = [tool for tool in house.ask("tools/list").json["result"]["tools"] if tool["name"] == "test_odd"]
        assert odd["description"] == "a\ufffdb␛[31m"
