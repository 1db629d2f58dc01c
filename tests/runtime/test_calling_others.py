"""What a handler may reach through `call_tool` and `invoke_adapter`, and what becomes of both ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.progress import Progress
from evatui.runtime import Runtime
from tests.runtime.conftest import ANN, call
from tests.support.waiting import until
from tests.support.workspaces import EVERYTHING, save, tool, write

POLICY = "capabilities/policies/default.yaml"
Start = Callable[[], Awaitable[Runtime]]

ASK = """
function invoke(ctx, request)
  local ok, answer = pcall(ctx.host[request.payload.fn], request.payload.argument)
  return {ok = true, result = {raised = not ok, answer = answer}}
end
"""
"""Calls what its payload says, and answers what came of it."""

ASKS = '{adapters: {capabilities: ["test.*"], providers: ["p-*"]}}'
SPIN = "function invoke(ctx, request) while true do end end"
MCP = "lua_mcp_handler\nmcp: {tool_name: the.tool}"


def provider(name: str, priority: int = 50, body: str = "") -> dict[str, str]:
    """A capability that provides ``test.same``."""
    script = body or f'function invoke(ctx, request) return {{ok = true, result = "{name}"}} end'
    files = tool(name, script, priority=str(priority))
    return {key: text.replace(f"test.{name}", "test.same") for key, text in files.items()}


@pytest.fixture
def ground(workspace: Path) -> Path:
    write(workspace, {**tool("ask", ASK, permissions=ASKS), POLICY: EVERYTHING})
    return workspace


async def asked(runtime: Runtime, fn: str, **argument: Any) -> dict[str, Any]:
    response = (await call(runtime, "test.ask", {"fn": fn, "argument": argument})).response
    assert response.ok, response.error
    return response.result


async def raised(runtime: Runtime, fn: str, **argument: Any) -> tuple[str, str]:
    result = await asked(runtime, fn, **argument)
    assert result["raised"], result
    return result["answer"]["kind"], result["answer"]["message"]


async def test_an_adapter_call_goes_to_the_first_provider_that_is_granted(start: Start, ground: Path) -> None:
    write(ground, {**provider("best", 90), **provider("p-low", 10), **provider("p-mid", 20)})
    runtime = await start()
    assert (await asked(runtime, "call_tool", capability="test.same"))["answer"]["result"] == "best"
    answer = (await asked(runtime, "invoke_adapter", capability="test.same"))["answer"]
    assert answer == {"ok": True, "result": "p-mid"}
    named = await asked(runtime, "invoke_adapter", capability="test.same", provider="p-low")
    assert named["answer"]["result"] == "p-low"
    assert (await raised(runtime, "invoke_adapter", capability="test.same", provider="best"))[0] == "PolicyDenied"


async def test_where_nobody_provides_it_an_adapter_call_raises(start: Start, ground: Path) -> None:
    write(ground, provider("other"))
    runtime = await start()
    kind, message = await raised(runtime, "invoke_adapter", capability="test.same")
    assert (kind, message) == ("NotFound", "no provider that is granted provides test.same")
    kind, message = await raised(runtime, "invoke_adapter", capability="test.none", provider="p-x")
    assert (kind, message) == ("NotFound", "no provider that is granted provides test.none from p-x")


async def test_what_is_switched_off_is_unavailable_to_an_adapter_call(start: Start, ground: Path) -> None:
    write(ground, provider("p-one"))
    runtime = await start()
    await runtime.operations.disable("p-one", ANN)
    assert await raised(runtime, "invoke_adapter", capability="test.same") == ("Unavailable", "p-one is disabled")


async def test_a_failure_of_the_other_one_is_an_answer(start: Start, ground: Path) -> None:
    failing = 'function invoke(ctx, request) return {ok = false, error = {kind = "NotFound", message = "gone"}} end'
    write(ground, provider("p-one", body=failing))
    runtime = await start()
    for fn in ("call_tool", "invoke_adapter"):
        result = await asked(runtime, fn, capability="test.same")
        error = result["answer"]["error"]
        assert (result["raised"], result["answer"]["ok"]) == (False, False)
        assert (error["kind"], error["message"], error["details"]["origin"]) == ("NotFound", "gone", "handler")
        assert error["generation"].startswith("p-one@")


async def test_an_adapter_call_ends_at_its_own_time_limit(start: Start, ground: Path) -> None:
    write(ground, provider("p-one", body=SPIN))
    runtime = await start()
    result = await asked(runtime, "invoke_adapter", capability="test.same", timeout_ms=40)
    assert (result["raised"], result["answer"]["error"]["kind"]) == (False, "Timeout")


@pytest.mark.parametrize("fn", ["call_tool", "invoke_adapter"])
async def test_the_other_one_ends_with_the_caller(start: Start, ground: Path, fn: str) -> None:
    write(ground, provider("p-one", body=SPIN))
    runtime = await start()
    payload = {"fn": fn, "argument": {"capability": "test.same"}}
    report = await call(runtime, "test.ask", payload, timeout_ms=60)
    assert report.response.error is not None
    assert report.response.error.kind is ErrorKind.TIMEOUT
    await until(lambda: not runtime.calls.flights)
    task = asyncio.create_task(call(runtime, "test.ask", payload))
    await until(lambda: runtime.registry.capabilities["p-one"].in_flight)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not runtime.calls.flights
    ends = [r["error_kind"] for r in runtime.audit.tail(20) if r["capability_id"] == "p-one" and r["error_kind"]]
    assert ends[-1] == "Cancelled"


@pytest.mark.parametrize(("concurrency", "words"), [(1, "descends"), (16, "nested 8 deep")])
async def test_a_chain_of_adapter_calls_ends(start: Start, ground: Path, concurrency: int, words: str) -> None:
    chain = """
    function invoke(ctx, request)
      local ok, answer = pcall(ctx.host.invoke_adapter, {capability = "test.chain"})
      return {ok = true, result = ok and answer.result or answer.message}
    end"""
    asks = "{adapters: {capabilities: [test.chain], providers: [chain]}}"
    write(ground, tool("chain", chain, permissions=asks, limits=f"{{concurrency: {concurrency}}}"))
    runtime = await start()
    assert words in (await call(runtime, "test.chain", {})).response.result
    assert not runtime.calls.flights


@pytest.mark.parametrize("fn", ["call_tool", "invoke_adapter"])
async def test_a_handler_for_mcp_clients_is_nothing_that_lua_may_call(start: Start, ground: Path, fn: str) -> None:
    files = provider("p-mcp")
    files["capabilities/p-mcp.yaml"] = files["capabilities/p-mcp.yaml"].replace("lua_tool", MCP)
    asks = '{adapters: {capabilities: ["*"], providers: ["*"]}}'
    write(ground, {**files, **tool("ask", ASK, permissions=asks)})
    runtime = await start()
    assert (await call(runtime, "the.tool", {})).response.result == "p-mcp"
    for name in ("the.tool", "test.same"):
        assert (await raised(runtime, fn, capability=name))[0] == "NotFound"


@pytest.mark.parametrize("fn", ["call_tool", "invoke_adapter"])
async def test_a_name_that_the_policy_denies_is_out_of_reach(start: Start, ground: Path, fn: str) -> None:
    write(ground, provider("p-one"))
    runtime = await start()
    assert not (await asked(runtime, fn, capability="test.same"))["raised"]
    save(ground, POLICY, EVERYTHING + "deny: {capabilities: [test.same]}\n")
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert (await raised(runtime, fn, capability="test.same"))[0] == "PolicyDenied"


async def test_an_empty_table_is_an_array_where_the_callee_wants_one(start: Start, ground: Path) -> None:
    body = "function invoke(ctx, request) return {ok = true, result = json.encode(request.payload)} end"
    files = provider("p-one", body=body)
    schema = "{type: object, properties: {deep: {type: object, properties: {a: {type: array}, o: {type: object}}}}}"
    path = "capabilities/p-one.yaml"
    files[path] = files[path].replace("input_schema: {type: object}", f"input_schema: {schema}")
    asks = """
    function invoke(ctx, request)
      local given = {capability = "test.same", payload = {deep = {a = {}, o = {}}, more = {}}}
      return {ok = true, result = ctx.host.call_tool(given).result}
    end"""
    write(ground, {**files, **tool("ask", asks, permissions=ASKS)})
    runtime = await start()
    result = (await call(runtime, "test.ask", {})).response.result
    assert '"a":[]' in result
    assert '"o":{}' in result
    assert '"more":{}' in result


async def test_both_ends_of_a_call_are_on_record(start: Start, ground: Path) -> None:
    write(ground, provider("p-one"))
    runtime = await start()
    await asked(runtime, "invoke_adapter", capability="test.same", provider="p-one")
    of_calls = [record for record in runtime.audit.tail(50) if record["code"].startswith(("call.", "effect."))]
    intent, inner, outer = of_calls  # what is told of the start is written in the background, and may come later
    assert (intent["code"], intent["capability_id"]) == ("effect.intent", "ask")
    assert inner["actor"] == {"type": "capability", "id": "ask"}
    assert (inner["capability_id"], inner["trace_id"]) == ("p-one", outer["trace_id"])
    [host_call] = outer["host_calls"]
    assert (host_call["fn"], host_call["target"], host_call["outcome"]) == ("invoke_adapter", "p-one:test.same", "ok")


@pytest.mark.parametrize("isolation", ["in_process", "process"])
async def test_a_call_under_way_says_how_far_it_is(start: Start, ground: Path, isolation: str) -> None:
    body = """
    function invoke(ctx, request)
      for done = 1, 5 do ctx.host.progress{done = done, total = 10, message = "part " .. done} end
      while true do end
    end"""
    write(ground, tool("slow", body, isolation=isolation))
    runtime = await start()
    heard: list[int] = []
    runtime.on_change(lambda: heard.append(1))
    task = asyncio.create_task(call(runtime, "test.slow", {}))
    newest = Progress(5, 10, "part 5")
    await until(lambda: any(f.host and f.host.progress == newest for f in runtime.calls.flights.values()))
    assert len(heard) > 5
    events = [event.payload for event in runtime.bus.since(0)[0] if event.topic == "/runtime/progress"]
    assert (events[0]["id"], events[0]["done"]) == ("slow", 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


ADAPTER = """\
id: p-bus
version: 1.0.0
transport: eventbus
capabilities: [test.file]
eventbus: {request_topic: /jobs/asked, reply_topic: /jobs/answered}
"""


async def test_an_adapter_that_is_off_refused_or_gone_says_which(start: Start, ground: Path) -> None:
    path = "capabilities/adapters/bus.yaml"
    write(ground, {path: ADAPTER + "enabled: false\n"})
    runtime = await start()
    assert path not in runtime.registry.capabilities
    assert await raised(runtime, "invoke_adapter", capability="test.file") == ("Unavailable", "p-bus is disabled")
    save(ground, path, ADAPTER.replace("request_topic", "request_topi"))
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert "EVA-702" in [problem.code for problem in runtime.problems]
    (ground / path).unlink()
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert runtime.problems == ()
    assert (await raised(runtime, "invoke_adapter", capability="test.file"))[1].startswith("no provider that is")


async def test_a_call_that_runs_when_the_runtime_ends_finds_whom_it_calls(start, workspace: Path) -> None:
    later = """
    function invoke(ctx, request)
      while ctx.host.state_get{key = "go"}.version == 0 do end
      return {ok = true, result = ctx.host.call_tool{capability = "test.called", payload = {}}}
    end
    """
    write(
        workspace,
        {
            **tool(
                "late",
                later,
                permissions="{adapters: {capabilities: [test.called]}}",
                limits="{timeout_ms: 60000, host_calls: 1000000}",
            ),
            **tool("called", 'function invoke(ctx, request) return {ok = true, result = {by = "called"}} end'),
            "capabilities/policies/default.yaml": EVERYTHING,
        },
    )
    runtime = await start()
    running = asyncio.create_task(call(runtime, "test.late", {}))
    await until(lambda: runtime.registry.capabilities["late"].in_flight)
    closing = asyncio.create_task(runtime.close())
    await until(lambda: runtime.calls.ending)
    refused = (await call(runtime, "test.called", {})).response.error
    assert (refused.kind, refused.retryable) == (ErrorKind.UNAVAILABLE, True)
    await asyncio.to_thread(runtime.state.set, "late", 1, "go", True)
    assert (await running).response.result["result"] == {"by": "called"}
    assert await closing == 0
