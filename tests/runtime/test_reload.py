"""Save a file and the new version answers; save a broken one and the old one goes on."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import time
import weakref
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evatui.control.explained_refusals import explained
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.lifecycle import State
from evatui.kernel.storage.history import History
from evatui.runtime import Runtime
from tests.runtime.conftest import ANN, call
from tests.support.waiting import until
from tests.support.workspaces import INPUT, MANIFEST, OUTPUT, POLICY, SCRIPT, save, tool, write


async def told(runtime: Runtime, what: str, capability_id: str = "greet") -> dict[str, object]:
    """Waits for the next ``/capability/<what>`` of ``capability_id``; returns its payload."""
    with closing(runtime.bus.subscribe(f"/capability/{what}")) as news:
        async with asyncio.timeout(60):
            async for event in news:
                if event.payload["id"] == capability_id:
                    return dict(event.payload)
    raise AssertionError


async def saved(runtime: Runtime, root: Path, name: str, text: str, what: str) -> dict[str, object]:
    waiting = asyncio.create_task(told(runtime, what))
    await asyncio.sleep(0)
    save(root, name, text)
    return await waiting


async def test_a_saved_script_answers_and_the_old_one_is_freed(start, workspace: Path) -> None:
    runtime = await start()
    assert (await call(runtime)).response.result == {"text": "hello ann", "by": "one"}
    old = runtime.table.active["greet"]
    program, number = weakref.ref(old.program), old.name.number
    del old
    payload = await saved(runtime, workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "two"), "reloaded")
    report = await call(runtime)
    assert report.response.result == {"text": "hello ann", "by": "two"}
    assert report.generation == payload["generation"]
    assert runtime.table.active["greet"].name.number > number
    await until(lambda: gc.collect() >= 0 and program() is None)


BROKEN = {
    "syntax error": ("capabilities/tools/greet.lua", SCRIPT + "\nfunction oops(", "EVA-5", "greet.lua"),
    "failing health check": (
        "capabilities/tools/greet.lua",
        SCRIPT.replace("return {ok = true}\n", 'error("no scale attached")\n'),
        "EVA-5",
        "greet.lua",
    ),
    "unknown manifest key": ("capabilities/greet.yaml", MANIFEST + "colour: red\n", "EVA-2", "greet.yaml"),
    "missing schema": (
        "capabilities/greet.yaml",
        MANIFEST.replace("greet.input.json", "nowhere.json"),
        "EVA-3",
        "greet.yaml",
    ),
    "script outside the roots": (
        "capabilities/greet.yaml",
        MANIFEST.replace("capabilities/tools/greet.lua", "../greet.lua"),
        "EVA-2",
        "greet.yaml",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_save_is_refused_with_its_place_and_the_repair_clears_it(start, workspace, name) -> None:
    file, text, code, place = BROKEN[name]
    sound = (workspace / file).read_text()
    runtime = await start()
    serving = runtime.table
    await saved(runtime, workspace, file, text, "reload_failed")
    capability = runtime.registry.capabilities["greet"]
    first = capability.rejection.diagnostics[0]
    assert first.code.startswith(code)
    assert first.primary.file.endswith(place)
    assert f"{first.primary.file}:{first.primary.line}:{first.primary.column}" in first.rendered
    assert runtime.table is serving
    assert (await call(runtime)).response.result["by"] == "one"
    save(workspace, file, sound)
    await until(lambda: capability.rejection is None)
    assert capability.state is State.ACTIVE
    assert runtime.registry.trail.counts[State.REJECTED] == 0


async def test_a_deleted_manifest_lets_running_calls_end_and_then_is_unregistered(start, workspace: Path) -> None:
    write(workspace, tool("slow", SLOW))
    write(workspace, tool("gate", "function invoke(ctx, request) return {ok = true, result = {}} end"))
    runtime = await start()
    running = asyncio.create_task(call(runtime, "test.slow", {}))
    await until(lambda: runtime.registry.capabilities["slow"].in_flight)
    waiting = asyncio.create_task(told(runtime, "unregistered", "slow"))
    await asyncio.sleep(0)
    (workspace / "capabilities/slow.yaml").unlink()
    await until(lambda: "slow" not in runtime.table.active)
    refused = await call(runtime, "test.slow", {})
    assert refused.response.error.kind is ErrorKind.NOT_FOUND
    assert refused.response.error.details["reason"] == "unregistered"
    assert (await running).response.ok
    await waiting
    assert runtime.registry.capabilities["slow"].state is State.UNREGISTERED


SLOW = """
function invoke(ctx, request)
  local from = os.clock()
  while os.clock() - from < 0.4 do end
  return {ok = true, result = {}}
end
"""


async def test_events_tell_an_update_in_order(start, workspace: Path) -> None:
    runtime = await start()
    seen = runtime.bus.since(0)[0][-1].seq
    await saved(runtime, workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "two"), "reloaded")
    topics = [e.topic for e in runtime.bus.since(seen)[0] if e.topic.startswith("/capability/")]
    assert topics == [f"/capability/{word}" for word in ("loading", "loaded", "draining", "reloaded")]


async def test_the_same_bytes_saved_again_change_nothing(start, workspace: Path) -> None:
    runtime = await start()
    serving, seen = runtime.table, runtime.bus.since(0)[0][-1].seq
    save(workspace, "capabilities/tools/greet.lua", SCRIPT)
    plan = await runtime.reloader.run(actor=ANN, explicit=True)
    assert [change.action.value for change in plan.changes] == ["unchanged"]
    assert runtime.table is serving
    assert not [e for e in runtime.bus.since(seen)[0] if e.topic.startswith("/capability/")]


async def test_a_plan_says_what_would_change_and_touches_nothing(start, workspace: Path) -> None:
    runtime = await start()
    serving = runtime.table
    (workspace / "capabilities/policies/default.yaml").write_text(POLICY + "\n")
    write(workspace, tool("broken", "function invoke( end"))
    plan = await runtime.reloader.plan()
    actions = {change.key: change.action.value for change in plan.changes}
    assert actions["broken"] == "reject"
    assert runtime.table.active["greet"] is serving.active["greet"]


async def test_two_manifests_with_one_id_name_both_files_and_the_active_one_stays(start, workspace: Path) -> None:
    runtime = await start()
    write(workspace, {"capabilities/twin.yaml": MANIFEST.replace("1.0.0", "2.0.0")})
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert (await call(runtime)).response.ok
    rejection, _ = runtime.registry.strays["capabilities/twin.yaml"]
    text = rejection.diagnostics[0].rendered
    assert "capabilities/twin.yaml" in text
    assert "capabilities/greet.yaml" in text


async def denied(runtime: Runtime) -> None:
    capability = runtime.registry.capabilities["greet"]
    await until(lambda: capability.state is State.DISABLED)
    error = (await call(runtime)).response.error
    assert (error.kind, error.details["reason"]) == (ErrorKind.UNAVAILABLE, "policy_denied")


async def test_a_policy_that_denies_an_id_drains_and_disables_it_until_it_is_allowed(start, workspace: Path) -> None:
    runtime = await start()
    save(workspace, "capabilities/policies/default.yaml", POLICY + "deny: {ids: [greet]}\n")
    await denied(runtime)
    capability = runtime.registry.capabilities["greet"]
    assert capability.rejection is not None
    assert capability.rejection.diagnostics[0].code == "EVA-413"
    edges = [(edge.old, edge.new) for edge in runtime.registry.trail.of("greet")]
    assert (State.ACTIVE, State.DRAINING) in edges
    assert (State.DRAINING, State.DISABLED) in edges
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "two"))
    await runtime.reloader.run(actor=ANN, explicit=True)
    await denied(runtime)
    save(workspace, "capabilities/policies/default.yaml", POLICY)
    await until(lambda: "greet" in runtime.table.active)
    assert (await call(runtime)).response.result["by"] == "two"
    assert capability.state is State.ACTIVE


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize("denial", ["capabilities: [text.*]", "kinds: [lua_tool]"])
async def test_what_serves_under_a_name_or_a_kind_that_is_denied_goes_too(
    start, workspace: Path, denial: str, broken: bool
) -> None:
    runtime = await start()
    if broken:
        save(workspace, "capabilities/greet.yaml", "id: greet\nid: [")
        await told(runtime, "reload_failed")
    save(workspace, "capabilities/policies/default.yaml", POLICY + f"deny: {{{denial}}}\n")
    await denied(runtime)


async def test_a_policy_denies_an_id_also_while_its_file_is_broken(start, workspace: Path) -> None:
    runtime = await start()
    save(workspace, "capabilities/greet.yaml", "id: [")
    await told(runtime, "reload_failed")
    save(workspace, "capabilities/policies/default.yaml", POLICY + "deny: {ids: [greet]}\n")
    await denied(runtime)


async def test_an_id_that_was_denied_from_the_start_was_never_served(start, workspace: Path) -> None:
    save(workspace, "capabilities/policies/default.yaml", POLICY + "deny: {ids: [greet]}\n")
    runtime = await start()
    error = (await call(runtime)).response.error
    assert (error.kind, error.details["reason"]) == (ErrorKind.NOT_FOUND, "policy_denied")
    assert runtime.registry.capabilities["greet"].state is State.REJECTED


@pytest.mark.parametrize(
    ("name", "text"),
    [("schemas/greet.input.json", INPUT.replace('"required": ["name"], ', "")), ("schemas/greet.output.json", OUTPUT)],
)
async def test_schemas_belong_to_the_version(start, workspace: Path, name: str, text: str) -> None:
    runtime = await start()
    before = runtime.table.active["greet"].digest
    save(workspace, name, text)
    plan = await runtime.reloader.run(actor=ANN, explicit=True)
    changed = (runtime.table.active["greet"].digest != before) or plan.changes[0].action.value == "update"
    assert changed == (text != OUTPUT)


SLEEPY = SCRIPT.replace(
    "function health_check(ctx)\n",
    "function health_check(ctx)\n  local t = os.clock() while os.clock() - t < 0.3 do end\n",
)


ENDLESS = SCRIPT.replace("function health_check(ctx)\n", "function health_check(ctx)\n  while true do end\n")


async def test_looks_that_come_faster_than_a_load_do_not_starve_it(start, workspace: Path) -> None:
    runtime = await start()
    save(workspace, "capabilities/tools/greet.lua", SLEEPY.replace("one", "two"))
    async with asyncio.timeout(60):
        while (
            runtime.table.active["greet"].candidate.snapshot.files["capabilities/tools/greet.lua"].data
            != SLEEPY.replace("one", "two").encode()
        ):
            await runtime.reloader.follow(frozenset())
    assert (await call(runtime)).response.result["by"] == "two"


async def test_a_slow_load_holds_up_no_other_capability(start, workspace: Path) -> None:
    write(workspace, tool("quick", 'function invoke(ctx, request) return {ok = true, result = "old"} end'))
    runtime = await start()
    save(workspace, "capabilities/tools/greet.lua", ENDLESS)
    await runtime.reloader.follow(frozenset())
    save(
        workspace,
        "capabilities/tools/quick.lua",
        'function invoke(ctx, request) return {ok = true, result = "new"} end',
    )
    await runtime.reloader.follow(frozenset())
    async with asyncio.timeout(60):
        while (await call(runtime, "test.quick", {})).response.result != "new":
            await asyncio.sleep(0.005)
    assert runtime.registry.capabilities["greet"].attempt is not None


async def test_going_back_to_what_serves_stops_what_is_coming(start, workspace: Path) -> None:
    runtime = await start()
    serving = runtime.table.active["greet"]
    save(workspace, "capabilities/tools/greet.lua", ENDLESS)
    await runtime.reloader.follow(frozenset())
    save(workspace, "capabilities/tools/greet.lua", SCRIPT)
    await runtime.reloader.run(actor=ANN, explicit=True)
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert runtime.table.active["greet"] is serving
    assert runtime.registry.capabilities["greet"].attempt is None


async def test_without_hot_reload_the_disk_is_watched_but_only_a_hand_applies_it(start, workspace: Path) -> None:
    write(workspace, {"eva.yaml": "runtime: {hot_reload: false}\n"})
    runtime = await start()
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "two"))
    capability = runtime.registry.capabilities["greet"]
    await until(lambda: capability.disk_digest != runtime.table.active["greet"].digest)
    assert (await call(runtime)).response.result["by"] == "one"
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert (await call(runtime)).response.result["by"] == "two"
    (workspace / "capabilities/greet.yaml").unlink()
    await runtime.reloader.follow(frozenset())
    assert (await call(runtime)).response.ok


async def test_a_version_that_could_not_be_recorded_is_tried_again_by_itself(
    start, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evatui.kernel.storage.database._BUSY_TIMEOUT_S", 0.1)
    runtime = await start()
    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "two"))
    with closing(sqlite3.connect(workspace / ".eva/state.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        await until(lambda: runtime.registry.capabilities["greet"].rejection is not None)
        assert "recorded" in runtime.registry.capabilities["greet"].rejection.diagnostics[0].message
        assert (await call(runtime)).response.result["by"] == "one"
    await runtime.reloader.follow(frozenset())
    await until(lambda: runtime.registry.capabilities["greet"].rejection is None)
    assert (await call(runtime)).response.result["by"] == "two"


async def test_a_disk_that_is_slow_to_record_a_version_is_not_held_against_it(
    start, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = History.record_generation

    def slowly(self: History, *arguments: Any, **options: Any) -> object:
        time.sleep(1.1)
        return record(self, *arguments, **options)

    monkeypatch.setattr(History, "record_generation", slowly)
    save(workspace, "capabilities/greet.yaml", MANIFEST.replace("timeout_ms: 20000", "timeout_ms: 1000"))
    runtime = await start()
    assert runtime.registry.capabilities["greet"].state is State.ACTIVE


async def test_a_refused_manifest_is_held_against_the_one_that_serves(start, workspace: Path) -> None:
    runtime = await start()
    broken = MANIFEST.replace("version: 1.0.0", "version: 1.1.0").replace(
        "limits: {timeout_ms: 20000", "limits: {timeout_ms: 999999999"
    )
    save(workspace, "capabilities/greet.yaml", broken)
    await runtime.reloader.run(explicit=True)
    (found,) = (await explained(runtime, "greet", None))["rejections"]
    assert [(entry["path"], entry["from"], entry["to"]) for entry in found["difference"]] == [
        ("limits.timeout_ms", 20000, 999999999),
        ("version", "1.0.0", "1.1.0"),
    ]
