"""Folders that go, come back, or may not be read: what serves goes on, and the rest of the workspace is followed."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from evatui.kernel.workspace import files, ground, visit
from evatui.runtime import Runtime
from tests.runtime.conftest import call
from tests.support.waiting import until
from tests.support.workspaces import GREETER, MANIFEST, SCRIPT, save, tool, write

HELLO = 'function invoke(ctx, request) return {ok = true, result = {by = "hello"}} end'


async def answers(runtime: Runtime, by: str) -> None:
    async with asyncio.timeout(60):
        while (response := (await call(runtime)).response).result is None or response.result["by"] != by:
            await asyncio.sleep(0.002)


async def test_a_folder_that_is_deleted_and_made_again_is_followed_from_then_on(start, workspace: Path) -> None:
    runtime = await start()
    capability = runtime.registry.capabilities["greet"]
    for version in ("two", "three"):
        shutil.rmtree(workspace / "capabilities")
        await until(lambda: capability.gone)
        write(workspace, GREETER)
        save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", version))
        await answers(runtime, version)
        save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", version + " again"))
        await answers(runtime, version + " again")
    assert runtime.watch.health.ok


async def test_a_capability_in_a_folder_of_its_own_is_seen_whenever_it_comes(start, workspace: Path) -> None:
    runtime = await start()
    deep = tool("hello", HELLO)
    for number in range(3):
        folder = workspace / f"capabilities/new{number}/deep"
        folder.mkdir(parents=True)
        text = deep["capabilities/hello.yaml"].replace("hello", f"hello{number}")
        (folder / "hello.yaml").write_text(text)
        save(workspace, f"capabilities/tools/hello{number}.lua", HELLO)
        await until(lambda key=f"hello{number}": key in runtime.table.active)
    await answers(runtime, "one")


async def test_a_manifest_that_cannot_be_parsed_never_serves_with_less_restrictions(start, workspace: Path) -> None:
    """Not while an older version serves, and not at a start; whoever looks is told the same."""
    runtime = await start()
    before = runtime.table.active["greet"]
    colon = MANIFEST.replace("name: Greeter", "name: Greets: whoever comes")
    save(workspace, "capabilities/greet.yaml", colon + "permissions: {fs: {read: []}}\n")
    capability = runtime.registry.capabilities["greet"]
    await until(lambda: capability.rejection)
    assert runtime.table.active["greet"] is before
    await answers(runtime, "one")
    told = capability.rejection.diagnostics
    assert told[0].message == "a text with a colon and a space in it must stand in quotes"
    reader = await start(writes=False)
    assert reader.registry.capabilities["greet"].rejection.diagnostics == told
    await runtime.close()
    shutil.rmtree(workspace / ".eva")
    again = await start()
    assert "greet" not in again.table.active
    assert again.registry.capabilities["greet"].rejection.diagnostics == told


async def test_a_change_that_moves_no_signature_is_found_by_its_bytes(start, workspace: Path, monkeypatch) -> None:
    """As on file systems that keep no time worth the name; and nothing tells of it."""
    for module in (files, ground, visit):
        monkeypatch.setattr(module, "signature_of", lambda found: (0, 0, found.st_size, 0, 0))
    runtime = await start()
    await runtime.watch.close()
    (workspace / "capabilities/tools/greet.lua").write_text(SCRIPT.replace("one", "two"))
    await runtime.reloader.follow(frozenset())
    await answers(runtime, "two")


async def test_what_could_not_be_read_is_not_taken_for_changed_again_and_again(start, workspace: Path) -> None:
    (workspace / "capabilities/away.yaml").symlink_to(workspace.parent / "outside.yaml")
    (workspace / "schemas/greet.output.json").unlink()
    runtime = await start()
    scanner = runtime.reloader._looking._scanner
    assert set(scanner.manifests) == {"capabilities/away.yaml", "capabilities/greet.yaml"}
    assert scanner.unlike(scanner.manifests) == frozenset()
