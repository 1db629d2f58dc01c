"""What a bridge needs of a runtime in another process: to give up a call, to start one, and not to count as its use."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evatui.control.detached import start_detached
from evatui.control.failing import CommandFailed
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode
from evatui.control.operator import Operator
from evatui.control.standings import restarting
from evatui.kernel.model.errors import ErrorKind
from tests.control.crowd import ANN, opened
from tests.mcp.house import FILES, House, handler, housed
from tests.support.waiting import until
from tests.support.workspaces import save, write


@pytest.fixture(params=["in the process", "over the socket"])
async def operator(request: pytest.FixtureRequest, house: House) -> Operator:
    if request.param == "in the process":
        return LocalOperator(house.kernel, ANN, guest=True)
    return await opened(house.root, OpenMode.ATTACH)


async def test_a_call_that_nobody_waits_for_any_more_ends_and_the_operator_stays(
    house: House, operator: Operator
) -> None:
    call = asyncio.create_task(operator.run("mcp.call", tool="test_slow", arguments={}))
    beside = asyncio.create_task(operator.run("mcp.call", tool="test_slow", arguments={}))
    await until(lambda: house.kernel.in_flight == 2)
    call.cancel()
    await until(lambda: house.kernel.in_flight == 1)
    assert call.cancelled() or not call.done()
    assert (await operator.run("mcp.call", tool="test_echo", arguments={}))["response"]["ok"]
    beside.cancel()
    await until(lambda: house.kernel.in_flight == 0)
    await operator.close()
    assert house.kernel.desk is not None  # a guest leaves the kernel alone


async def test_what_is_no_object_does_not_fit(operator: Operator) -> None:
    for arguments in ([], "x", 1):
        report = await operator.run("mcp.call", tool="test_echo", arguments=arguments)
        assert report["response"]["error"]["kind"] == "InvalidInput"
    with pytest.raises(CommandFailed) as failed:
        await operator.run("mcp.call", tool="test_echo", arguments={}, principal="nobody")
    assert failed.value.kind is ErrorKind.POLICY_DENIED
    await operator.close()


def test_to_ask_what_has_changed_is_no_use_of_a_runtime(house: House) -> None:
    desk = house.kernel.desk
    assert desk is not None
    house.asked("status")
    for command in ("mcp.tools", "events", "audit.tail"):
        before = desk.idle_s
        house.asked(command)
        assert desk.idle_s >= before


async def test_why_a_runtime_could_not_be_started_is_told(tmp_path: Path) -> None:
    write(tmp_path / "ws", FILES)
    (tmp_path / "file").touch()
    with pytest.raises(CommandFailed, match="none could be started: the state directory cannot be used") as failed:
        await start_detached(tmp_path / "ws", tmp_path / "file/state")
    assert failed.value.kind is ErrorKind.UNAVAILABLE


async def test_a_call_ends_on_the_version_that_it_began_on(tmp_path: Path) -> None:
    waits = (
        "function invoke(ctx, request)\n"
        "  while request.payload.waits and ctx.host.state_get({key = 'go', default = false}).value == false do end\n"
        "  if request.payload.goes then ctx.host.state_set({key = 'go', value = true}) end\n"
        "  return {ok = true, result = {version = 1}}\nend"
    )
    files = handler("waits", waits, limits="{timeout_ms: 20000, host_calls: 100000000}")
    with housed(tmp_path, {**FILES, **files}) as house:
        async with house.client("legacy") as client:
            long = asyncio.create_task(client.call_tool("test_waits", {"waits": True}))
            await until(lambda: house.kernel.in_flight == 1)
            save(tmp_path, "capabilities/mcp_handlers/waits.lua", waits.replace("version = 1", "version = 2"))
            new = 1
            while new == 1:
                new = (await client.call_tool("test_waits", {})).structured_content["version"]
            assert not long.done()
            await client.call_tool("test_waits", {"goes": True})
            assert (await long).structured_content == {"version": 1}


def test_while_the_runtime_is_built_anew_clients_stay_who_they_are(tmp_path: Path) -> None:
    with housed(tmp_path) as house:
        desk = house.kernel.desk
        assert desk is not None
        desk.shut(restarting("by order"))
        assert house.ask("tools/list").status == 200
        assert house.ask("tools/list", token="wrong").status == 401
        told = house.ask("tools/call", {"name": "test_echo"}).json["result"]
        assert (told["isError"], told["content"][0]["text"][:12]) == (True, "Unavailable:")
        house.kernel.stop()
        gone = house.ask("tools/list")
        assert (gone.status, gone.headers["retry-after"]) == (503, "1")  # it is not the token that is wrong
