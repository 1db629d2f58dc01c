"""The runtime is built anew in its process: whoever is attached stays, and what waited for it is applied."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import weakref
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode
from evatui.control.operator import Operator
from evatui.control.snapshot import Cursor
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.lifecycle import State
from tests.control.crowd import opened
from tests.support.waiting import until
from tests.support.workspaces import GREETER, SCRIPT, save, tool, write

SPIN = "function invoke(ctx, request) while true do end end"
POLICY = "capabilities/policies/default.yaml"
NETWORK = "permissions: {network: {hosts: [a.org]}}\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    write(root, {**GREETER, **tool("spin", SPIN, limits="{timeout_ms: 20000}")})
    write(root, {"eva.yaml": "runtime: {shutdown_timeout_ms: 20000}\n"})
    write(root, {POLICY: (root / POLICY).read_text().replace("fs:", "network: {hosts: [a.org]}\n    fs:")})
    return root


@pytest.fixture(params=["in the process", "over the socket"])
async def operator(request: pytest.FixtureRequest, holder: LocalOperator, workspace: Path) -> AsyncIterator[Operator]:
    if request.param == "in the process":
        yield holder
        return
    attached = await opened(workspace, OpenMode.ATTACH)
    yield attached
    await attached.close()


async def greeted(operator: Operator) -> str:
    data = await operator.run("capability.call", name="text.greet", payload={"name": "bob"})
    return str(data["response"]["result"]["text"])


async def test_what_was_approved_and_waited_serves_after_it(operator: Operator, workspace: Path) -> None:
    save(workspace, "capabilities/greet.yaml", GREETER["capabilities/greet.yaml"] + NETWORK)
    await operator.run("capability.reload")
    (held,) = (await operator.run("capability.explain_rejected", id="greet"))["held"]
    await operator.run("capability.approve", id="greet", digest=held["digest"])
    (waits,) = (await operator.snapshot(Cursor())).held
    assert waits.waits_for == "restart"
    receipt = await operator.run("runtime.restart")
    assert (receipt["action"], receipt["applied"], receipt["waiting"]) == ("restart", ["greet"], [])
    assert receipt["pid"] == os.getpid()
    assert receipt["from"]["since"] < receipt["to"]["since"]
    assert (await operator.snapshot(Cursor())).held == ()
    inspected = await operator.run("capability.inspect", id="greet")
    assert inspected["manifest"]["permissions"]["network"]["hosts"] == ["a.org"]
    assert await greeted(operator) == "hello bob"


async def approved_over_a_frozen_restart(operator: Operator, workspace: Path) -> None:
    save(workspace, "capabilities/greet.yaml", GREETER["capabilities/greet.yaml"] + NETWORK)
    await operator.run("capability.reload")
    (held,) = (await operator.run("capability.explain_rejected", id="greet"))["held"]
    await operator.run("runtime.freeze")
    await operator.run("capability.approve", id="greet", digest=held["digest"])
    await operator.run("runtime.restart")
    assert not await reaches(operator)


async def reaches(operator: Operator) -> bool:
    return bool((await operator.run("capability.inspect", id="greet"))["manifest"]["permissions"]["network"])


async def test_what_was_approved_and_met_a_frozen_restart_serves_with_the_thaw(
    operator: Operator, workspace: Path
) -> None:
    await approved_over_a_frozen_restart(operator, workspace)
    await operator.run("runtime.thaw")
    assert await reaches(operator)
    sound = GREETER["capabilities/greet.yaml"]
    save(workspace, "capabilities/greet.yaml", sound)
    await operator.run("capability.reload")
    save(workspace, "capabilities/greet.yaml", sound + NETWORK)
    await operator.run("capability.reload")
    assert not await reaches(operator), "the next time it waits for a restart again"


async def test_what_was_approved_and_is_not_there_when_it_thaws_waits_for_a_restart_again(
    holder: LocalOperator, workspace: Path
) -> None:
    await approved_over_a_frozen_restart(holder, workspace)
    save(workspace, "capabilities/greet.yaml", GREETER["capabilities/greet.yaml"])
    await holder.run("runtime.thaw")
    save(workspace, "capabilities/greet.yaml", GREETER["capabilities/greet.yaml"] + NETWORK)
    await holder.run("capability.reload")
    assert not await reaches(holder)


async def test_whoever_is_attached_stays_and_no_number_comes_twice(operator: Operator, workspace: Path) -> None:
    told: list[int] = []
    operator.on_change(lambda: told.append(1))
    before = await operator.snapshot(Cursor())
    await operator.run("runtime.restart")
    await until(lambda: told)
    after = await operator.snapshot(before.cursor)
    assert after.dropped == 0
    assert [event.seq for event in after.events] == list(
        range(before.cursor.events + 1, before.cursor.events + 1 + len(after.events))
    )
    topics = [event.topic for event in after.events]
    steps = ["/runtime/restarting", "/runtime/stopped", "/runtime/started", "/runtime/restarted"]
    assert [topic for topic in topics if topic.startswith("/runtime/")] == steps
    assert after.standing.ok
    while "runtime.restarted" not in [row.code for row in after.audit]:
        after = await operator.snapshot(before.cursor)
    assert [row.seq for row in after.audit] == list(
        range(before.cursor.audit + 1, before.cursor.audit + 1 + len(after.audit))
    )
    codes = [row.code for row in after.audit if row.code.startswith("runtime.")]
    assert codes[-3:] == ["runtime.stopped", "runtime.started", "runtime.restarted"]
    assert after.audit[-1].actor == "ann"
    told.clear()
    await operator.snapshot(after.cursor)
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("hello", "good day"))
    await until(lambda: told)
    while await greeted(operator) != "good day bob":
        await asyncio.sleep(0.01)


async def test_calls_are_waited_for_and_new_ones_are_told_to_come_again(
    operator: Operator, holder: LocalOperator, workspace: Path
) -> None:
    spinning = asyncio.create_task(operator.run("capability.call", name="test.spin", payload={}))
    await until(lambda: holder.kernel.in_flight)
    restarting = asyncio.create_task(operator.run("runtime.restart"))
    await until(lambda: not holder.kernel.standing.ok)
    for command in ("capability.call", "capability.list", "runtime.restart"):
        with pytest.raises(CommandFailed, match="restarts") as failed:
            await operator.run(command, name="text.greet", payload={"name": "bob"})
        assert (failed.value.kind, failed.value.retryable) == (ErrorKind.UNAVAILABLE, True)
    assert (await operator.run("status"))["standing"]["word"] == "restarting"
    while not (shown := await operator.snapshot(Cursor())).counts[State.DRAINING]:
        await asyncio.sleep(0.005)
    assert (shown.standing.word, len(shown.calls)) == ("restarting", 1)
    assert not restarting.done()
    holder.kernel.cut()
    assert (await spinning)["response"]["error"]["kind"] == "Cancelled"
    await restarting
    assert await greeted(operator) == "hello bob"


async def test_calls_that_do_not_end_in_time_are_cut_and_counted(
    operator: Operator, holder: LocalOperator, workspace: Path
) -> None:
    save(workspace, "eva.yaml", "runtime: {shutdown_timeout_ms: 50}\n")
    assert (await operator.run("runtime.restart"))["cut"] == 0
    spinning = asyncio.create_task(operator.run("capability.call", name="test.spin", payload={}))
    await until(lambda: holder.kernel.in_flight)
    assert (await operator.run("runtime.restart"))["cut"] == 1
    assert (await spinning)["response"]["error"]["kind"] == "Cancelled"


async def test_broken_settings_stop_nothing_and_sound_ones_are_applied(operator: Operator, workspace: Path) -> None:
    before = await operator.snapshot(Cursor())
    save(workspace, "eva.yaml", "runtime: {mode: nromal}\n")
    with pytest.raises(CommandFailed) as failed:
        await operator.run("runtime.restart")
    assert failed.value.kind is ErrorKind.INVALID_INPUT
    (found,) = failed.value.context["diagnostics"]
    assert "eva.yaml:1:" in found["rendered"]
    after = await operator.snapshot(before.cursor)
    assert after.events == ()
    assert await greeted(operator) == "hello bob"
    save(workspace, "eva.yaml", "runtime: {mode: maintenance}\n")
    assert (await operator.run("runtime.restart"))["settings"] == ["runtime"]
    assert (await operator.run("status"))["runtime"]["mode"] == "maintenance"


async def test_what_cannot_be_built_anew_says_so_and_is_tried_again(
    operator: Operator, workspace: Path, holder: LocalOperator
) -> None:
    database = workspace / ".eva/state.db"
    holder.kernel._runtime._folder.state.refuse("gone")  # nothing writes it again when it closes
    for path in workspace.glob(".eva/state.db*"):
        path.unlink()
    database.write_bytes(b"no database at all" * 100)
    for _ in range(2):
        with pytest.raises(CommandFailed, match=r"state\.db") as failed:
            await operator.run("runtime.restart")
        assert (failed.value.kind, failed.value.retryable) == (ErrorKind.UNAVAILABLE, False)
        assert "eva runtime restart" in failed.value.suggestion
    with pytest.raises(CommandFailed, match="could not be built anew"):
        await operator.run("capability.call", name="text.greet", payload={"name": "bob"})
    assert (await operator.run("status"))["standing"]["word"] == "down"
    shown = await operator.snapshot(Cursor())
    assert (shown.standing.word, shown.events[-1].topic) == ("down", "/runtime/restart_failed")
    for path in workspace.glob(".eva/state.db*"):
        path.unlink()
    await operator.run("runtime.restart")
    assert (await operator.run("status"))["standing"]["ok"]
    assert await greeted(operator) == "hello bob"


async def test_a_command_under_way_ends_before_the_runtime_does(operator: Operator, workspace: Path) -> None:
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("hello", "good day"))
    reload, restarted = await asyncio.gather(
        operator.run("capability.reload"), operator.run("runtime.restart"), return_exceptions=True
    )
    assert not isinstance(restarted, BaseException)
    if isinstance(reload, CommandFailed):  # it came after the restart had begun
        assert reload.retryable
    else:
        assert reload["applied"]
    assert await greeted(operator) == "good day bob"


async def test_five_restarts_leave_no_thread_descriptor_or_task(holder: LocalOperator, workspace: Path) -> None:
    def threads() -> int:
        names = [thread.name for thread in threading.enumerate()]
        return sum(not name.startswith("asyncio") for name in names)  # those are the loop's own, kept for the next

    async def tasks() -> int:
        async def count() -> int:
            return len(asyncio.all_tasks())

        return await asyncio.wrap_future(holder.kernel.submit(count()))

    async def open_now() -> tuple[int, int, int]:
        await greeted(holder)
        gc.collect()
        return threads(), len(os.listdir("/proc/self/fd")), await tasks()

    await holder.run("runtime.restart")
    before = await open_now()
    gone = []
    for _ in range(5):
        gone.append(weakref.ref(holder.kernel._runtime))
        await holder.run("runtime.restart")
    async with asyncio.timeout(30):  # a watch that has just begun is not all there at once
        while any(now - then >= len(gone) for now, then in zip(await open_now(), before, strict=True)):
            await asyncio.sleep(0.05)
    await until(lambda: gc.collect() >= 0 and not any(ref() for ref in gone))


async def test_who_ends_the_process_meanwhile_ends_it(holder: LocalOperator, workspace: Path) -> None:
    spinning = asyncio.create_task(holder.run("capability.call", name="test.spin", payload={}))
    await until(lambda: holder.kernel.in_flight)
    restarting = asyncio.create_task(holder.run("runtime.restart"))
    await until(lambda: not holder.kernel.standing.ok)
    holder.kernel.cut()
    await holder.close()
    with pytest.raises(CommandFailed) as failed:
        await restarting
    assert failed.value.kind is ErrorKind.UNAVAILABLE
    assert (await spinning)["response"]["error"]["kind"] == "Cancelled"
