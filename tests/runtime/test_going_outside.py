"""The network and commands, from a handler's call to the audit log: what manifest and policy agree on, and no more."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.model.errors import ErrorKind
from evatui.runtime import Runtime
from tests.host.test_spawn_process import FAMILY, nap, sleepers
from tests.host.web import Server, answer, serving
from tests.runtime.conftest import call
from tests.support.waiting import until
from tests.support.workspaces import save, tool, write

__all__ = ["nap"]

Start = Callable[[], Awaitable[Runtime]]
POLICY_FILE = "capabilities/policies/default.yaml"
SECRET = "canary-7d1e0c"

ASK = """
function invoke(ctx, request)
  return {ok = true, result = ctx.host[request.payload.fn](request.payload.argument)}
end
"""
ASKS = "{network: {hosts: [127.0.0.1]}, shell: {commands: [[sh, -c], [git, status]]}, env: [TOKEN]}"
GRANTS = """\
version: 1
grants:
  - match: {ids: [ask]}
    network: {hosts: [127.0.0.1]}
    shell: {commands: [[sh, -c], [git, status]]}
    env: [TOKEN]
credentials:
  TOKEN: {from: env, hosts: [127.0.0.1], prefix: "Bearer "}
"""
NOTHING = "version: 1\n"


@pytest.fixture
def ground(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOKEN", SECRET)
    write(workspace, {**tool("ask", ASK, permissions=ASKS), POLICY_FILE: GRANTS})
    return workspace


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as server:
        yield server


async def asked(runtime: Runtime, fn: str, argument: Any, **fields: Any) -> Any:
    return (await call(runtime, "test.ask", {"fn": fn, "argument": argument}, **fields)).response


@pytest.mark.parametrize("isolation", ["in_process", "process"])
async def test_a_handler_asks_a_server_and_starts_a_command(
    start: Start, ground: Path, server: Server, isolation: str
) -> None:
    write(ground, tool("ask", ASK, permissions=ASKS, isolation=isolation))
    server.say = lambda got: answer(f"you are {got.headers['authorization']}")
    runtime = await start()
    response = await asked(runtime, "http_request", {"url": f"{server.url}/who?q=1", "credential": "TOKEN"})
    assert (response.result["status"], response.result["body"]) == (200, "you are Bearer [redacted]")
    response = await asked(runtime, "spawn_process", {"argv": ["sh", "-c", "cat; exit 7"], "stdin": "a\n"})
    assert response.result == {"code": 7, "stdout": "a\n", "stderr": ""}
    records = [record for record in runtime.audit.tail(99) if record["host_calls"]]
    assert [(record["code"], record["host_calls"][0]["target"]) for record in records] == [
        ("effect.intent", f"GET {server.url}/who?q=1"),
        ("call.ok", f"GET {server.url}/who?q=1"),
        ("effect.intent", "sh -c 'cat; exit 7'"),
        ("call.ok", "sh -c 'cat; exit 7'"),
    ]
    assert SECRET not in json.dumps(records)


@pytest.mark.parametrize(
    ("fn", "argument", "message"),
    [
        ("http_request", {"url": "http://127.0.0.1:9/"}, "127.0.0.1 is not granted: network.hosts does not cover it"),
        ("spawn_process", {"argv": ["git", "status"]}, "git with these words is not granted: shell.commands does"),
    ],
)
async def test_what_the_manifest_does_not_ask_for_is_denied(
    start: Start, ground: Path, fn: str, argument: dict[str, Any], message: str
) -> None:
    write(ground, tool("ask", ASK))
    error = (await asked(await start(), fn, argument)).error
    assert error.kind is ErrorKind.POLICY_DENIED
    assert message in error.message


async def test_what_a_policy_takes_away_is_denied_at_the_next_call(start: Start, ground: Path, server: Server) -> None:
    runtime = await start()
    assert (await asked(runtime, "http_request", {"url": server.url})).ok
    save(ground, POLICY_FILE, NOTHING)
    await until(lambda: runtime.policy is not None and not runtime.policy.grants)
    response = await asked(runtime, "http_request", {"url": server.url})
    assert (response.ok, len(server.received)) == (False, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="commands are started on Unix only")
@pytest.mark.parametrize("way", ["timeout", "cancel", "cut"])
async def test_a_command_ends_with_the_call_that_started_it(start: Start, ground: Path, way: str, nap: str) -> None:
    runtime = await start()
    argument = {"argv": ["sh", "-c", FAMILY.format(nap) + f"sleep {nap}"]}
    timeout_ms = 1500 if way == "timeout" else None
    task = asyncio.ensure_future(asked(runtime, "spawn_process", argument, timeout_ms=timeout_ms))
    await until(lambda: task.done() or sleepers(nap))
    if way == "cancel":
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        if way == "cut":
            assert runtime.cut() == 1
        assert (await task).error.kind is (ErrorKind.TIMEOUT if way == "timeout" else ErrorKind.CANCELLED)
    await until(lambda: not sleepers(nap))
