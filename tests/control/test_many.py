"""Many operators on one runtime: each misses nothing, and each action bears the name of who ordered it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode, open_workspace
from evatui.control.operator import Operator
from evatui.control.snapshot import Cursor
from evatui.kernel.model.call import Actor, CallerType
from tests.control.crowd import ANN, opened, watchers
from tests.support.waiting import until
from tests.support.workspaces import tool, write

QUICK = "function invoke(ctx, request) return {ok = true, result = {n = request.payload.n}} end"


async def test_who_comes_back_goes_on_where_it_was(operator: Operator, workspace: Path) -> None:
    """With the numbers that it has, from the questions and from the snapshot alike, and on another connection."""
    seen = (await operator.run("events"))["events"][-1]["seq"]
    cursor = (await operator.snapshot(Cursor())).cursor
    for word in ("disable", "enable"):
        await operator.run(f"capability.{word}", id="greet")
    again = await opened(workspace, OpenMode.ATTACH)
    for door in (operator, again):
        told = await door.run("events", since=seen)
        numbers = [event["seq"] for event in told["events"]]
        assert (numbers, told["dropped"]) == (list(range(seen + 1, seen + 1 + len(numbers))), 0)
        topics = [event["topic"] for event in told["events"] if event["payload"].get("id") == "greet"]
        assert (topics[0], topics[-1]) == ("/capability/draining", "/capability/loaded")
        snapshot = await door.snapshot(cursor)
        assert snapshot.dropped == 0
        assert min(event.seq for event in snapshot.events) == cursor.events + 1
        orders = [row.code for row in snapshot.audit if row.actor == ANN.id or row.code.startswith("capability.")]
        assert {"capability.disabled", "capability.enabled"} <= set(orders)
    await again.close()


async def test_who_begins_to_listen_gets_the_last_ones_and_then_each_new_one_once(operator: Operator) -> None:
    async def told(**about: int) -> tuple[list[int], int]:
        answer = await operator.run("events", topic="/capability/*", **about)
        return [event["seq"] for event in answer["events"]], answer["seq"]

    heard, seq = await told(limit=1)
    assert heard == (await told())[0][-1:]
    for word in ("disable", "enable"):
        await operator.run(f"capability.{word}", id="greet")
        new, seq = await told(since=seq)
        assert new
        heard += new
    everything, _ = await told()
    new, _ = await told(since=seq)
    assert heard + new == everything[everything.index(heard[0]) :] + [one for one in new if one > everything[-1]]


async def test_a_runtime_is_in_use_while_somebody_is_attached(holder: LocalOperator, workspace: Path) -> None:
    """So `eva serve --idle-exit` does not end under a console that only looks."""
    await until(lambda: holder.kernel.idle_s)
    attached = await opened(workspace, OpenMode.ATTACH)
    await attached.snapshot(Cursor())
    assert holder.kernel.idle_s == 0
    await attached.close()
    await until(lambda: holder.kernel.idle_s)


async def test_eight_clients_at_once_and_each_action_bears_its_name(holder: LocalOperator, workspace: Path) -> None:
    write(workspace, {name: text for n in range(8) for name, text in tool(f"own{n}", QUICK).items()})
    await holder.run("capability.reload")

    async def work(number: int) -> None:
        actor = Actor(CallerType.USER, f"client {number}")
        client = await open_workspace(workspace, state_dir=None, mode=OpenMode.ATTACH, actor=actor)
        for _ in range(5):
            answer = await client.run("capability.call", name=f"test.own{number}", payload={"n": number})
            assert answer["response"]["ok"], answer
            assert (await client.run("capability.inspect", id=f"own{number}"))["id"] == f"own{number}"
        assert (await client.run("capability.disable", id=f"own{number}"))["actor"] == actor.id
        assert (await client.run("capability.enable", id=f"own{number}"))["actor"] == actor.id
        await client.close()

    async with watchers(workspace, 2):
        await asyncio.gather(*map(work, range(8)))
    records = (await holder.run("audit.tail", limit=1000))["records"]
    for number in range(8):
        mine = [r["code"] for r in records if r["actor"]["id"] == f"client {number}"]
        assert mine.count("call.ok") == 5
        assert [code for code in mine if code in ("capability.disabled", "capability.enabled")] == [
            "capability.disabled",
            "capability.enabled",
        ]
        assert {r["capability_id"] for r in records if r["actor"]["id"] == f"client {number}"} == {f"own{number}"}
