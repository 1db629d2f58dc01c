"""However a file is saved, the new version answers; and nothing else is taken for one."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.records.audit import AuditLog
from evatui.kernel.registry import scan
from evatui.kernel.registry.keeper import Keeper
from evatui.kernel.storage.database import Database
from evatui.kernel.workspace.discover import Discovery, discover
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.lock import WorkspaceLock
from evatui.kernel.workspace.settings import AuditSettings
from evatui.runtime import Runtime
from tests.runtime.conftest import ANN, call
from tests.support.waiting import until
from tests.support.workspaces import GREETER, MANIFEST, POLICY, SCRIPT, save, tool, write

TOOL = "capabilities/tools/greet.lua"


def script(by: str) -> str:
    return SCRIPT.replace("one", by)


async def answers(runtime: Runtime, by: str) -> None:
    async with asyncio.timeout(60):
        while (await call(runtime)).response.result["by"] != by:
            await asyncio.sleep(0.002)


# -- the ways in which editors and tools save -------------------------------------------------

Save = Callable[[Path, str], None]


def in_place(path: Path, text: str) -> None:
    path.write_text(text)


def by_rename(path: Path, text: str) -> None:
    beside = path.with_name(".greet.lua.tmp1")
    beside.write_text(text)
    os.replace(beside, path)


def as_vim(path: Path, text: str) -> None:
    """The old file becomes the backup, then a new one takes the name."""
    (path.parent / "4913").touch()
    (path.parent / "4913").unlink()
    backup = path.with_name(path.name + "~")
    os.rename(path, backup)
    path.write_text(text)
    backup.unlink()


def by_unlink(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text)


def in_pieces(path: Path, text: str) -> None:
    with open(path, "wb", buffering=0) as file:
        for at in range(0, len(text), 40):
            file.write(text.encode()[at : at + 40])


def with_the_old_time(path: Path, text: str) -> None:
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def with_a_time_long_ago(path: Path, text: str) -> None:
    path.write_text(text)
    os.utime(path, (1, 1))


def replaced_with_the_old_time(path: Path, text: str) -> None:
    before, beside = path.stat(), path.with_name("other.tmp")
    beside.write_text(text)
    os.utime(beside, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(beside, path)


def by_hard_link(path: Path, text: str) -> None:
    store = path.parents[2] / "store"
    store.mkdir(exist_ok=True)
    kept = store / hashlib.sha256(text.encode()).hexdigest()
    kept.write_text(text)
    os.link(kept, path.with_name("new.tmp"))
    os.replace(path.with_name("new.tmp"), path)


def by_link(path: Path, text: str) -> None:
    real = path.with_name(f"real-{len(text)}-{hash(text)}.txt")
    real.write_text(text)
    path.with_name("link.tmp").symlink_to(real.name)
    os.replace(path.with_name("link.tmp"), path)


def by_rsync(path: Path, text: str) -> None:
    source = path.parents[2] / "source.lua"
    source.write_text(text)
    os.utime(source, (1, 1))
    subprocess.run(["rsync", "--times", "--checksum", str(source), str(path)], check=True)


SAVES: list[Save] = [
    in_place,
    by_rename,
    as_vim,
    by_unlink,
    in_pieces,
    with_the_old_time,
    with_a_time_long_ago,
    replaced_with_the_old_time,
    by_hard_link,
    by_link,
    *([by_rsync] if shutil.which("rsync") else []),
]


async def test_whatever_the_way_of_saving_the_new_version_answers(start, workspace: Path) -> None:
    """All versions have one size, so that neither size nor time tells them apart."""
    runtime = await start()
    for number, how in enumerate(SAVES * 2):
        by = f"{number:03}"
        how(workspace / TOOL, script(by))
        try:
            await answers(runtime, by)
        except TimeoutError:
            pytest.fail(f"never seen: {how.__name__}")
    assert runtime.watch.health.ok
    assert runtime.registry.capabilities["greet"].rejection is None


async def test_a_save_that_ends_where_it_began_changes_nothing(start, workspace: Path) -> None:
    runtime = await start()
    serving = runtime.table
    (workspace / TOOL).write_text("")
    (workspace / TOOL).write_text(SCRIPT)
    await runtime.reloader.run(actor=ANN)
    assert runtime.table is serving


# -- half of a change -------------------------------------------------------------------------


async def test_a_file_that_stays_empty_is_refused_and_never_a_deletion(start, workspace: Path) -> None:
    runtime = await start()
    capability = runtime.registry.capabilities["greet"]
    (workspace / "capabilities/greet.yaml").write_text("")
    await until(lambda: capability.rejection)
    assert not capability.gone
    assert (await call(runtime)).response.result["by"] == "one"


async def test_a_manifest_that_says_what_its_files_are_refuses_half_of_a_change(start, workspace: Path) -> None:
    """A deployment that copies file by file, and is slow."""

    def manifest(by: str) -> str:
        digest = hashlib.sha256(script(by).encode()).hexdigest()
        return MANIFEST + f"integrity: {{{TOOL}: {digest}}}\n"

    save(workspace, "capabilities/greet.yaml", manifest("one"))
    runtime = await start()
    capability = runtime.registry.capabilities["greet"]
    serving = runtime.table
    save(workspace, TOOL, script("two"))
    await until(lambda: capability.rejection)
    assert capability.rejection.diagnostics[0].code == "EVA-214"
    assert runtime.table is serving
    save(workspace, "capabilities/greet.yaml", manifest("two"))
    await answers(runtime, "two")
    assert capability.rejection is None


async def test_a_policy_that_is_gone_for_a_moment_takes_nothing_away(start, workspace: Path, monkeypatch) -> None:
    """It comes back once the folder has been listed without it."""
    runtime = await start()
    epoch, path = runtime.policy.epoch, workspace / "capabilities/policies/default.yaml"
    listings = []

    def listed(tree: Tree, layout: Layout) -> Discovery:
        listings.append(discover(tree, layout))
        path.write_text(POLICY)
        return listings[-1]

    monkeypatch.setattr(scan, "discover", listed)
    path.unlink()
    await runtime.reloader.run(actor=ANN)
    assert any(not listing.policies for listing in listings)
    assert runtime.policy.epoch == epoch
    assert (await call(runtime)).response.ok


# -- one run at a time ------------------------------------------------------------------------


async def test_what_comes_during_a_run_is_one_run_more(start, workspace: Path) -> None:
    runtime = await start()
    write(workspace, tool("other", 'function invoke(ctx, request) return {ok = true, result = "old"} end'))
    await until(lambda: "other" in runtime.table.active)
    go, runs = threading.Event(), []
    judged = runtime.reloader._looking._scanner.again

    def held(changed: frozenset[str]) -> object:
        runs.append(changed)
        assert go.wait(60)
        return judged(changed)

    runtime.reloader._looking._scanner.again = held
    save(workspace, TOOL, script("two"))
    await until(lambda: runs)
    for turn in range(5):
        save(workspace, "capabilities/tools/other.lua", f"-- {turn}")
        save(workspace, TOOL, script(f"t{turn}"))
        await until(lambda: TOOL in runtime.watch._pending)
    save(workspace, "capabilities/tools/last.lua", "")
    await until(lambda: "capabilities/tools/last.lua" in runtime.watch._pending)  # and so all that came before it
    assert len(runs) == 1
    go.set()
    await answers(runtime, "t4")
    assert [TOOL in changed for changed in runs[:2]] == [True, True]
    assert len(runs) <= 3  # the last one may be told in two parts


async def test_who_asks_for_a_reload_waits_for_no_quiet(start, workspace: Path) -> None:
    """Not even while git holds its index."""
    (workspace / ".git").mkdir()
    (workspace / ".git/index.lock").touch()
    runtime = await start()
    (workspace / TOOL).write_text(script("two"))
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert (await call(runtime)).response.result["by"] == "two"


# -- layouts ----------------------------------------------------------------------------------


def mount(root: Path, number: int, by: str) -> None:
    """A volume of Kubernetes: what is seen are links through ``..data``, which is swapped by a rename."""
    stamped = root / f"..2026_11_30_{number}"
    write(stamped, {**GREETER, TOOL: script(by), "capabilities/greet.yaml": MANIFEST.replace("1.0.0", f"1.0.{number}")})
    before = os.path.realpath(root / "..data")
    (root / "..data_tmp").symlink_to(stamped.name)
    os.replace(root / "..data_tmp", root / "..data")
    for name in ("capabilities", "schemas"):
        if not (root / name).is_symlink():
            (root / name).symlink_to(f"..data/{name}")
    if os.path.basename(before) != "..data":
        shutil.rmtree(before)


async def test_a_volume_of_kubernetes_serves_each_mount_as_a_whole(start, workspace: Path) -> None:
    shutil.rmtree(workspace)
    workspace.mkdir()
    mount(workspace, 0, "v0")
    runtime = await start()
    for number in range(1, 4):
        mount(workspace, number, f"v{number}")
        await answers(runtime, f"v{number}")
        assert runtime.table.active["greet"].manifest.version == f"1.0.{number}"
    assert runtime.registry.capabilities["greet"].rejection is None


async def test_a_workspace_that_is_gone_takes_nothing_out_of_service(tmp_path: Path, workspace: Path) -> None:
    runtime = await Runtime.open(workspace, state_dir=tmp_path / "state")
    try:
        os.rename(workspace, tmp_path / "away")
        await until(lambda: any(problem.code == "EVA-120" for problem in runtime.problems))
        plan = await runtime.reloader.run(actor=ANN, explicit=True)
        assert [change.action.value for change in plan.changes] == ["unchanged"]
        assert (await call(runtime)).response.ok
        await until(lambda: not runtime.watch.health.ok)
        write(tmp_path / "other", {**GREETER, TOOL: script("two")})
        os.rename(tmp_path / "other", workspace)
        await answers(runtime, "two")
        await until(lambda: not runtime.problems)
        save(workspace, TOOL, script("three"))
        await answers(runtime, "three")
    finally:
        await runtime.close()


async def test_a_workspace_that_is_deleted_and_made_again_is_followed(start, workspace: Path) -> None:
    runtime = await start()
    for by in ("two", "three"):
        shutil.rmtree(workspace)
        write(workspace, {**GREETER, TOOL: script(by)})
        await until(lambda: "greet" in runtime.table.active)
        await until(lambda by=by: by.encode() in runtime.table.active["greet"].candidate.snapshot.files[TOOL].data)


def test_the_state_folder_is_not_made_again_without_its_workspace(workspace: Path) -> None:
    state = workspace / ".eva"
    with (
        WorkspaceLock(state) as lock,
        closing(AuditLog.open(state / "audit", AuditSettings(), SYSTEM_CLOCK)) as audit,
        closing(Database(state / "state.db")) as database,
    ):
        keeper = Keeper(state, lock, audit, {"state.db": database})
        shutil.rmtree(workspace)
        keeper.look()
        assert not workspace.exists()
        assert not audit.health[0]
        workspace.mkdir()
        keeper.look()
        assert sorted(path.name for path in state.iterdir() if "-" not in path.name) == ["audit", "lock", "state.db"]
