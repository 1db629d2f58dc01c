"""An operator that stays attached says that its runtime is lost, and goes over to the next that holds the workspace."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode, open_workspace
from evatui.control.operator import Operator
from evatui.control.reconnecting import ReconnectingOperator
from evatui.control.snapshot import ConsoleSnapshot, Cursor
from evatui.kernel.model.errors import ErrorKind
from tests.control.crowd import ANN, opened
from tests.support.waiting import until


async def staying(root: Path) -> Operator:
    return await open_workspace(root, state_dir=None, mode=OpenMode.ATTACH, actor=ANN, stays=True)


async def found_again(operator: Operator, since: Cursor) -> ConsoleSnapshot:
    async with asyncio.timeout(60):
        while True:
            try:
                return await operator.snapshot(since)
            except CommandFailed as failed:
                assert failed.kind is ErrorKind.UNAVAILABLE
                await asyncio.sleep(0.01)


async def test_a_lost_runtime_is_said_and_the_next_one_taken(holder: LocalOperator, workspace: Path) -> None:
    operator = await staying(workspace)
    before = await operator.snapshot(Cursor())
    told: list[int] = []
    operator.on_change(lambda: told.append(1))
    spin = asyncio.create_task(operator.run("capability.call", name="test.spin"))
    await until(lambda: holder.kernel.in_flight)
    ending = asyncio.create_task(holder.close())
    try:
        data = await spin  # never sent a second time
    except CommandFailed as failed:
        assert "lost" in failed.message
    else:
        assert data["response"]["error"]["kind"] == "Cancelled"  # the runtime had the time to say so
    await ending
    assert told  # whoever paints hears of the loss at once
    with pytest.raises(CommandFailed, match="lost"):
        await operator.snapshot(before.cursor)
    again = await opened(workspace, OpenMode.HOLD)
    snapshot = await found_again(operator, before.cursor)
    assert snapshot.runtime.attached
    assert snapshot.runtime.since > before.runtime.since
    assert snapshot.events[0].seq == 1  # it counts from the start, and so all are new
    assert all(row.seq > before.cursor.audit for row in snapshot.audit)
    told.clear()
    answer = await operator.run("capability.call", name="text.greet", payload={"name": "bob"})
    assert answer["response"]["ok"]
    await until(lambda: told)
    await operator.close()
    await again.close()


async def test_who_was_only_dropped_goes_on_where_it_was(holder: LocalOperator, workspace: Path) -> None:
    operator = await staying(workspace)
    before = await operator.snapshot(Cursor())
    server = holder.kernel._server
    (peer,) = server._peers
    holder.kernel._loop.call_soon_threadsafe(peer.outbox.hang_up, "closing", "the test wants it")
    await until(lambda: not server._connections)
    snapshot = await found_again(operator, before.cursor)
    assert [event.seq for event in snapshot.events] == list(range(before.cursor.events + 1, snapshot.cursor.events + 1))
    await operator.close()


async def test_it_looks_ever_more_seldom(holder: LocalOperator, workspace: Path) -> None:
    operator = await staying(workspace)
    assert isinstance(operator, ReconnectingOperator)
    await holder.close()
    now, looked = [0.0], []

    async def nobody() -> object:
        looked.append(now[0])
        raise CommandFailed(ErrorKind.UNAVAILABLE, "nobody")

    operator._clock, operator._dial = lambda: now[0], nobody
    await until(lambda: operator._operator.is_lost)
    for tick in range(400):
        now[0] = tick / 10
        with pytest.raises(CommandFailed):
            await operator.run("status")
    pauses = [round(later - sooner, 3) for sooner, later in pairwise(looked)]
    assert looked[0] == 0.0
    assert pauses == sorted(pauses)
    assert 4.9 < pauses[-1] < 5.2
    assert len(looked) < 14
    await operator.close()


async def test_who_has_left_is_attached_to_nobody_any_more(holder: LocalOperator, workspace: Path) -> None:
    operator = await staying(workspace)
    await operator.close()
    with pytest.raises(CommandFailed):
        await operator.run("status")
    await until(lambda: not holder.kernel._server._connections)
