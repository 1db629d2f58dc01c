"""A runtime as others meet it: held, attached to, of the moment, lost, and ended."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from evatui.control import opening
from evatui.control.failing import CommandFailed
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode
from evatui.control.operator import Operator
from evatui.control.server import Server
from evatui.control.snapshot import Cursor
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.workspace.lock import holder_of
from tests.control.crowd import opened
from tests.support.waiting import until


async def test_the_socket_is_its_users_alone(holder: LocalOperator) -> None:
    socket = Path(holder.kernel.address)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (socket, socket.parent)] == [0o600, 0o700]


async def test_no_socket_is_put_where_others_could_put_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(prefix="eva") as short:
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        places = []
        for mode in (0o700, 0o770, 0o707):
            (Path(short) / "evatui").mkdir(exist_ok=True)
            (Path(short) / "evatui").chmod(mode)
            server = Server()
            address, token = await server.listen(tmp_path / ("s" * 120))
            places.append((address.startswith(short), token is None))
            await server.stop_accepting()
    assert places == [(True, True), (False, False), (False, False)]


async def test_a_second_holder_is_told_who_holds_it_and_need_not_wait_for_that(
    holder: LocalOperator, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evatui.control.kernel.LOCK_WAIT_S", 120.0)
    async with asyncio.timeout(60):
        with pytest.raises(CommandFailed) as failed:
            await opened(workspace, OpenMode.HOLD)
    assert failed.value.kind is ErrorKind.UNAVAILABLE
    assert "pid" in failed.value.message


async def test_a_caller_that_hangs_up_ends_its_call_but_not_its_command(holder: LocalOperator, workspace: Path) -> None:
    attached = await opened(workspace, OpenMode.ATTACH)
    call = asyncio.create_task(attached.run("capability.call", name="test.spin", payload={}))
    flights = holder.kernel._runtime.calls.flights
    await until(lambda: flights)
    drain = asyncio.create_task(attached.run("capability.disable", id="greet"))
    await asyncio.sleep(0)
    await attached.close()
    for task in (call, drain):
        with pytest.raises(CommandFailed) as failed:
            await task
        assert "outcome unknown" in failed.value.message
    await until(lambda: not flights)
    tail = (await holder.run("audit.tail", limit=20))["records"]
    assert [r["error_kind"] for r in tail if r["capability_id"] == "spin" and r["code"].startswith("call")] == [
        "Cancelled"
    ]


async def test_a_kernel_that_ends_leaves_no_command_waiting(holder: LocalOperator, workspace: Path) -> None:
    attached = await opened(workspace, OpenMode.ATTACH)
    calls = [asyncio.create_task(o.run("capability.call", name="test.spin", payload={})) for o in (holder, attached)]
    await until(lambda: len(holder.kernel._runtime.calls.flights) == 2)
    await holder.close()
    for call in calls:
        try:
            data = await call
        except CommandFailed as failed:
            assert failed.kind is ErrorKind.UNAVAILABLE
        else:
            assert data["response"]["error"]["kind"] == "Cancelled"
    with pytest.raises(CommandFailed) as failed:
        await holder.run("status")
    assert failed.value.kind is ErrorKind.UNAVAILABLE
    await attached.close()


async def test_a_reader_writes_nothing_into_the_workspace(workspace: Path) -> None:
    before = sorted(workspace.rglob("*"))
    reader = await opened(workspace, OpenMode.READ)
    assert len((await reader.run("capability.list"))["capabilities"]) == 2
    assert (await reader.run("status"))["runtime"] is None
    with pytest.raises(CommandFailed) as failed:
        await reader.run("capability.drain", id="greet")
    assert failed.value.kind is ErrorKind.UNAVAILABLE
    await reader.close()
    assert sorted(workspace.rglob("*")) == before


async def test_a_command_of_the_moment_keeps_no_reader_out_and_the_next_one_in_line(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evatui.control.kernel.LOCK_WAIT_S", 60.0)
    first = await opened(workspace, OpenMode.WRITE)
    reader = await opened(workspace, OpenMode.READ)
    assert (await reader.run("status"))["runtime"] is None
    await reader.close()
    waiting = asyncio.create_task(opened(workspace, OpenMode.WRITE))
    await asyncio.wait({waiting}, timeout=0.2)
    await first.close()
    second = await waiting
    data = await second.run("capability.call", name="text.greet", payload={"name": "bob"})
    assert data["response"]["ok"]
    await second.close()


async def test_a_runtime_that_is_just_ending_is_not_asked_any_more(holder: LocalOperator, workspace: Path) -> None:
    call = asyncio.create_task(holder.run("capability.call", name="test.spin", payload={}))
    await until(lambda: holder.kernel.in_flight)
    ending = asyncio.create_task(holder.close())
    await until(lambda: not Path(holder.kernel.address).exists())
    reader = await opened(workspace, OpenMode.READ)
    assert (await reader.run("status"))["runtime"] is None
    await reader.close()
    holder.kernel.cut()
    await ending
    assert (await call)["response"]["error"]["kind"] == "Cancelled"


async def test_a_call_that_finds_a_runtime_where_none_was_goes_to_it(workspace: Path, monkeypatch) -> None:
    monkeypatch.setattr("evatui.control.kernel.LOCK_WAIT_S", 0.1)
    looked = opening._listener
    runtime: list[Operator] = []

    async def taken_meanwhile(state_dir: Path) -> object:
        found = await looked(state_dir)
        if not runtime:
            runtime.append(await opened(workspace, OpenMode.HOLD))
        return found

    monkeypatch.setattr(opening, "_listener", taken_meanwhile)
    late = await opened(workspace, OpenMode.WRITE)
    assert (await late.run("status"))["runtime"]["socket"]
    await late.close()
    await runtime[0].close()


async def test_a_call_in_a_runtime_of_the_moment_ends_with_its_caller(workspace: Path) -> None:
    operator = await opened(workspace, OpenMode.WRITE)
    assert isinstance(operator, LocalOperator)
    call = asyncio.create_task(operator.run("capability.call", name="test.spin", payload={}))
    await until(lambda: operator.kernel.in_flight)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until(lambda: not operator.kernel.in_flight)
    tail = (await operator.run("audit.tail", limit=20))["records"]
    assert [r["error_kind"] for r in tail if r["code"].startswith("call")] == ["Cancelled"]
    await operator.close()


async def test_a_runtime_whose_state_folder_was_deleted_goes_on_in_a_new_one(
    holder: LocalOperator, workspace: Path, monkeypatch
) -> None:
    monkeypatch.setattr("evatui.control.kernel.LOCK_WAIT_S", 0.0)
    await holder.run("capability.drain", id="spin")
    shutil.rmtree(workspace / ".eva")
    lost = [".eva/lock", ".eva/state.db", ".eva/store/content.db"]
    while [problem["spans"][0]["file"] for problem in (await holder.run("status"))["problems"]] != lost:
        await asyncio.sleep(0.01)
    await until(lambda: holder_of(workspace / ".eva") and Path(holder.kernel.address).exists())
    attached = await opened(workspace, OpenMode.ATTACH)
    data = await attached.run("capability.call", name="text.greet", payload={"name": "bob"})
    assert data["response"]["ok"]
    assert "call.ok" in "".join(path.read_text() for path in (workspace / ".eva/audit").iterdir())
    status = await attached.run("status")
    assert status["audit"]["word"] == "damaged"
    assert {problem["code"] for problem in status["problems"]} == {"EVA-119"}
    assert "EVA-119" in {d.code for row in (await attached.snapshot(Cursor())).rejections for d in row.diagnostics}
    await attached.close()
    with pytest.raises(CommandFailed):
        await opened(workspace, OpenMode.HOLD)
    await holder.close()
    again = await opened(workspace, OpenMode.HOLD)
    rows = (await again.run("capability.list"))["capabilities"]
    assert {row["id"]: row["state"] for row in rows} == {"greet": "Active", "spin": "Disabled"}
    await again.close()


async def test_a_runtime_whose_workspace_another_one_took_writes_nothing_and_ends(workspace: Path) -> None:
    first = await opened(workspace, OpenMode.HOLD)
    assert isinstance(first, LocalOperator)
    running = asyncio.create_task(first.run("capability.call", name="test.spin", payload={}))
    await until(lambda: first.kernel.in_flight)
    (workspace / ".eva").rename(workspace / ".eva.gone")
    second = await opened(workspace, OpenMode.HOLD)
    await until(lambda: first.kernel.lost)
    refused = None
    with contextlib.suppress(CommandFailed):
        refused = (await first.run("capability.call", name="text.greet", payload={"name": "bob"}))["response"]["error"]
    assert refused is None or refused["kind"] == "AuditUnavailable"
    first.kernel.cut()
    assert (await running)["response"]["error"]["kind"] == "AuditUnavailable"
    await first.close()
    with pytest.raises(CommandFailed, match="held by pid"):
        await first.run("status")
    attached = await opened(workspace, OpenMode.ATTACH)
    assert (await attached.run("status"))["problems"] == []
    records = (await attached.run("audit.tail", limit=20))["records"]
    assert records[0]["seq"] == 1
    assert [r["code"] for r in records if r["code"].startswith("call")] == []
    await attached.close()
    await second.close()


async def test_who_watches_a_runtime_hears_that_it_stops(holder: LocalOperator, workspace: Path) -> None:
    attached = await opened(workspace, OpenMode.ATTACH)
    await attached.snapshot(Cursor())
    await holder.close()
    with pytest.raises(CommandFailed) as failed:
        await attached.snapshot(Cursor())
    assert failed.value.context["stopped"]
    await attached.close()
