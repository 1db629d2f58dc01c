"""How a change would begin is part of its plan, and of what a reload says that it did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evatui.runtime import Runtime
from tests.runtime.canary import GOOD, canary, greet, manifest
from tests.runtime.conftest import ANN
from tests.support.workspaces import MANIFEST, SCRIPT, save

TOOL, FILE = "capabilities/tools/greet.lua", "capabilities/greet.yaml"


async def planned(runtime: Runtime) -> dict[str, Any]:
    (change,) = (await runtime.reloader.plan()).changes
    return change.to_json()


async def applied(runtime: Runtime) -> dict[str, Any]:
    (change,) = (await runtime.reloader.run(actor=ANN, explicit=True)).changes
    return change.to_json()


async def test_a_plan_says_whose_calls_a_canary_would_get(start, workspace: Path) -> None:
    runtime = await start()
    await runtime.watch.close()
    save(workspace, TOOL, GOOD)
    save(workspace, FILE, manifest(canary="{percent: 10, users: [ann, bob], tags: {ring: beta}}"))
    change = await planned(runtime)
    assert (change["action"], greet(runtime).rollout) == ("update", None)
    assert change["begins"] == {
        "as": "canary",
        "takes": "10 %, users ann, bob, tags ring=beta",
        "beside": "g1",
        "ends": None,
        "state": None,
        "told": "as a canary for 10 %, users ann, bob, tags ring=beta, beside g1",
    }
    assert (await applied(runtime))["begins"] == change["begins"]
    assert greet(runtime).canary is not None


async def test_a_plan_says_which_canary_would_end(start, workspace: Path) -> None:
    runtime = await start()
    await runtime.watch.close()
    rollout = await canary(runtime, workspace)
    short = rollout.generation.name.short
    save(workspace, TOOL, GOOD.replace("two", "three"))
    assert (await planned(runtime))["begins"]["told"].endswith(f"beside g1; the canary {short} ends")
    save(workspace, FILE, MANIFEST)
    change = await planned(runtime)
    assert (change["begins"]["as"], change["begins"]["ends"]) == ("active", short)
    assert greet(runtime).rollout is rollout
    assert (await applied(runtime))["begins"]["ends"] == short


async def test_a_plan_says_that_state_is_carried_over_and_so_no_canary_comes_first(start, workspace: Path) -> None:
    runtime = await start()
    await runtime.watch.close()
    migrates = "function carry(ctx, rows) return true end\n"
    save(workspace, TOOL, migrates + GOOD)
    state = "state: {schema_version: 2, migrations: [{from: 1, to: 2, entry: carry}]}\n"
    save(workspace, FILE, manifest(more=state))
    begins = (await planned(runtime))["begins"]
    assert (begins["as"], begins["state"]) == ("active", {"from": 1, "to": 2})
    assert begins["told"] == "its state is carried over from schema 1 to 2, calls wait"


async def test_what_goes_into_service_like_any_other_has_nothing_to_tell(start, workspace: Path) -> None:
    runtime = await start()
    await runtime.watch.close()
    save(workspace, TOOL, SCRIPT.replace("one", "two"))
    assert (await planned(runtime))["begins"]["told"] == ""
    await applied(runtime)
    save(workspace, TOOL, "no Lua at all")
    assert (await planned(runtime))["begins"] is None
