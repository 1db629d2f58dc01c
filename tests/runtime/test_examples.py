"""The examples of a version run before it serves: they warn or refuse, and show what changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from evatui.control import testing
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.model.lifecycle import State
from tests.runtime.conftest import ANN, call
from tests.support.waiting import until
from tests.support.workspaces import SCRIPT, save, tool, write

EXAMPLE = "name: Ann\npayload: {name: ann}\nexpect:\n  result: {text: hello ann, by: one}\n"
BY_HAND = "version: 1\nruntime: {hot_reload: false}\n"


@pytest.fixture
def workspace(workspace: Path) -> Path:
    write(workspace, {"capabilities/examples/greet/ann.yaml": EXAMPLE, "eva.yaml": BY_HAND})
    return workspace


def requires(workspace: Path, word: str = "require") -> None:
    path = workspace / "capabilities/greet.yaml"
    path.write_text(path.read_text().replace("reload: {", f"reload: {{examples: {word}, "))


async def changed(runtime, workspace: Path, word: str, *, plan: bool = False) -> dict:
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", word))
    made = await (runtime.reloader.plan() if plan else runtime.reloader.run(actor=ANN, explicit=True))
    (change,) = [one.to_json() for one in made.changes if one.action.value != "unchanged"]
    return change


async def test_a_plan_shows_the_old_answer_beside_the_new_one(start, workspace: Path) -> None:
    runtime = await start()
    change = await changed(runtime, workspace, "two", plan=True)
    (example,) = change["examples"]
    assert (change["action"], example["ok"], example["changed"]) == ("update", False, True)
    assert example["before"]["result"] == {"text": "hello ann", "by": "one"}
    assert example["after"]["result"] == {"text": "hello ann", "by": "two"}
    (warning,) = change["warnings"]
    assert warning["code"] == "EVA-602"
    assert "result.by is 'two', not 'one'" in warning["message"]
    assert "capabilities/examples/greet/ann.yaml:3:1" in warning["rendered"]
    assert (await call(runtime)).response.result["by"] == "one"


async def test_a_failing_example_warns_and_the_version_serves(start, workspace: Path) -> None:
    runtime = await start()
    change = await changed(runtime, workspace, "two")
    assert [warning["level"] for warning in change["warnings"]] == ["warning"]
    assert (await call(runtime)).response.result["by"] == "two"


@pytest.mark.parametrize("plan", [True, False])
async def test_a_version_that_requires_its_examples_is_refused_and_the_old_one_serves(
    start, workspace: Path, plan: bool
) -> None:
    requires(workspace)
    runtime = await start()
    change = await changed(runtime, workspace, "two", plan=plan)
    assert change["action"] == "reject"
    assert change["diagnostics"][0]["reason"] == Reason.EXAMPLES_FAILED
    assert (await call(runtime)).response.result["by"] == "one"


async def test_a_refused_version_is_tried_again_when_its_examples_change_and_only_then(start, workspace: Path) -> None:
    requires(workspace)
    (workspace / "eva.yaml").unlink()
    runtime = await start()
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "two"))
    await until(lambda: runtime.registry.capabilities["greet"].rejection is not None)
    await runtime.reloader.follow(frozenset({"capabilities/other.txt"}))
    seen = runtime.bus.since(0)[0][-1].seq
    save(workspace, "capabilities/other.txt", "")
    await runtime.reloader.follow(frozenset({"capabilities/other.txt"}))
    assert not [event for event in runtime.bus.since(seen)[0] if event.topic.startswith("/capability/")]
    save(workspace, "capabilities/examples/greet/ann.yaml", EXAMPLE.replace("by: one", "by: two"))
    await runtime.reloader.follow(frozenset({"capabilities/examples/greet/ann.yaml"}))
    await until(lambda: runtime.registry.capabilities["greet"].rejection is None)
    assert (await call(runtime)).response.result["by"] == "two"


async def test_an_example_that_cannot_be_read_counts_as_one_that_fails(start, workspace: Path) -> None:
    requires(workspace)
    save(workspace, "capabilities/examples/greet/ann.yaml", "payload: {}\nexpected: 1\n")
    runtime = await start()
    capability = runtime.registry.capabilities["greet"]
    assert capability.state is State.REJECTED
    assert [(d.code, d.primary.line) for d in capability.rejection.diagnostics] == [("EVA-601", 1), ("EVA-601", 2)]


async def test_examples_change_nothing(start, workspace: Path) -> None:
    body = 'function invoke(ctx) return {ok = true, result = ctx.host.state_set{key = "k", value = 1}} end'
    write(workspace, tool("writer", body, reload="{examples: require}"))
    write(workspace, {"capabilities/examples/writer/one.yaml": "name: one\nexpect: {error_kind: PolicyDenied}\n"})
    runtime = await start()
    assert "writer" in runtime.table.active


async def test_the_command_runs_them_as_calls(start, workspace: Path) -> None:
    runtime = await start()
    before = runtime.registry.capabilities["greet"].calls
    told = await testing.tested(runtime, None, ANN)
    assert (told["passed"], told["failed"]) == (1, 0)
    assert runtime.registry.capabilities["greet"].calls == before + 1
    await changed(runtime, workspace, "two")
    told = await testing.tested(runtime, runtime.registry.capabilities["greet"], ANN)
    assert (told["passed"], told["failed"]) == (0, 1)
    assert told["capabilities"][0]["examples"][0]["problem"]["code"] == "EVA-602"
