"""No effect without a record of it first, no answer without a record of the call: one host function after another."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.lua.outcome import Outcome
from evatui.kernel.model.call import Response
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.registry import calls
from evatui.kernel.registry.interpret import interpret
from evatui.runtime import Runtime
from tests.host.web import Server, serving
from tests.runtime.conftest import call
from tests.support.waiting import until
from tests.support.workspaces import EVERYTHING, tool, write

ACT = """
function invoke(ctx, request)
  while not pcall(ctx.host.fs_read_text, {path = "go"}) do end
  ctx.host[request.payload.fn](request.payload.argument)
  return {ok = true, result = {}}
end
"""
ASKS = (
    "{fs: {read: [workspace], write: [workspace/out]}, network: {hosts: [127.0.0.1]}, shell: {commands: [[touch]]},"
    " adapters: {capabilities: [test.seen], providers: ['*']}, events: {emit: [/told]}}"
)
SEEN = 'function invoke(ctx, request) ctx.host.state_set{key = "k", value = 1} return {ok = true, result = {}} end'
GRANTS = EVERYTHING.replace("[git]", "[touch]").replace('network: {hosts: "*"}', "network: {hosts: [127.0.0.1]}")


class World:
    """What an effect would have left behind."""

    def __init__(self, root: Path, server: Server) -> None:
        self.root, self.server = root, server

    def argument(self, fn: str) -> dict[str, Any]:
        return {
            "fs_write_text": {"path": "out/made", "text": "x"},
            "http_request": {"url": self.server.url},
            "spawn_process": {"argv": ["touch", str(self.root / "touched")]},
            "invoke_adapter": {"capability": "test.seen"},
            "emit_event": {"topic": "/told", "payload": {}},
            "state_set": {"key": "k", "value": 1},
        }[fn]

    def changed(self, runtime: Runtime) -> list[str]:
        found = {
            "fs_write_text": (self.root / "out/made").exists(),
            "http_request": bool(self.server.received),
            "spawn_process": (self.root / "touched").exists(),
            "invoke_adapter": runtime.registry.capabilities["seen"].calls,
            "emit_event": any(event.topic == "/told" for event in runtime.bus.since(0)[0]),
            "state_set": runtime.state.get("act", 1, "k")[1],
        }
        return [fn for fn, happened in found.items() if happened]


@pytest.fixture
async def world(workspace: Path) -> AsyncIterator[World]:
    (workspace / "out").mkdir()
    act = tool("act", ACT, permissions=ASKS, limits="{host_calls: 1000000}")
    write(workspace, {**act, **tool("seen", SEEN), "capabilities/policies/default.yaml": GRANTS})
    async with serving() as server:
        yield World(workspace, server)


EACH = pytest.mark.parametrize(
    "fn", ["fs_write_text", "http_request", "spawn_process", "invoke_adapter", "emit_event", "state_set"]
)
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="commands are started on Unix only")


@EACH
async def test_the_intent_is_on_record_before_the_effect_and_the_end_after_it(start, world: World, fn: str) -> None:
    runtime = await start()
    (world.root / "go").touch()
    report = await call(runtime, "test.act", {"fn": fn, "argument": world.argument(fn)})
    assert report.response.ok, report.response.error
    assert world.changed(runtime) == [fn]
    own = [record for record in runtime.audit.tail(20) if record["request_id"] == report.request_id]
    assert [record["code"] for record in own] == ["effect.intent", "call.ok"]
    assert own[0]["host_calls"][0]["fn"] == fn
    assert [done["outcome"] for done in own[1]["host_calls"] if done["fn"] == fn] == ["ok"]


@EACH
async def test_nothing_happens_that_cannot_be_written_down(start, world: World, fn: str) -> None:
    """The log goes away while the handler runs, before it acts."""
    runtime = await start()
    running = asyncio.create_task(call(runtime, "test.act", {"fn": fn, "argument": world.argument(fn)}))
    await until(lambda: runtime.registry.capabilities["act"].in_flight)
    await asyncio.to_thread(runtime.audit.close, "it is another one's by now")
    (world.root / "go").touch()
    error = (await running).response.error
    assert error.kind is ErrorKind.AUDIT_UNAVAILABLE
    assert (error.retryable, error.details.get("ran")) == (False, True)
    assert world.changed(runtime) == []
    refused = (await call(runtime, "test.act", {})).response.error
    assert (refused.kind, "ran" in refused.details) == (ErrorKind.AUDIT_UNAVAILABLE, False)


async def test_a_result_that_takes_long_to_check_is_no_fault_of_the_log(start, monkeypatch) -> None:
    checked = threading.Event()

    def slow(outcome: Outcome, candidate: Candidate) -> Response:
        checked.wait(60)
        return interpret(outcome, candidate)

    runtime = await start()
    monkeypatch.setattr(calls, "interpret", slow)
    report = await call(runtime, timeout_ms=1000)
    assert (report.response.error.kind, report.response.error.details["ran"]) == (ErrorKind.AUDIT_UNAVAILABLE, True)
    assert "its result takes too long to check" in report.response.error.message
    assert runtime.audit.health[0]
    checked.set()
    assert (await call(runtime)).response.ok


async def test_a_call_that_meets_the_end_of_the_runtime_is_answered(start) -> None:
    """The journal is closed a moment before the log is."""
    runtime = await start()
    await asyncio.to_thread(runtime.registry.journal.close)
    assert (await call(runtime, "no.such")).response.error.kind is ErrorKind.UNAVAILABLE
