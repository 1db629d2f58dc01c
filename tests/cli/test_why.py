"""`eva why`: what serves and why, what does not, what became of a request, and what there is to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evatui.cli.moments import ago
from evatui.control.kernel import Kernel
from tests.cli.real import Eva, holding
from tests.support.workspaces import EVERYTHING, GREETER, SCRIPT, save, tool, write

FILE = "capabilities/tools/greet.lua"
ASKS = "{adapters: {capabilities: [text.greet], providers: ['*']}, events: {emit: [/told]}}"
ASK = """
function invoke(ctx, request)
  ctx.host.emit_event{topic = "/told", payload = {}}
  return {ok = true, result = ctx.host.call_tool{capability = "text.greet", payload = {name = "ann"}}}
end
"""
FAILS = 'function invoke(ctx, request) error("no scale") end'


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    policy = {"capabilities/policies/default.yaml": EVERYTHING, "eva.yaml": "runtime: {hot_reload: false}\n"}
    write(root, {**GREETER, **tool("ask", ASK, permissions=ASKS), **tool("fails", FAILS), **policy})
    return root


@pytest.fixture
def eva(workspace: Path, capsys: pytest.CaptureFixture[str]) -> Eva:
    return Eva(workspace, capsys)


@pytest.fixture
def held(workspace: Path) -> Iterator[Kernel]:
    with holding(workspace) as kernel:
        yield kernel


def why(eva: Eva, what: str) -> dict[str, Any]:
    return eva.data("why", what)


def broken(eva: Eva, root: Path) -> None:
    save(root, FILE, "function invoke( end")
    eva.json("capability", "reload", code=2)


def test_a_capability_whose_file_is_broken_tells_what_serves_and_why_and_what_to_do(
    held: Kernel, eva: Eva, workspace: Path
) -> None:
    save(workspace, FILE, SCRIPT.replace("one", "two"))
    eva.json("capability", "reload")
    broken(eva, workspace)
    told = why(eva, "greet")
    assert (told["about"], told["state"], told["serving"]["number"]) == ("capability", "Active", "g4")
    assert told["serving"]["actor"]["type"] == "cli"
    assert told["serving"]["request_id"].startswith("req_")
    (found,) = told["on_disk"]["diagnostics"]
    assert (told["on_disk"]["status"], found["code"], found["place"]) == ("rejected", "EVA-502", f"{FILE}:1")
    assert [one["code"] for one in told["orders"]][-1] == "capability.rejected"
    assert [step["command"] or step["place"] for step in told["next"]] == [
        "eva capability explain-rejected greet",
        f"{FILE}:1",
    ]
    text = eva.text("why", "greet")[0]
    assert "g4 (version 1.0.0) serves, published " in text
    assert "since what the disk holds is refused." in text
    assert "EVA-502 " in text
    assert "eva capability explain-rejected greet   (the whole refusal" in text


def test_a_generation_tells_its_life_from_load_to_the_end(held: Kernel, eva: Eva, workspace: Path) -> None:
    first = why(eva, "greet")["serving"]["generation"]
    save(workspace, FILE, SCRIPT.replace("one", "two"))
    eva.json("capability", "reload")
    while (told := why(eva, first))["state"] != "Unregistered":
        pass
    assert (told["about"], told["state"], told["kept"]) == ("generation", "Unregistered", True)
    assert [one["to"] for one in told["transitions"]] == ["ShadowLoaded", "Active", "Draining", "Unregistered"]
    assert [one["code"] for one in told["orders"]] == ["capability.published", "capability.drained"]
    assert told["next"][0]["command"] == f"eva capability rollback greet --to {told['number']}"
    assert why(eva, told["number"])["id"] == first
    text = eva.text("why", told["number"])[0]
    assert f"{first} was made " in text
    assert "It is kept, so that it can be gone back to." in text


def test_a_request_tells_who_asked_what_answered_and_what_it_caused(held: Kernel, eva: Eva) -> None:
    request = eva.json("capability", "call", "test.ask")["data"]["request_id"]
    told = why(eva, request)
    assert (told["about"], told["call"]["outcome"], told["call"]["capability"]) == ("request", "ok", "test.ask")
    assert [(one["fn"], one["target"]) for one in told["effects"]] == [("emit_event", "/told")]
    assert [one["fn"] for one in told["host_calls"]] == ["emit_event", "call_tool"]
    assert [one["topic"] for one in told["events"]] == ["/told"]
    (child,) = told["children"]
    assert (child["capability"], child["outcome"]) == ("text.greet", "ok")
    assert why(eva, child["request_id"])["parent"]["request_id"] == request
    text = eva.text("why", request)[0]
    assert "called test.ask" in text
    assert "It ended after " in text
    assert f"text.greet  ok  {child['request_id']}" in text
    trace = eva.json("audit", "query", "--trace", told["call"]["trace_id"])["data"]["records"]
    assert [record["code"] for record in trace] == ["effect.intent", "call.ok", "call.ok"]


def test_an_order_is_a_request_too(held: Kernel, eva: Eva, workspace: Path) -> None:
    broken(eva, workspace)
    request = why(eva, "greet")["orders"][-1]["request_id"]
    told = why(eva, request)
    assert (told["call"], [one["code"] for one in told["orders"]]) == (None, ["capability.rejected"])
    assert [one["topic"] for one in told["events"]] == ["/capability/loading", "/capability/reload_failed"]
    assert "An order, and no call." in eva.text("why", request)[0]


def test_without_a_runtime_it_is_told_from_what_is_kept(eva: Eva, workspace: Path) -> None:
    failed = eva.json("capability", "call", "test.fails", code=6)["data"]["request_id"]
    told = why(eva, "fails")
    assert [one["request_id"] for one in told["faults"]] == [failed]
    assert told["next"][-1]["command"] == "eva audit query --capability fails --outcome error"
    assert why(eva, failed)["call"]["error_kind"] == "HandlerError"
    assert why(eva, told["serving"]["generation"])["capability_id"] == "fails"
    assert eva.json("why", "nobody", code=2)["error"]["kind"] == "NotFound"
    assert eva.json("why", code=64)["error"]["kind"] == "InvalidInput"


def test_times_are_told_from_now() -> None:
    now = "2026-01-02T00:00:00.500Z"
    said = [ago(at, now) for at in ("2026-01-02T00:00:00.400Z", "2026-01-01T23:59:58Z", "2026-01-01T22:59:00Z")]
    assert said == ["just now", "2 seconds ago", "1 hour ago"]
    assert ago("2025-12-30T00:00:00Z", now) == "3 days ago"
    assert ago(None, now) == "at a time that is not known"
