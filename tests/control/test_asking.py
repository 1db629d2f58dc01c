"""What is asked of a runtime, in its process and over its socket: calls, parameters, and what may have been meant."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.local import LocalOperator
from evatui.control.operator import Operator
from evatui.control.snapshot import Cursor
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.progress import Progress
from tests.control.crowd import ANN
from tests.support.waiting import until
from tests.support.workspaces import tool, write


async def test_a_call_answers_and_names_its_generation(operator: Operator) -> None:
    data = await operator.run("capability.call", name="text.greet", payload={"name": "bob"})
    assert data["response"]["result"]["text"] == "hello bob"
    assert data["generation"].startswith("greet@1.0.0+build.")
    records = (await operator.run("audit.query", request=data["request_id"]))["records"]
    assert [(record["code"], record["actor"]) for record in records] == [("call.ok", ANN.to_json())]


async def test_what_was_ordered_is_on_record_for_whoever_asks_next(operator: Operator, holder: LocalOperator) -> None:
    holder.kernel._runtime.registry.journal.later(time.sleep, 0.3)  # a slow disk
    await operator.run("capability.disable", id="greet")
    for command in ("audit.tail", "audit.query"):
        (found,) = (await operator.run(command, code="capability.disabled", limit=1))["records"]
        assert found["actor"] == ANN.to_json()


async def test_a_failing_call_is_data_and_an_unknown_command_is_a_refusal(operator: Operator) -> None:
    data = await operator.run("capability.call", name="text.greet", payload={})
    assert data["response"]["error"]["kind"] == "InvalidInput"
    with pytest.raises(CommandFailed) as failed:
        await operator.run("capability.explode")
    assert failed.value.kind is ErrorKind.INVALID_INPUT


GREET = {"name": "text.greet", "payload": {"name": "bob"}}
UNFIT = [
    ("capability.call", {**GREET, "user": "x" * 300}, "user"),
    ("capability.call", {**GREET, "tags": {"k": "v" * 300}}, "tag"),
    ("capability.call", {**GREET, "tags": {f"k{n}": "" for n in range(40)}}, "tag"),
    ("capability.inspect", {}, "id"),
    ("capability.inspect", {"id": 3}, "id"),
    ("capability.inspect", {"id": ""}, "id"),
    *[
        ("capability.call", {**GREET, "request_id": one}, "request_id")
        for one in ("x" * 65, "a b", "a\nb", "\u00e9", 7)
    ],
]


async def test_unfit_parameters_are_named(operator: Operator) -> None:
    for command, given, named in UNFIT:
        with pytest.raises(CommandFailed, match=named) as failed:
            await operator.run(command, **given)
        assert failed.value.kind is ErrorKind.INVALID_INPUT, given


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


async def test_a_payload_that_no_line_of_json_can_carry_is_refused(operator: Operator) -> None:
    for name in ("\ud800", 1 << 70):
        try:
            data = await operator.run("capability.call", name="text.greet", payload={"name": name})
        except CommandFailed as failed:
            assert failed.kind is ErrorKind.INVALID_INPUT, name
        else:
            assert data["response"]["error"]["kind"] == "InvalidInput", name


async def test_who_waits_for_a_call_hears_how_far_it_is(
    operator: Operator, holder: LocalOperator, workspace: Path
) -> None:
    body = """
    function invoke(ctx, request)
      for done = 1, 2 do
        ctx.host.progress{done = done, total = 2, message = "part " .. done .. "\\27"}
      end
      while ctx.host.state_get{key = "go"}.version == 0 do end
      return {ok = true, result = {}}
    end"""
    write(workspace, tool("slow", body, limits="{timeout_ms: 60000, host_calls: 1000000}"))
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
    await asyncio.to_thread(holder.kernel._runtime.state.set, "slow", 1, "go", True)
    assert (await call)["response"]["ok"]
    told = [progress for progress, _ in heard]
    assert told in ([Progress(1, 2, "part 1␛"), Progress(2, 2, "part 2␛")], [Progress(2, 2, "part 2␛")])
    assert {thread for _, thread in heard} == {threading.get_ident()}


async def test_an_unfit_actor_gets_an_answer(holder: LocalOperator) -> None:
    reader, writer = await asyncio.open_unix_connection(holder.kernel.address)
    for actor in ("ann", ["ann"], {"type": []}):
        request = {"id": 1, "method": "run", "params": {"command": "status", "actor": actor}}
        writer.write(json.dumps(request).encode() + b"\n")
        reply = json.loads(await asyncio.wait_for(reader.readline(), 60))
        assert (reply["id"], reply["error"]["code"]) == (1, -32602), actor
    writer.close()


async def test_an_unknown_id_says_where_to_look(operator: Operator) -> None:
    with pytest.raises(CommandFailed) as failed:
        await operator.run("capability.drain", id="nobody")
    assert (failed.value.kind, failed.value.suggestion) == (ErrorKind.NOT_FOUND, "eva capability list")


NEARLY = [
    ("capability.inspect", {"id": "gret"}, "greet"),
    ("capability.inspect", {"id": "Text_Greet"}, "greet"),
    ("capability.drain", {"id": "GREET"}, "greet"),
    ("capability.reload", {"ids": ["greet", "greets"]}, "greet"),
    ("capability.explain_rejected", {"id": "greeet"}, "greet"),
    ("capability.route", {"name": "text.gret"}, "text.greet"),
    ("why", {"what": "greett"}, "greet"),
]
UNANSWERED = [
    ({"name": "text.gret"}, "did you mean text.greet?"),
    ({"name": "TEXT.greet"}, "did you mean text.greet?"),
    ({"name": "greet"}, "did you mean text.greet?"),
    ({"name": "text.greet", "provider": "greets"}, "did you mean greet?"),
    ({"name": "no.such"}, "eva capability list"),
    ({"name": "text.gree" + "e" * 300 + "t"}, "eva capability list"),
]


async def test_what_is_nearly_an_id_or_a_name_is_told_apart_from_it(operator: Operator) -> None:
    for command, given, meant in NEARLY:
        with pytest.raises(CommandFailed) as failed:
            await operator.run(command, **given)
        assert (failed.value.kind, failed.value.suggestion) == (ErrorKind.NOT_FOUND, f"did you mean {meant}?"), given
    for called, suggestion in UNANSWERED:
        data = await operator.run("capability.call", **called)
        assert (data["response"]["error"]["kind"], data["suggestion"]) == ("NotFound", suggestion), called


async def test_only_an_operator_is_told_which_names_there_are(holder: LocalOperator) -> None:
    stranger = LocalOperator(holder.kernel, Actor(CallerType.MCP, "somebody"))
    data = await stranger.run("capability.call", name="text.gret")
    assert "suggestion" not in data
    assert "text.greet" not in json.dumps(data)
