"""Changes that came together: one table for all of them that are sound, and no instant between."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.admission.verdict import Rejection
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.registry import reload, together
from evatui.kernel.registry.table import Table
from evatui.runtime import Runtime
from tests.runtime.conftest import ANN, call
from tests.support.waiting import until
from tests.support.workspaces import save, tool, write

NAMES = ("a", "b", "c")


def script(by: str) -> str:
    return f'function invoke(ctx, request) return {{ok = true, result = {{by = "{by}"}}}} end'


@pytest.fixture
def three(workspace: Path) -> Path:
    for name in NAMES:
        write(workspace, tool(name, script("old")))
    return workspace


def tables(runtime: Runtime) -> list[Table]:
    """Every table from now on, in order, as long as it was seen by whoever was told of an edge."""
    seen = [runtime.table]

    def look() -> None:
        if runtime.table is not seen[-1]:
            seen.append(runtime.table)

    runtime.on_change(look)
    return seen


def held(monkeypatch: pytest.MonkeyPatch, runtime: Runtime, step: str, *only: str) -> asyncio.Event:
    """Shadow loads, or their health, take until the event; of ``only`` these ids, where any are named."""
    go, done = asyncio.Event(), getattr(runtime.shadow, step)

    async def slow(candidate: Any, *given: Any) -> Any:
        if not only or candidate.id in only:
            await go.wait()
        return await done(candidate, *given)

    monkeypatch.setattr(runtime.shadow, step, slow)
    return go


async def says(runtime: Runtime, name: str) -> str:
    response = (await call(runtime, f"test.{name}", {})).response
    return str(response.result["by"]) if response.ok else str(response.error.kind)


async def test_what_came_together_takes_effect_together(start, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "TOGETHER_SECONDS", 60)
    runtime = await start()
    seen = tables(runtime)
    for name in NAMES:
        save(three, f"capabilities/tools/{name}.lua", script("new"))
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert len(seen) == 2
    assert [await says(runtime, name) for name in NAMES] == ["new"] * 3


async def test_what_is_refused_keeps_no_other_change_of_its_set_from_serving(start, three: Path) -> None:
    runtime = await start()
    old = runtime.table.active["b"]
    save(three, "capabilities/tools/a.lua", script("new"))
    save(three, "capabilities/tools/b.lua", "this is no Lua")
    save(three, "capabilities/c.yaml", "id: c\nkind: nothing\n")
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert [await says(runtime, name) for name in NAMES] == ["new", "old", "old"]
    assert runtime.table.active["b"] is old


async def test_what_is_slow_to_come_up_holds_up_the_others_for_a_moment(
    start, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "TOGETHER_SECONDS", 0.02)
    runtime = await start()
    go = held(monkeypatch, runtime, "load", "a")
    for name in NAMES:
        save(three, f"capabilities/tools/{name}.lua", script("new"))
    ending = asyncio.create_task(runtime.reloader.run(actor=ANN, explicit=True))
    async with asyncio.timeout(60):
        while [await says(runtime, name) for name in NAMES] != ["old", "new", "new"]:
            await asyncio.sleep(0.005)
    go.set()
    await ending
    assert await says(runtime, "a") == "new"


async def test_a_capability_under_another_id_leaves_no_instant_without_a_provider(
    start, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "TOGETHER_SECONDS", 60)
    runtime = await start()
    seen = tables(runtime)
    (three / "capabilities/a.yaml").unlink()
    renamed = tool("z", script("renamed"))
    write(three, {path: text.replace("test.z", "test.a") for path, text in renamed.items()})
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert [table.providers["test.a"] for table in seen] == [("a",), ("z",)]
    assert await says(runtime, "a") == "renamed"


async def test_what_an_operator_orders_meanwhile_is_the_later_order(
    start, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = await start()
    go = held(monkeypatch, runtime, "health", "b")
    monkeypatch.setattr(together, "TOGETHER_SECONDS", 60)
    for name in NAMES[:2]:
        save(three, f"capabilities/tools/{name}.lua", script("new"))
    ending = asyncio.create_task(runtime.reloader.run(actor=ANN, explicit=True))
    await until(lambda: runtime.registry.capabilities["a"].attempt is not None)
    await runtime.operations.disable("a", ANN)
    go.set()
    await ending
    assert [await says(runtime, name) for name in NAMES] == [ErrorKind.UNAVAILABLE.value, "new", "old"]
    assert runtime.registry.capabilities["a"].in_flight == 0


async def test_a_file_that_was_removed_and_comes_back_within_the_moment_goes_on_serving(
    start, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = await start()
    serving = runtime.table.active["a"]
    go = held(monkeypatch, runtime, "load")
    monkeypatch.setattr(together, "TOGETHER_SECONDS", 60)
    manifest = three / "capabilities/a.yaml"
    text = manifest.read_text()
    manifest.unlink()
    save(three, "capabilities/tools/b.lua", script("new"))
    first = asyncio.create_task(runtime.reloader.run(actor=ANN, explicit=True))
    await until(lambda: runtime.registry.capabilities["a"].gone)
    manifest.write_text(text)
    again = asyncio.create_task(runtime.reloader.run(actor=ANN, explicit=True))
    await until(lambda: not runtime.registry.capabilities["a"].gone)
    go.set()
    await asyncio.gather(first, again)
    assert runtime.table.active["a"] is serving
    assert [await says(runtime, name) for name in NAMES] == ["old", "new", "old"]


async def test_what_its_manifest_switches_off_is_off_whatever_was_ordered_in_that_moment(
    start, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = await start()
    await runtime.watch.close()
    go = held(monkeypatch, runtime, "load")
    monkeypatch.setattr(together, "TOGETHER_SECONDS", 60)
    save(three, "capabilities/a.yaml", tool("a", "", enabled="false")["capabilities/a.yaml"])
    save(three, "capabilities/tools/b.lua", script("new"))
    ending = asyncio.create_task(runtime.reloader.run(actor=ANN, explicit=True))
    await until(lambda: runtime.registry.capabilities["a"].attempt is not None)
    runtime.registry.capabilities["a"].wanted += 1  # as any order does
    go.set()
    await ending
    assert await says(runtime, "a") == "old"
    await runtime.reloader.run(actor=ANN)
    assert await says(runtime, "a") == ErrorKind.UNAVAILABLE.value


# -- no more than what was named ----------------------------------------------------------------


async def test_a_save_reads_no_more_than_what_it_is_part_of(start, three: Path, monkeypatch) -> None:
    runtime = await start()
    await until(lambda: runtime.watch.health.ok)
    monkeypatch.setattr(runtime.reloader._looking._scanner, "scan", None)
    save(three, "capabilities/tools/a.lua", script("new"))
    await runtime.reloader.follow(frozenset({"capabilities/tools/a.lua", "capabilities/tools/a.lua.tmp~"}))
    await until(lambda: runtime.table.active["a"].name.number > 4)
    assert await says(runtime, "a") == "new"


async def test_what_changed_without_a_notice_is_seen_after_the_next_one(
    start, three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reload, "REST_SECONDS", 0.01)
    runtime = await start()
    await runtime.watch.close()
    save(three, "capabilities/tools/b.lua", script("new"))
    write(three, tool("d", script("new")))
    save(three, "capabilities/tools/a.lua", script("new"))
    await runtime.reloader.follow(frozenset({"capabilities/tools/a.lua"}))
    await until(lambda: "d" in runtime.table.active)
    assert [await says(runtime, name) for name in "abcd"] == ["new", "new", "old", "new"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("capabilities/a.yaml", "id: [broken"),
        ("capabilities/a.yaml", tool("a", "", input_schema="schemas/none.json")["capabilities/a.yaml"]),
        ("capabilities/policies/default.yaml", "version: 1\ndeny: {ids: [a]}\n"),
    ],
)
async def test_what_may_concern_others_is_looked_at_with_all_of_them(start, three: Path, name: str, text: str) -> None:
    """The same ends as of a reload by hand: both are compared."""
    runtime = await start()
    await runtime.watch.close()
    save(three, name, text)
    await runtime.reloader.follow(frozenset({name}))
    await until(lambda: runtime.registry.capabilities["a"].rejection is not None)
    followed = runtime.registry.capabilities["a"].rejection
    plan = await runtime.reloader.run(actor=ANN, explicit=True)
    (change,) = [change for change in plan.changes if change.key == "a"]
    assert isinstance(followed, Rejection)
    assert [found.code for found in change.diagnostics] == [found.code for found in followed.diagnostics]
