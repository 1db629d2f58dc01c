"""Everything that may be asked of a runtime, in its process and over its socket: one suite for both."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import sqlite3
import threading
from pathlib import Path

import pytest

from evatui.control import opening
from evatui.control.commands import COMMANDS
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode
from evatui.control.operator import CommandFailed, Operator
from evatui.control.snapshot import CapabilityRow, ConsoleSnapshot, Cursor
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.lifecycle import State
from evatui.kernel.model.progress import Progress
from tests.control.crowd import ANN, opened
from tests.support.waiting import until
from tests.support.workspaces import GREETER, SCRIPT, save, tool, write


async def test_a_call_answers_and_names_its_generation(operator: Operator) -> None:
    data = await operator.run("capability.call", name="text.greet", payload={"name": "bob"})
    assert data["response"]["result"]["text"] == "hello bob"
    assert data["generation"].startswith("greet@1.0.0+build.")
    records = (await operator.run("audit.tail", limit=5))["records"]
    assert [r["code"] for r in records if r["request_id"] == data["request_id"]] == ["call.ok"]
    assert records[-1]["actor"] == ANN.to_json()


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


async def test_a_failing_call_is_data_and_an_unknown_command_is_a_refusal(operator: Operator) -> None:
    data = await operator.run("capability.call", name="text.greet", payload={})
    assert data["response"]["error"]["kind"] == "InvalidInput"
    with pytest.raises(CommandFailed) as failed:
        await operator.run("capability.explode")
    assert failed.value.kind is ErrorKind.INVALID_INPUT


@pytest.mark.parametrize(
    "given", [{"user": "x" * 300}, {"tags": {"k": "v" * 300}}, {"tags": {f"k{n}": "" for n in range(40)}}]
)
async def test_who_calls_and_its_tags_are_bounded(operator: Operator, given: dict[str, object]) -> None:
    with pytest.raises(CommandFailed) as failed:
        await operator.run("capability.call", name="text.greet", payload={"name": "bob"}, **given)
    assert failed.value.kind is ErrorKind.INVALID_INPUT


@pytest.mark.parametrize("params", [{}, {"id": 3}, {"id": ""}])
async def test_unfit_parameters_are_named(operator: Operator, params: dict[str, object]) -> None:
    with pytest.raises(CommandFailed) as failed:
        await operator.run("capability.inspect", **params)
    assert failed.value.kind is ErrorKind.INVALID_INPUT
    assert "id" in failed.value.message


@pytest.mark.parametrize("request_id", ["x" * 65, "a b", "a\nb", "\u00e9", 7])
async def test_a_request_id_has_the_shape_of_one(operator: Operator, request_id: object) -> None:
    with pytest.raises(CommandFailed, match="request_id") as failed:
        await operator.run("capability.call", name="text.greet", payload={"name": "bob"}, request_id=request_id)
    assert failed.value.kind is ErrorKind.INVALID_INPUT


async def test_text_that_is_not_utf_8_is_refused_and_not_a_defect(operator: Operator) -> None:
    for command, params in (
        ("capability.inspect", {"id": "\udcff"}),
        ("capability.call", {"name": "text.\udcff"}),
        ("capability.call", {"name": "text.greet", "tags": {"\udcff": "x"}}),
        ("capability.plan", {"ids": ["\udcff"]}),
    ):
        with pytest.raises(CommandFailed) as failed:
            await operator.run(command, **params)
        assert failed.value.kind is ErrorKind.INVALID_INPUT


@pytest.mark.parametrize("payload", [{"name": "\ud800"}, {"name": 1 << 70}])
async def test_a_payload_that_no_line_of_json_can_carry_is_refused(operator: Operator, payload: object) -> None:
    try:
        data = await operator.run("capability.call", name="text.greet", payload=payload)
    except CommandFailed as failed:
        assert failed.kind is ErrorKind.INVALID_INPUT
    else:
        assert data["response"]["error"]["kind"] == "InvalidInput"


async def test_who_waits_for_a_call_hears_how_far_it_is(operator: Operator, workspace: Path) -> None:
    body = """
    function invoke(ctx, request)
      for done = 1, 2 do
        ctx.host.progress{done = done, total = 2, message = "part " .. done .. "\\27"}
        local enough = os.clock() + 0.2
        while os.clock() < enough do end
      end
      return {ok = true, result = {}}
    end"""
    write(workspace, tool("slow", body))
    await operator.run("capability.reload", ids=["slow"])
    heard: list[tuple[Progress, int]] = []
    call = asyncio.create_task(
        operator.run(
            "capability.call",
            name="test.slow",
            on_progress=lambda progress: heard.append((progress, threading.get_ident())),
        )
    )
    await until(lambda: heard)
    (row,) = (await operator.snapshot(Cursor())).calls
    assert row.capability_id == "slow"
    assert row.progress is not None
    assert row.progress.message.startswith("part ")
    assert (await call)["response"]["ok"]
    told = [progress for progress, _ in heard]
    assert told in ([Progress(1, 2, "part 1␛"), Progress(2, 2, "part 2␛")], [Progress(2, 2, "part 2␛")])
    assert {thread for _, thread in heard} == {threading.get_ident()}


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


@pytest.mark.parametrize("actor", ["ann", ["ann"], {"type": []}])
async def test_an_unfit_actor_gets_an_answer(holder: LocalOperator, workspace: Path, actor: object) -> None:
    reader, writer = await asyncio.open_unix_connection(workspace / ".eva/control.sock")
    request = {"id": 1, "method": "run", "params": {"command": "status", "actor": actor}}
    writer.write(json.dumps(request).encode() + b"\n")
    reply = json.loads(await asyncio.wait_for(reader.readline(), 60))
    assert (reply["id"], reply["error"]["code"]) == (1, -32602)
    writer.close()


async def test_an_unknown_id_says_where_to_look(operator: Operator) -> None:
    with pytest.raises(CommandFailed) as failed:
        await operator.run("capability.drain", id="nobody")
    assert (failed.value.kind, failed.value.suggestion) == (ErrorKind.NOT_FOUND, "eva capability list")


@pytest.mark.parametrize(
    ("command", "given", "meant"),
    [
        ("capability.inspect", {"id": "gret"}, "greet"),
        ("capability.inspect", {"id": "Text_Greet"}, "greet"),
        ("capability.drain", {"id": "GREET"}, "greet"),
        ("capability.reload", {"ids": ["greet", "greets"]}, "greet"),
        ("capability.explain_rejected", {"id": "greeet"}, "greet"),
        ("capability.route", {"name": "text.gret"}, "text.greet"),
        ("why", {"what": "greett"}, "greet"),
    ],
)
async def test_an_id_that_is_nearly_one_is_told_apart_from_it(
    operator: Operator, command: str, given: dict[str, object], meant: str
) -> None:
    with pytest.raises(CommandFailed) as failed:
        await operator.run(command, **given)
    assert (failed.value.kind, failed.value.suggestion) == (ErrorKind.NOT_FOUND, f"did you mean {meant}?")


@pytest.mark.parametrize(
    ("given", "suggestion"),
    [
        ({"name": "text.gret"}, "did you mean text.greet?"),
        ({"name": "TEXT.greet"}, "did you mean text.greet?"),
        ({"name": "greet"}, "did you mean text.greet?"),
        ({"name": "text.greet", "provider": "greets"}, "did you mean greet?"),
        ({"name": "no.such"}, "eva capability list"),
        ({"name": "text.gree" + "e" * 300 + "t"}, "eva capability list"),
    ],
)
async def test_a_call_that_nothing_answers_to_says_what_may_have_been_meant(
    operator: Operator, given: dict[str, str], suggestion: str
) -> None:
    data = await operator.run("capability.call", **given)
    assert (data["response"]["error"]["kind"], data["suggestion"]) == ("NotFound", suggestion)


async def test_only_an_operator_is_told_which_names_there_are(holder: LocalOperator) -> None:
    stranger = LocalOperator(holder.kernel, Actor(CallerType.MCP, "somebody"))
    data = await stranger.run("capability.call", name="text.gret")
    assert "suggestion" not in data
    assert "text.greet" not in json.dumps(data)


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
    assert failed.value.kind is ErrorKind.CONFLICT
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


async def test_a_second_holder_is_told_who_holds_it(holder: LocalOperator, workspace: Path, monkeypatch) -> None:
    monkeypatch.setattr("evatui.control.kernel.LOCK_WAIT_S", 0.0)
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


async def test_a_command_of_the_moment_keeps_no_reader_out_and_the_next_one_in_line(workspace: Path) -> None:
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
    await until(lambda: not (workspace / ".eva/control.sock").exists())
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
    await until((workspace / ".eva/control.sock").exists)
    attached = await opened(workspace, OpenMode.ATTACH)
    data = await attached.run("capability.call", name="text.greet", payload={"name": "bob"})
    assert data["response"]["ok"]
    assert "call.ok" in "".join(path.read_text() for path in (workspace / ".eva/audit").iterdir())
    status = await attached.run("status")
    assert status["audit"]["word"] == "damaged"
    assert {problem["code"] for problem in status["problems"]} == {"EVA-119"}
    lost = [problem["spans"][0]["file"] for problem in status["problems"]]
    assert lost == [".eva/lock", ".eva/state.db", ".eva/store/content.db"]
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


async def test_a_folder_that_cannot_be_searched_stands_beside_the_list(tmp_path: Path) -> None:
    write(tmp_path, {"eva.yaml": "", "capabilities": "no folder"})
    reader = await opened(tmp_path, OpenMode.READ)
    data = await reader.run("capability.list")
    await reader.close()
    assert data["capabilities"] == []
    assert "EVA-116" in [problem["code"] for problem in data["problems"]]


async def test_who_watches_a_runtime_hears_that_it_stops(holder: LocalOperator, workspace: Path) -> None:
    attached = await opened(workspace, OpenMode.ATTACH)
    await attached.snapshot(Cursor())
    await holder.close()
    with pytest.raises(CommandFailed) as failed:
        await attached.snapshot(Cursor())
    assert failed.value.context["stopped"]
    await attached.close()


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
