"""What served comes back: by hand, when its files are gone, after a restart, and where the disk holds a trap."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evatui.control.capability_rows import generation_rows
from evatui.control.past import past
from evatui.control.standing import disk_status
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.model.lifecycle import State
from evatui.kernel.registry.comparing import compared
from evatui.kernel.registry.keeping import Keeping
from evatui.kernel.registry.retention import KEPT_FOR_ROLLBACK
from tests.runtime.conftest import ANN, call
from tests.support.workspaces import SCRIPT, save

SCRIPT_FILE = "capabilities/tools/greet.lua"
MANIFEST_FILE = "capabilities/greet.yaml"


async def says(runtime) -> str:
    return (await call(runtime)).response.result["by"]


async def updated(runtime, workspace: Path, word: str) -> None:
    save(workspace, SCRIPT_FILE, SCRIPT.replace("one", word))
    await runtime.reloader.run(explicit=True)


TRAPS = {
    "a syntax error": (SCRIPT_FILE, "function invoke("),
    "an unhealthy version": (SCRIPT_FILE, SCRIPT.replace("{ok = true}", "{ok = false}")),
    "a broken manifest": (MANIFEST_FILE, "id: greet\nkind: [\n"),
    "an unreadable manifest": (MANIFEST_FILE, "\x00"),
    "a refused manifest": (MANIFEST_FILE, "id: greet\nkind: lua_tool\nversion: 9\n"),
}


@pytest.mark.parametrize(("file", "text"), TRAPS.values(), ids=TRAPS.keys())
async def test_a_refusal_on_disk_is_no_trap_for_the_next_start(start, workspace: Path, file: str, text: str) -> None:
    runtime = await start()
    await updated(runtime, workspace, "two")
    name = runtime.table.active["greet"].name
    before = (workspace / file).read_text()
    save(workspace, file, text)
    await runtime.close()
    runtime = await start()
    capability = runtime.registry.capabilities["greet"]
    assert await says(runtime) == "two"
    assert runtime.table.active["greet"].name == name
    assert capability.state is State.ACTIVE
    assert capability.rejection is not None
    assert not runtime.registry.strays
    save(workspace, file, before)
    await runtime.reloader.run(explicit=True)
    assert await says(runtime) == "two"
    assert capability.rejection is None


async def test_two_files_with_one_id_at_a_start_leave_the_service_to_the_last_good_one(start, workspace: Path) -> None:
    runtime = await start()
    save(workspace, "capabilities/again.yaml", (workspace / MANIFEST_FILE).read_text())
    await runtime.close()
    runtime = await start()
    assert await says(runtime) == "one"
    rejection, _ = runtime.registry.strays["capabilities/again.yaml"]
    files = {span.file for found in rejection.diagnostics for span in found.spans}
    assert files == {MANIFEST_FILE, "capabilities/again.yaml"}


async def test_a_rollback_holds_over_a_restart_until_the_file_changes(start, workspace: Path) -> None:
    runtime = await start()
    await updated(runtime, workspace, "two")
    restored = (await runtime.operations.rollback("greet", ANN)).target
    await runtime.close()
    runtime = await start()
    assert await says(runtime) == "one"
    assert runtime.table.active["greet"].name == restored
    await updated(runtime, workspace, "three")
    assert await says(runtime) == "three"


async def test_a_version_of_an_earlier_run_can_be_gone_back_to(start, workspace: Path) -> None:
    runtime = await start()
    first = runtime.table.active["greet"].name
    await updated(runtime, workspace, "two")
    await updated(runtime, workspace, "three")
    await runtime.close()
    runtime = await start()
    rows = generation_rows(runtime.registry.capabilities["greet"])
    assert [(row.number, row.version, row.restorable) for row in rows] == [
        ("g3", "1.0.0", False),
        ("g2", "1.0.0", True),
        ("g1", "1.0.0", True),
    ], "a console offers them as well"
    await runtime.operations.rollback("greet", ANN, to=first.short)
    assert await says(runtime) == "one"


async def test_a_deleted_capability_comes_back_and_stays_over_looks_and_a_restart(start, workspace: Path) -> None:
    runtime = await start()
    (workspace / MANIFEST_FILE).unlink()
    (workspace / SCRIPT_FILE).unlink()
    await runtime.reloader.run(explicit=True)
    assert (await call(runtime)).response.error.kind is ErrorKind.NOT_FOUND
    await runtime.operations.rollback("greet", ANN)
    await runtime.reloader.run(explicit=True)
    assert await says(runtime) == "one"
    assert disk_status(runtime.registry.capabilities["greet"]) == "missing"
    await runtime.close()
    runtime = await start()
    assert await says(runtime) == "one"
    assert disk_status(runtime.registry.capabilities["greet"]) == "missing"


async def test_a_manifest_that_comes_again_ends_that_and_its_next_deletion_counts(start, workspace: Path) -> None:
    runtime = await start()
    manifest = (workspace / MANIFEST_FILE).read_text()
    (workspace / MANIFEST_FILE).unlink()
    await runtime.reloader.run(explicit=True)
    await runtime.operations.rollback("greet", ANN)
    save(workspace, MANIFEST_FILE, manifest)
    await updated(runtime, workspace, "two")
    assert await says(runtime) == "two"
    (workspace / MANIFEST_FILE).unlink()
    await runtime.reloader.run(explicit=True)
    assert (await call(runtime)).response.error.kind is ErrorKind.NOT_FOUND


async def test_what_was_deleted_stays_deleted_after_a_restart(start, workspace: Path) -> None:
    runtime = await start()
    (workspace / MANIFEST_FILE).unlink()
    await runtime.close()
    runtime = await start()
    assert "greet" not in runtime.table.active
    await runtime.operations.rollback("greet", ANN)
    assert await says(runtime) == "one"


async def test_a_version_that_was_overtaken_at_the_last_moment_is_not_what_served_last(
    start, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = await start()
    await runtime.watch.close()
    keep = Keeping.keep

    def overtaken(*arguments: Any) -> int:
        runtime.registry.capabilities["greet"].wanted += 1
        return keep(*arguments)

    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "two"))
    with monkeypatch.context() as patched:
        patched.setattr(Keeping, "keep", overtaken)
        await runtime.reloader.run(actor=ANN, explicit=True)
    assert (await call(runtime)).response.result["by"] == "one"
    await runtime.close()
    save(workspace, "capabilities/tools/greet.lua", "function invoke(")
    assert (await call(await start())).response.result["by"] == "one"


async def test_rolled_back_twice_it_goes_back_further_and_never_to_what_was_bad(start, workspace: Path) -> None:
    runtime = await start()
    for word in ("two", "three"):
        await updated(runtime, workspace, word)
    await runtime.operations.rollback("greet", ANN)
    assert await says(runtime) == "two"
    await runtime.operations.rollback("greet", ANN)
    assert await says(runtime) == "one"
    with pytest.raises(CallFailed, match="not rolled back"):
        await runtime.operations.rollback("greet", ANN)
    assert await says(runtime) == "one"


async def test_retry_lifts_the_quarantine_for_good(start, workspace: Path) -> None:
    runtime = await start()
    await updated(runtime, workspace, "two")
    await runtime.operations.rollback("greet", ANN)
    receipt = await runtime.operations.retry("greet", ANN)
    assert receipt.target == runtime.table.active["greet"].name
    assert await says(runtime) == "two"
    await runtime.close()
    runtime = await start()
    assert await says(runtime) == "two"


async def test_what_the_policy_forbids_by_now_does_not_come_back(start, workspace: Path) -> None:
    manifest = (workspace / MANIFEST_FILE).read_text()
    save(workspace, MANIFEST_FILE, manifest + "permissions: {fs: {read: [workspace]}}\n")
    runtime = await start()
    save(workspace, MANIFEST_FILE, "id: greet\nkind: [\n")
    await runtime.close()
    save(workspace, "capabilities/policies/default.yaml", "version: 1\n")
    runtime = await start()
    assert "greet" not in runtime.table.active
    assert runtime.registry.capabilities["greet"].rejection is not None


async def test_a_drain_is_not_undone_by_a_start_beside_a_refused_file(start, workspace: Path) -> None:
    runtime = await start()
    await runtime.operations.drain("greet", ANN)
    save(workspace, SCRIPT_FILE, "function invoke(")
    await runtime.close()
    runtime = await start()
    assert "greet" not in runtime.table.active


async def test_any_generation_of_the_same_bytes_names_them(start, workspace: Path) -> None:
    runtime = await start()
    await updated(runtime, workspace, "two")
    await runtime.operations.rollback("greet", ANN)
    await updated(runtime, workspace, "three")
    capability = runtime.registry.capabilities["greet"]
    assert [kept.name.short for kept in capability.kept] == ["g4", "g3", "g2"]
    told = await compared(runtime.keeping, capability, "g1", None, runtime.accounts)
    assert [file["path"] for file in told["files"]] == [SCRIPT_FILE]
    await runtime.operations.rollback("greet", ANN, to="g1")
    assert await says(runtime) == "one"
    for to in ("g1", "g3"):
        with pytest.raises(CallFailed, match=f"the version of {to} is what greet serves now") as refused:
            await runtime.operations.rollback("greet", ANN, to=to)
        assert refused.value.error.kind is ErrorKind.CONFLICT
    with pytest.raises(CallFailed, match="no such generation"):
        await runtime.operations.rollback("greet", ANN, to="g99")


async def test_only_so_many_are_kept_but_what_a_person_went_back_to_however_many_follow(start, workspace: Path) -> None:
    runtime = await start()
    await updated(runtime, workspace, "two")
    await runtime.operations.rollback("greet", ANN)
    for number in range(KEPT_FOR_ROLLBACK):
        await updated(runtime, workspace, f"v{number}")
    with pytest.raises(CallFailed, match="no such generation"):
        await runtime.operations.rollback("greet", ANN, to="g2")
    with closing(sqlite3.connect(workspace / ".eva/store/content.db")) as rows:
        assert rows.execute("SELECT count(*) FROM closures").fetchone() == (KEPT_FOR_ROLLBACK + 1,)
    await runtime.close()
    runtime = await start()
    await updated(runtime, workspace, "latest")
    assert [row["number"] for row in past(runtime, "greet")["generations"] if row["pinned"]] == ["g3", "g1"]
    await runtime.operations.rollback("greet", ANN, to="g3")
    assert await says(runtime) == "one"


async def test_versions_that_were_taken_back_never_drive_out_the_good_ones(start, workspace: Path) -> None:
    runtime = await start()
    first = runtime.table.active["greet"].name
    await updated(runtime, workspace, "two")
    for number in range(KEPT_FOR_ROLLBACK):
        await updated(runtime, workspace, f"bad {number}")
        await runtime.operations.rollback("greet", ANN)
        assert await says(runtime) == "two"
    await runtime.close()
    runtime = await start()
    await runtime.operations.rollback("greet", ANN, to=first.short)
    assert await says(runtime) == "one"


async def test_history_tells_every_generation_over_restarts(start, workspace: Path) -> None:
    runtime = await start()
    await updated(runtime, workspace, "two")
    await runtime.operations.rollback("greet", ANN)
    await runtime.close()
    runtime = await start()
    rows = past(runtime, "greet")["generations"]
    assert [(row["number"], row["state"], row["kept"], row["quarantined"]) for row in rows] == [
        ("g3", "Active", True, False),
        ("g2", "Unregistered", True, True),
        ("g1", "Unregistered", True, False),
    ]
    assert all(row["served_at"] for row in rows)


async def test_two_generations_are_compared_over_a_restart_and_with_the_disk(start, workspace: Path) -> None:
    runtime = await start()
    await updated(runtime, workspace, "two")
    await runtime.close()
    runtime = await start()
    capability = runtime.registry.capabilities["greet"]
    told = await compared(runtime.keeping, capability, None, None, runtime.accounts)
    assert (told["from"], told["to"]) == ("g1", "g2")
    assert [file["path"] for file in told["files"]] == [SCRIPT_FILE]
    assert '-  return {ok = true, result = {text = "hello " .. request.payload.name, by = "one"}}' in told["text"]
    manifest = (workspace / MANIFEST_FILE).read_text()
    save(workspace, MANIFEST_FILE, manifest + "permissions: {fs: {read: [workspace]}}\n")
    await runtime.operations.disable("greet", ANN)
    await runtime.reloader.run(explicit=True)
    told = await compared(runtime.keeping, capability, "g1", "disk", runtime.accounts)
    assert [(change["path"], change["change"]) for change in told["permissions"]] == [("fs.read", "widened")]
    assert {field["path"] for field in told["fields"]} == {"permissions.fs.read"}
    with pytest.raises(CallFailed, match="kept: g2, g1"):
        await compared(runtime.keeping, capability, "g9", None, runtime.accounts)
