"""Calls of adapters while they are under way: what is told of them, and their end by order."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from evatui.console.view.enabled import is_on_a_generation
from evatui.console.view.in_flight import call_rows, effects_of
from evatui.console.view.words import Look
from evatui.control.following import following
from evatui.control.snapshot import CallRow, ConsoleSnapshot, Cursor
from evatui.control.story.of_request import of_request
from evatui.control.view import View
from evatui.kernel.model.call import CallRequest
from evatui.kernel.model.progress import Progress
from evatui.runtime import Runtime
from tests.adapters.ground import ANN, Start, called, error
from tests.adapters.mcp_ground import ADD, mcp, serving_tools
from tests.adapters.test_mcp import SUM, approve, call_tool, up
from tests.support.waiting import until
from tests.support.workspaces import write

SLOW = """
def call(name, arguments):
    token = asked["_meta"]["progressToken"]
    for done, total, said in ((1, 4, "reading\\x1b[31m"), (-1, None, ""), (1e300, 4, ""), (2, 1, "")):
        progress = {"progressToken": token, "progress": done, "total": total, "message": said}
        say({"method": "notifications/progress", "params": progress})
        if done == arguments["a"]:
            break
    given_up = hear()
    open(arguments["told"], "w").write(given_up["method"])
    return {"content": []}
"""


async def started(start: Start, workspace: Path, folder: Path) -> Runtime:
    shape = {"type": "object", "properties": {"a": {"type": "number"}}}
    write(workspace, mcp(folder, serving_tools({**ADD, "inputSchema": shape}, more=SLOW), side_effects="idempotent"))
    runtime = await start()
    await up(runtime)
    await approve(runtime)
    return runtime


def snapshot(runtime: Runtime) -> ConsoleSnapshot:
    return View(runtime).snapshot(Cursor())


def reported(runtime: Runtime, done: int) -> CallRow | None:
    """The call of the adapter, once it has come so far."""
    found = (row for row in snapshot(runtime).calls if row.capability_id == "srv")
    return next((row for row in found if row.progress is not None and row.progress.done == done), None)


def payload(folder: Path, a: int) -> dict[str, Any]:
    return {**SUM, "arguments": {"a": a, "told": str(folder / "told")}}


async def test_it_is_in_flight_like_any_other_and_ends_by_order(start: Start, workspace: Path, tmp_path: Path) -> None:
    runtime = await started(start, workspace, tmp_path)
    call = asyncio.create_task(call_tool(runtime, payload(tmp_path, 1)))
    await until(lambda: reported(runtime, 1))
    now = snapshot(runtime)
    [row] = now.calls
    assert (row.capability_id, row.generation, row.number, row.queued) == ("srv", "srv@1.0.0", "", False)
    assert (row.host_call, row.caller, row.progress) == ("adapter.mcp srv__add", "ann", Progress(1, 4, "reading␛[31m"))
    [shown] = call_rows(now, Look())
    assert "adapter.mcp srv__add" in str(shown.cells[3])
    assert (effects_of(row, now), is_on_a_generation(now, row)) == ("idempotent", "an adapter has no generations")  # type: ignore[arg-type]
    told = await of_request(runtime, row.request_id)
    assert told is not None
    assert told["running"]["generation"] == "srv@1.0.0"
    again = await call_tool(runtime, request_id=row.request_id)
    assert error(again) == ("Conflict", "a call with this request id is in flight")
    ended = runtime.cancelling.cancel(row.request_id, ANN)["cancelled"]
    assert [(one["capability_id"], one["caller"]) for one in ended] == [("srv", "ann")]
    assert error(await call) == ("Cancelled", "cancelled by ann")
    await until(lambda: (tmp_path / "told").exists() and (tmp_path / "told").read_text())
    assert (tmp_path / "told").read_text() == "notifications/cancelled"
    assert snapshot(runtime).calls == ()
    record = next(one for one in runtime.audit.tail(9)[::-1] if one["code"] == "call.error" and one["host_calls"])
    assert (record["error_kind"], record["request_id"]) == ("Cancelled", row.request_id)


async def test_who_waits_for_it_hears_how_far_it_has_come(start: Start, workspace: Path, tmp_path: Path) -> None:
    """Also where that is the client of a handler, which asks in its name and has no word of its own."""
    runtime = await started(start, workspace, tmp_path)
    heard: list[Progress] = []
    argument = {"capability": "mcp.tool.call", "provider": "srv", "payload": payload(tmp_path, 2)}
    request = CallRequest("test.ask", {"fn": "invoke_adapter", "argument": argument}, ANN)
    async with following(runtime.dispatch, request.request_id, heard.append):
        call = asyncio.create_task(runtime.call(request))
        await until(lambda: Progress(2) in heard)
        assert [row.capability_id for row in snapshot(runtime).calls] == ["ask", "srv"]
        assert len(runtime.cancelling.cancel("srv@1.0.0", ANN)["cancelled"]) == 1
        report = await call
    assert {progress.done for progress in heard} <= {1, 2}
    assert report.response.result["answered"]["error"]["kind"] == "Cancelled"
    assert (await called(runtime, "test.ask", {"fn": "now", "argument": {}})).response.ok
