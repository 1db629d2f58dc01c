"""Everything that may be asked of a runtime, in its process and over its socket: one suite for both."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
from pathlib import Path

import pytest

from evatui.control.commands import COMMANDS
from evatui.control.failing import CommandFailed
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode
from evatui.control.operator import Operator
from evatui.control.snapshot import CapabilityRow, ConsoleSnapshot, Cursor
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.lifecycle import State
from tests.control.crowd import ANN, opened
from tests.support.waiting import until
from tests.support.workspaces import GREETER, SCRIPT, save, tool, write


async def test_a_generation_that_came_back_is_named_once_and_is_nothing_to_roll_back_to(
    operator: Operator, workspace: Path
) -> None:
    async def instead_of(generation: str | None) -> CapabilityRow:
        async with asyncio.timeout(60):
            while True:
                row = next(row for row in (await operator.snapshot(Cursor())).capabilities if row.id == "greet")
                if row.generation not in (None, generation):
                    return row
                await asyncio.sleep(0.002)

    path = "capabilities/tools/greet.lua"
    first = await instead_of(None)
    save(workspace, path, SCRIPT.replace("one", "two"))
    second = await instead_of(first.generation)
    save(workspace, path, SCRIPT)
    third = await instead_of(second.generation)
    assert third.generation == first.generation
    assert [(item.id, item.restorable) for item in third.generations] == [
        (first.generation, False),
        (second.generation, True),
    ]
    await operator.run("capability.rollback", id="greet")
    back = await instead_of(third.generation)
    assert [item.id for item in back.generations if item.restorable] == [first.generation]


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that another process writes to is not waited for as long as for a person."""
    monkeypatch.setattr("evatui.kernel.storage.database._BUSY_TIMEOUT_S", 0.1)


async def test_a_state_that_cannot_be_written_is_said_so(hurried: None, holder: LocalOperator, workspace: Path) -> None:
    with contextlib.closing(sqlite3.connect(workspace / ".eva/state.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CommandFailed) as failed:
            await holder.run("capability.drain", id="greet")
    assert (failed.value.kind, failed.value.retryable) == (ErrorKind.UNAVAILABLE, True)
    assert "in use" in failed.value.message


async def test_what_was_moved_to_a_process_is_shown_and_taken_back(operator: Operator, workspace: Path) -> None:
    hoard = 'function invoke(ctx, request) return {ok = true, result = ("x"):rep(1 << 28)} end'
    write(workspace, tool("hoard", hoard, limits="{memory_bytes: 4194304}"))
    await operator.run("capability.reload", ids=["hoard"])
    for _ in range(2):
        data = await operator.run("capability.call", name="test.hoard")
        assert data["response"]["error"]["kind"] == "MemoryExceeded"
    rows = {row.id: row for row in (await operator.snapshot(Cursor())).capabilities}
    assert (rows["hoard"].marks, rows["hoard"].isolation) == (("demoted",), "process")
    assert "2 memory verdicts" in rows["hoard"].isolation_why
    assert (rows["greet"].marks, rows["greet"].isolation) == ((), "in_process")
    said = (await operator.run("capability.inspect", id="hoard"))["isolation"]
    assert (said["in_force"], said["strikes"]["memory"]) == ("process", 2)
    (event,) = [e for e in (await operator.run("events"))["events"] if e["topic"] == "/capability/demoted"]
    assert (event["payload"]["id"], event["payload"]["reason"]) == ("hoard", "MemoryExceeded")
    receipt = await operator.run("capability.enable", id="hoard")
    assert receipt["from_number"] != receipt["to_number"]
    rows = {row.id: row for row in (await operator.snapshot(Cursor())).capabilities}
    assert (rows["hoard"].marks, rows["hoard"].isolation) == ((), "in_process")


async def test_the_doctor_of_a_runtime_starts_a_worker_and_names_no_path(operator: Operator, workspace: Path) -> None:
    data = await operator.run("doctor")
    checks = {check["name"]: check for check in data["checks"]}
    assert {"libraries", "workspace", "state folder", "disk", "lock", "clock", "worker processes"} <= set(checks)
    assert data["ok"] == all(check["ok"] for check in data["checks"])
    assert data["sandbox"]["worker"]["started"] == data["sandbox"]["process"]
    assert data["lock"]["pid"] == os.getpid()
    assert all(check["fix"] for check in data["checks"] if not check["ok"])
    assert str(workspace.parent) not in json.dumps(data)


async def test_the_snapshot_shows_what_serves_and_what_happened(operator: Operator, workspace: Path) -> None:
    first = await operator.snapshot(Cursor())
    greet = next(row for row in first.capabilities if row.id == "greet")
    assert (greet.state, greet.on_disk) == (State.ACTIVE, "same"), first.rejections
    assert greet.number in ("g1", "g2")
    assert first.counts[State.ACTIVE] == 2
    await operator.run("capability.call", name="text.greet", payload={"name": "bob"})
    second = await operator.snapshot(first.cursor)
    assert [row.code for row in second.audit] == ["call.ok"]
    assert second.dropped == 0


async def test_both_operators_give_the_same_snapshot(holder: LocalOperator, workspace: Path) -> None:
    def shown(snapshot: ConsoleSnapshot) -> list[object]:
        fields = ("capabilities", "rejections", "transitions", "events", "audit", "counts", "watch", "health")
        return [getattr(snapshot, field) for field in fields]

    attached = await opened(workspace, OpenMode.ATTACH)
    before, after = [], [object()]
    while before != after:  # something of the start may still be told meanwhile
        before = shown(await holder.snapshot(Cursor()))
        there = await attached.snapshot(Cursor())
        after = shown(await holder.snapshot(Cursor()))
    await attached.close()
    assert shown(there) == after
    assert isinstance(there, ConsoleSnapshot)
    assert there.runtime.attached


async def test_a_change_is_told_once_until_the_next_snapshot(operator: Operator, workspace: Path) -> None:
    count = [1]
    operator.on_change(lambda: count.append(1))
    while count:  # something of the start may still be told meanwhile
        count.clear()
        await operator.snapshot(Cursor())
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "two"))
    await until(lambda: count)
    await operator.run("capability.call", name="text.greet", payload={"name": "bob"})
    assert len(count) == 1


async def test_reload_plans_and_applies_by_digest(operator: Operator, workspace: Path, holder: LocalOperator) -> None:
    await operator.run("capability.disable", id="spin")
    plan = await operator.run("capability.plan")
    assert {change["action"] for change in plan["changes"]} == {"unchanged"}
    with pytest.raises(CommandFailed) as failed:
        await operator.run("capability.reload", plan="0" * 64)
    assert (failed.value.kind, failed.value.suggestion) == (ErrorKind.CONFLICT, "eva capability reload --dry-run")
    assert (await operator.run("capability.reload", plan=plan["plan_digest"]))["applied"]


async def test_what_waits_says_so_everywhere_and_is_approved(operator: Operator, workspace: Path) -> None:
    wide = GREETER["capabilities/greet.yaml"] + "permissions: {fs: {read: [workspace]}}\n"
    save(workspace, "capabilities/greet.yaml", wide)

    async def waits() -> bool:
        return bool((await operator.run("status"))["held"])

    while not await waits():
        await asyncio.sleep(0.01)
    (row,) = [row for row in (await operator.run("capability.list"))["capabilities"] if row["id"] == "greet"]
    assert (row["state"], row["marks"], row["reason"]) == ("Active", ["held"], "approval_required")
    assert row["on_disk"]["status"] == "held"
    inspected = await operator.run("capability.inspect", id="greet")
    assert inspected["held"]["digest"] == row["on_disk"]["digest"]
    told = await operator.run("capability.explain_rejected", id="greet")
    assert [held["reason"] for held in told["held"]] == ["approval_required"]
    shown = next(row for row in (await operator.snapshot(Cursor())).capabilities if row.id == "greet")
    assert [beside.what for beside in shown.beside] == ["held"]
    (change,) = (await operator.run("capability.plan", ids=["greet"]))["changes"]
    assert (change["action"], change["change_class"]) == ("hold", "approval")
    receipt = await operator.run("capability.approve", id="greet", digest=row["on_disk"]["digest"])
    assert receipt["to"]
    after = await operator.run("capability.inspect", id="greet")
    assert (after["held"], after["marks"]) == (None, [])
    explained = after["permissions"]["explained"]["permissions"]
    assert explained[0]["given_by"] == [{"layer": "workspace", "place": "capabilities/policies/default.yaml:3"}]
    assert (await operator.run("trust.show"))["parts"] == []


async def test_a_refusal_is_explained_with_its_difference_and_after_it_was_mended(
    operator: Operator, workspace: Path
) -> None:
    path, sound = "capabilities/greet.yaml", GREETER["capabilities/greet.yaml"]

    async def rejected(wanted: int) -> ConsoleSnapshot:
        async with asyncio.timeout(30):
            while True:
                snapshot = await operator.snapshot(Cursor())
                if len(snapshot.rejections) == wanted and all(row.difference for row in snapshot.rejections):
                    return snapshot
                await asyncio.sleep(0.005)

    save(workspace, path, sound.replace("name: Greeter", "nmae: Greeter"))
    (row,) = (await rejected(1)).rejections
    (told,) = (await operator.run("capability.explain_rejected", id="greet"))["rejections"]
    assert "\n".join(row.difference) == told["diff"]
    assert "+nmae: Greeter" in row.difference
    save(workspace, path, sound)
    await rejected(0)
    (past,) = (await operator.run("capability.explain_rejected", digest=row.digest))["rejections"]
    assert past == {**told, "in_force": False}


async def test_a_read_only_operator_changes_nothing_and_calls_nothing(holder: LocalOperator, workspace: Path) -> None:
    for mode_operator in (
        LocalOperator(holder.kernel, ANN, readonly=True),
        await opened(workspace, OpenMode.ATTACH, readonly=True),
    ):
        for command in COMMANDS.values():
            if command.effects or command.danger:
                with pytest.raises(CommandFailed) as failed:
                    await mode_operator.run(command.name, id="greet", name="text.greet")
                assert failed.value.kind is ErrorKind.POLICY_DENIED
        assert (await mode_operator.run("capability.list"))["capabilities"]
        if not isinstance(mode_operator, LocalOperator):
            await mode_operator.close()


async def test_a_folder_that_cannot_be_searched_stands_beside_the_list(tmp_path: Path) -> None:
    write(tmp_path, {"eva.yaml": "", "capabilities": "no folder"})
    reader = await opened(tmp_path, OpenMode.READ)
    data = await reader.run("capability.list")
    await reader.close()
    assert data["capabilities"] == []
    assert "EVA-116" in [problem["code"] for problem in data["problems"]]


async def row_of(operator: Operator, key: str) -> CapabilityRow:
    return next(row for row in (await operator.snapshot(Cursor())).capabilities if row.id == key)


async def test_a_canary_is_seen_routed_and_decided(operator: Operator, workspace: Path) -> None:
    row = await row_of(operator, "greet")
    canary = "reload: {canary: {percent: 0, users: [ann]}, drain_timeout_ms: 20000}"
    manifest = GREETER["capabilities/greet.yaml"].replace("reload: {drain_timeout_ms: 20000}", canary)
    save(workspace, "capabilities/greet.yaml", manifest)
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace('"one"', '"two"'))
    await operator.run("capability.reload", ids=["greet"])
    answer = await operator.run("capability.call", name="text.greet", payload={"name": "x"}, user="ann")
    assert answer["response"]["result"]["by"] == "two"
    row = await row_of(operator, "greet")
    assert row.marks[0] == "canary"
    (told,) = [item.canary for item in row.beside if item.canary]
    assert (told.generation, told.phase, told.verdict) == (answer["generation"], "running", "insufficient_data")
    assert (told.canary.samples, told.canary.faults, told.baseline.samples) == (1, 0, 0)
    assert {one.share for one in row.generations if one.state is State.ACTIVE} == {"0 %, users ann", "all others"}
    ann = await operator.run("capability.route", name="text.greet", user="ann")
    bob = await operator.run("capability.route", name="text.greet", user="bob")
    assert (ann["generation"], ann["canary"]) == (told.generation, True)
    assert (bob["generation"], bob["canary"]) == (row.generation, False)
    assert ann["why"][1] == "user ann is named in canary.users"
    anybody = await operator.run("capability.route", name="text.greet")
    assert anybody["why"] == [
        "greet is the only one that provides it",
        "without a user, 0 % of all traces get the canary",
    ]
    with pytest.raises(CommandFailed) as unknown:
        await operator.run("capability.route", name="text.nothing")
    assert unknown.value.kind is ErrorKind.NOT_FOUND
    inspected = await operator.run("capability.inspect", id="greet")
    assert inspected["canary"]["canary"] | {"p95_ms": 0} == {"samples": 1, "faults": 0, "rate": 0.0, "p95_ms": 0}
    assert inspected["statistics"][told.generation]["samples"] == 1
    for order in ("pause", "resume"):
        receipt = await operator.run(f"capability.{order}", id="greet", if_generation=told.generation)
        assert (receipt["action"], receipt["to"]) == (order, told.generation)
    receipt = await operator.run("capability.promote", id="greet")
    assert (receipt["from"], receipt["to"]) == (row.generation, told.generation)
    undone = await operator.run("capability.undo", id="greet")
    assert undone["action"] == "undo"
    answer = await operator.run("capability.call", name="text.greet", payload={"name": "x"})
    assert answer["response"]["result"]["by"] == "one"
    with pytest.raises(CommandFailed, match="nothing was ordered"):
        await operator.run("capability.undo", id="greet")
    with pytest.raises(CommandFailed, match="has no canary"):
        await operator.run("capability.abort", id="greet")
