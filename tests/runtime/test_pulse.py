"""What serves is asked for its health again and again: it is told, and comes last, but goes on."""

from __future__ import annotations

from pathlib import Path

from evatui.control.queries import Queries
from evatui.control.standing import marks
from tests.runtime.canary import events
from tests.runtime.conftest import ANN, call
from tests.support.workspaces import SCRIPT, save, write

TOOL = "capabilities/tools/greet.lua"
SICK = SCRIPT.replace("{ok = true}\nend", "{ok = ctx.host.state_get{key = 'sick'}.value ~= true}\nend").replace(
    "function invoke(ctx, request)",
    "function invoke(ctx, request)\n  ctx.host.state_set{key = 'sick', value = request.payload.name == 'sick'}",
)


async def test_an_unwell_generation_is_told_comes_last_and_goes_on(start, workspace: Path) -> None:
    save(workspace, TOOL, SICK)
    manifest = (workspace / "capabilities/greet.yaml").read_text()
    other = manifest.replace("id: greet", "id: other").replace("tools/greet.lua", "tools/other.lua")
    write(workspace, {"capabilities/other.yaml": other, "capabilities/tools/other.lua": SCRIPT.replace("one", "two")})
    save(workspace, "capabilities/greet.yaml", manifest + "priority: 90\n")
    runtime = await start()
    greet = runtime.registry.capabilities["greet"]
    assert (await call(runtime, payload={"name": "sick"})).response.result["by"] == "one"
    await runtime.pulse.beat()
    assert marks(greet) == ("unwell",)
    assert (await call(runtime)).response.result["by"] == "two"
    assert (await call(runtime, provider="greet")).response.result["by"] == "one"
    await runtime.pulse.beat()
    assert marks(greet) == ()
    assert (await call(runtime)).response.result["by"] == "one"
    told = [event.payload for event in runtime.bus.since(0)[0] if event.topic == "/capability/health_changed"]
    assert [(event["id"], event["reason"]) for event in told] == [("greet", "health_failed"), ("greet", None)]
    assert told[0]["diagnostics"][0]["code"].startswith("EVA-5")
    assert greet.draining == []


async def test_a_version_is_asked_itself_and_the_answer_says_which_it_was(start, workspace: Path) -> None:
    """Were the one that serves asked in its place, a dead version would be taken for well."""
    runtime = await start()
    await runtime.watch.close()  # it would refuse the same bytes once more
    health, serving = Queries(runtime).answers["capability.health"], runtime.table.active["greet"].name.id
    save(workspace, TOOL, SCRIPT.replace("{ok = true}\nend", "{ok = false}\nend"))
    await runtime.reloader.run(explicit=True)
    (told,) = events(runtime, "reload_failed")
    assert (told["reason"], told["from_generation"]) == ("health_failed", serving)
    assert told["generation"].startswith("greet@1.0.0+build.")
    assert told["generation"] != serving
    assert (await health({"id": "greet"}, ANN)).items() >= {"ok": True, "generation": serving, "error": None}.items()


async def test_a_new_version_begins_well(start, workspace: Path) -> None:
    save(workspace, TOOL, SICK)
    runtime = await start()
    await call(runtime, payload={"name": "sick"})
    await runtime.pulse.beat()
    save(workspace, TOOL, SCRIPT)
    await runtime.reloader.run(explicit=True)
    assert marks(runtime.registry.capabilities["greet"]) == ()
