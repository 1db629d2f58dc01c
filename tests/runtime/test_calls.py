"""The way of a call: checked on the way in and out, bounded, pinned to a generation, and on record."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

import pytest

from evatui.kernel.model.errors import ErrorKind, Origin
from tests.runtime.conftest import ANN, call
from tests.support.waiting import until
from tests.support.workspaces import SCRIPT, save, tool, write

SPIN = "function invoke(ctx, request) while true do end end"
NAP = """
function invoke(ctx, request)
  local from = os.clock()
  while os.clock() - from < 0.05 do end
  return {ok = true, result = {generation = request.context.generation}}
end
"""


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ({}, ErrorKind.INVALID_INPUT),
        ({"name": "x" * 70_000}, ErrorKind.INPUT_TOO_LARGE),
        ({"name": {1, 2}}, ErrorKind.INVALID_INPUT),
        ({"name": 1 << 70}, ErrorKind.INVALID_INPUT),
        ([], ErrorKind.INVALID_INPUT),
    ],
)
async def test_an_unfit_payload_never_reaches_the_handler(start, payload: object, kind: ErrorKind) -> None:
    runtime = await start()
    report = await call(runtime, payload=payload)
    assert report.response.error.kind is kind
    assert report.response.error.origin is Origin.KERNEL
    assert report.generation is not None


HANDLERS = {
    "raises": ('error("no scale")', ErrorKind.HANDLER_ERROR, "no scale"),
    "own kind": ('return {ok=false, error={kind="Conflict", message="in use"}}', ErrorKind.CONFLICT, "in use"),
    "strange kind": ('return {ok=false, error={kind="Weird", message="hm"}}', ErrorKind.HANDLER_ERROR, "hm"),
    "no envelope": ("return 42", ErrorKind.INVALID_RESPONSE, "ok = true"),
    "function out": ("return {ok = true, result = {f = print}}", ErrorKind.INVALID_OUTPUT, "/result/f"),
    "spins": ("while true do end", ErrorKind.TIMEOUT, ""),
    "eats memory": ('local t = {} while true do t[#t + 1] = ("x"):rep(1000) .. #t end', ErrorKind.MEMORY_EXCEEDED, ""),
    "floods": ('return {ok = true, result = ("x"):rep(300000)}', ErrorKind.OUTPUT_TOO_LARGE, ""),
    "not granted": ('ctx.host.fs_read_text{path = "eva.yaml"}', ErrorKind.POLICY_DENIED, ""),
}


@pytest.mark.parametrize("name", HANDLERS)
async def test_what_a_handler_does_becomes_a_clear_error(start, workspace: Path, name: str) -> None:
    body, kind, words = HANDLERS[name]
    limits = f"{{timeout_ms: {1_000 if kind is ErrorKind.TIMEOUT else 60_000}}}"
    write(workspace, tool("odd", f"function invoke(ctx, request) {body} end", limits=limits))
    runtime = await start()
    error = (await call(runtime, "test.odd", {})).response.error
    assert error.kind is kind
    assert words in error.message
    assert error.generation == runtime.table.active["odd"].name.id


async def test_a_result_that_breaks_the_output_schema_is_refused(start, workspace: Path) -> None:
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace('"hello " .. request.payload.name', "12"))
    runtime = await start()
    error = (await call(runtime)).response.error
    assert error.kind is ErrorKind.INVALID_OUTPUT
    assert error.details["violations"][0]["pointer"] == "/text"


async def test_each_call_is_on_record_with_digests_and_host_calls(start, workspace: Path) -> None:
    script = (
        'function invoke(ctx, request) ctx.host.state_set{key = "n", value = 1} return {ok = true, result = {}} end'
    )
    write(workspace, tool("keep", script))
    runtime = await start()
    report = await call(runtime, "test.keep", {"secret": "swordfish"}, user="bob")
    refused = await call(runtime, "no.such", {})
    records = {(r["code"], r["request_id"]): r for r in runtime.audit.tail(20)}
    final = records["call.ok", report.request_id]
    assert final["script_digest"] == hashlib.sha256(script.encode()).hexdigest()
    assert final["generation"] == report.generation
    assert [(c["fn"], c["target"], c["outcome"]) for c in final["host_calls"]] == [("state_set", "n", "ok")]
    assert ("effect.intent", report.request_id) in records
    assert "swordfish" not in str(records)
    assert records["call.error", refused.request_id]["error_kind"] == "NotFound"


async def test_calls_beyond_the_concurrency_wait_and_a_full_queue_refuses(start, workspace: Path) -> None:
    write(workspace, tool("nap", NAP, limits="{concurrency: 1}"))
    runtime = await start()
    reports = await asyncio.gather(*(call(runtime, "test.nap", {}) for _ in range(8)))
    kinds = [r.response.error.kind if r.response.error else None for r in reports]
    assert kinds.count(None) == 5
    assert kinds.count(ErrorKind.CONCURRENCY_LIMITED) == 3


async def test_a_shorter_deadline_of_the_caller_holds(start, workspace: Path) -> None:
    write(workspace, tool("spin", SPIN))
    runtime = await start()
    report = await call(runtime, "test.spin", {}, timeout_ms=50)
    assert report.response.error.kind is ErrorKind.TIMEOUT
    assert report.duration_ms < 25_000  # the capability itself allows 30 s


async def test_a_cancelled_caller_ends_its_call_and_is_on_record(start, workspace: Path) -> None:
    write(workspace, tool("spin", SPIN))
    runtime = await start()
    task = asyncio.create_task(call(runtime, "test.spin", {}))
    await until(lambda: runtime.registry.capabilities["spin"].in_flight)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert runtime.registry.capabilities["spin"].in_flight == 0
    last = [r for r in runtime.audit.tail(5) if r["capability_id"] == "spin"][-1]
    assert (last["code"], last["error_kind"]) == ("call.error", "Cancelled")


async def test_a_call_cancelled_in_line_is_on_record_too(start, workspace: Path) -> None:
    write(workspace, tool("spin", SPIN, limits="{concurrency: 1}"))
    runtime = await start()
    limiter = runtime.registry.capabilities["spin"].limiter
    first, second = (asyncio.create_task(call(runtime, "test.spin", {}, request_id=f"req_{n}")) for n in (1, 2))
    await until(lambda: limiter.queued)
    for task in (second, first):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not runtime.calls.flights

    def ends() -> list[tuple[str, str, str]]:
        found = [record for record in runtime.audit.tail(5) if record["error_kind"]]
        return sorted((record["request_id"], record["code"], record["error_kind"]) for record in found)

    await until(lambda: len(ends()) == 2)
    assert ends() == [(f"req_{n}", "call.error", "Cancelled") for n in (1, 2)]


async def test_the_provider_is_the_asked_one_else_the_highest_priority(start, workspace: Path) -> None:
    for name, priority in (("low", 10), ("high", 90), ("also", 90)):
        script = f'function invoke(ctx, request) return {{ok = true, result = "{name}"}} end'
        files = tool(name, script, priority=str(priority))
        write(workspace, {k: v.replace(f"test.{name}", "test.same") for k, v in files.items()})
    write(
        workspace, {"capabilities/policies/default.yaml": 'version: 1\ngrants: [{match: {ids: ["*"]}, names: ["*"]}]\n'}
    )
    runtime = await start()
    assert (await call(runtime, "test.same", {})).response.result == "also"
    assert (await call(runtime, "test.same", {}, provider="low")).response.result == "low"
    missing = (await call(runtime, "test.same", {}, provider="nobody")).response.error
    assert missing.kind is ErrorKind.NOT_FOUND


CHAIN = """
function invoke(ctx, request)
  local answer = ctx.host.call_tool{capability = "test.chain", payload = {}}
  if answer.ok then return {ok = true, result = answer.result} end
  return {ok = false, error = {kind = "Unavailable", message = answer.error.kind .. ": " .. answer.error.message}}
end
"""


@pytest.mark.parametrize(("concurrency", "words"), [(1, "descends"), (16, "nested 8 deep")])
async def test_a_chain_of_calls_ends(start, workspace: Path, concurrency: int, words: str) -> None:
    asks = "{adapters: {capabilities: [test.chain]}}"
    write(workspace, tool("chain", CHAIN, permissions=asks, limits=f"{{concurrency: {concurrency}}}"))
    grant = 'version: 1\ngrants: [{match: {ids: [chain]}, adapters: {capabilities: [test.chain], providers: ["*"]}}]\n'
    write(workspace, {"capabilities/policies/default.yaml": grant})
    runtime = await start()
    error = (await call(runtime, "test.chain", {})).response.error
    assert not runtime.calls.flights
    assert words in error.message


async def test_a_narrower_policy_holds_at_the_next_host_call(start, workspace: Path) -> None:
    reader = 'function invoke(ctx, request) return {ok = true, result = ctx.host.fs_read_text{path = "notes.txt"}} end'
    write(workspace, {**tool("reader", reader, permissions="{fs: {read: [workspace]}}"), "notes.txt": "hello"})
    grant = "version: 1\ngrants: [{match: {ids: [reader]}, fs: {read: [workspace]}}]\n"
    write(workspace, {"capabilities/policies/default.yaml": grant})
    runtime = await start()
    assert (await call(runtime, "test.reader", {})).response.result == "hello"
    save(workspace, "capabilities/policies/default.yaml", "version: 1\n")
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert (await call(runtime, "test.reader", {})).response.error.kind is ErrorKind.POLICY_DENIED
