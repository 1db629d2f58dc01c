"""Calls that an operator ends: their callers are answered, and who did it is on record."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.local import LocalOperator
from evatui.control.operator import Operator
from evatui.control.snapshot import CallRow, Cursor
from evatui.kernel.model.errors import ErrorKind
from tests.control.crowd import ANN
from tests.support.workspaces import tool, write

ONE_AT_A_TIME = "function invoke(ctx, request) while true do end end"


async def in_flight(operator: Operator, many: int) -> tuple[CallRow, ...]:
    async with asyncio.timeout(60):
        while len(calls := (await operator.snapshot(Cursor())).calls) != many:
            await asyncio.sleep(0.002)
    return calls


def spinning(operator: Operator, name: str = "test.spin") -> asyncio.Task[dict[str, Any]]:
    return asyncio.create_task(operator.run("capability.call", name=name, payload={}))


async def written(operator: Operator, code: str) -> list[dict[str, Any]]:
    """The records with that code; there is to be one, and some are written in the background."""
    async with asyncio.timeout(60):
        while not (found := (await operator.run("audit.query", code=code, limit=20))["records"]):
            await asyncio.sleep(0.005)
    return list(found)


async def test_one_call_is_ended_and_its_caller_is_told_by_whom(operator: Operator) -> None:
    call, other = spinning(operator), spinning(operator)
    first = next(row for row in await in_flight(operator, 2) if row.number)
    data = await operator.run("call.cancel", what=first.request_id)
    assert [one["request_id"] for one in data["cancelled"]] == [first.request_id]
    done, waiting = await asyncio.wait({call, other}, return_when=asyncio.FIRST_COMPLETED)
    error = done.pop().result()["response"]["error"]
    assert (error["kind"], error["message"]) == ("Cancelled", f"cancelled by {ANN.id}")
    (ended,) = await written(operator, "call.error")
    assert (ended["request_id"], ended["error_kind"]) == (first.request_id, "Cancelled")
    (by,) = await written(operator, "call.cancelled")
    assert (by["actor"], by["details"]["cancelled"]) == (ANN.to_json(), first.request_id)
    (left,) = await in_flight(operator, 1)
    await operator.run("call.cancel", what=left.request_id)
    assert (await waiting.pop())["response"]["error"]["kind"] == "Cancelled"


async def test_all_of_a_generation_are_ended_and_those_in_line_too_by_their_ids(
    operator: Operator, workspace: Path
) -> None:
    write(workspace, tool("narrow", ONE_AT_A_TIME, limits="{timeout_ms: 20000, concurrency: 1}"))
    await operator.run("capability.reload", ids=["narrow"])
    runs, waits = spinning(operator, "test.narrow"), spinning(operator, "test.narrow")
    rows = await in_flight(operator, 2)
    running, queued = sorted(rows, key=lambda row: row.queued)
    assert (running.queued, queued.queued) == (False, True)
    await operator.run("call.cancel", what=queued.request_id)
    await operator.run("call.cancel", what=running.number)
    for call in (runs, waits):
        assert (await call)["response"]["error"]["kind"] == "Cancelled"
    assert (await in_flight(operator, 0)) == ()
    answered = await operator.run("capability.call", name="text.greet", payload={"name": "bob"})
    assert answered["response"]["ok"]


async def test_what_is_not_in_flight_cannot_be_ended(operator: Operator) -> None:
    with pytest.raises(CommandFailed, match="no call of req_x is in flight") as failed:
        await operator.run("call.cancel", what="req_x")
    assert (failed.value.kind, failed.value.suggestion) == (ErrorKind.NOT_FOUND, "")
    with pytest.raises(CommandFailed) as failed:
        await operator.run("call.cancel", what="task_x")
    assert failed.value.suggestion == "eva plugin list"


async def test_a_call_whose_caller_goes_away_at_the_same_moment_is_cancelled_for_good(holder: LocalOperator) -> None:
    runtime = holder.kernel._runtime
    assert runtime is not None

    async def both() -> bool:
        from evatui.kernel.model.call import CallRequest

        request = CallRequest("test.spin", {}, ANN)
        task = asyncio.create_task(runtime.call(request))
        while not (flights := [one for one in runtime.calls.flights.values() if one.host]):
            await asyncio.sleep(0.002)
        runtime.cancelling.cancel(flights[0].request.request_id, ANN)
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    assert await asyncio.wrap_future(holder.kernel.submit(both()))
