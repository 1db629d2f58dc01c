"""Hints, from the real file system."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest
import pytest_asyncio

from evatui.kernel.workspace.droppings import is_editor_file
from evatui.kernel.workspace.ground import look
from evatui.kernel.workspace.layout import open_layout
from evatui.kernel.workspace.polling import changed, network_filesystem
from evatui.kernel.workspace.watch import Watch

from .conftest import Put

EVERYTHING: frozenset[str] = frozenset()
NATIVE = "inotify" if sys.platform == "linux" else "watchfiles"


async def next_hint(watch: Watch) -> frozenset[str]:
    return await asyncio.wait_for(anext(watch), 60)


async def until(watch: Watch, wanted: Iterable[str]) -> set[str]:
    """All hints up to those wanted; fails if an empty set, or none, comes instead."""
    seen: set[str] = set()
    while not seen.issuperset(wanted):
        hint = await next_hint(watch)
        assert hint != EVERYTHING
        seen |= hint
    return seen


@pytest_asyncio.fixture
async def watch(workspace: Path) -> AsyncIterator[Watch]:
    """Armed: the first hint, to look at everything, has been taken, and none comes by itself for a day."""
    (workspace / "eva.yaml").write_text("watch: {rescan_s: 86400}\n")
    watching = Watch(open_layout(workspace))
    assert await next_hint(watching) == EVERYTHING
    yield watching
    await watching.close()


async def test_who_is_about_to_look_at_everything_is_not_asked_to(
    workspace: Path, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evatui.kernel.workspace.watch._ARMED_S", 60.0)
    watching = Watch(open_layout(workspace))
    try:
        await watching.answered()
        put("capabilities/tools/greet.lua", "-- after")
        assert await until(watching, ["capabilities/tools/greet.lua"]) == {"capabilities/tools/greet.lua"}
    finally:
        await watching.close()


async def test_links_in_a_circle_are_no_folders_and_stop_nothing(watch: Watch, put: Put, workspace: Path) -> None:
    (workspace / "capabilities/loop.yaml").symlink_to("loop.yaml")
    assert await until(watch, ["capabilities/loop.yaml"]) == {"capabilities/loop.yaml"}
    (workspace / "capabilities/more").mkdir()  # all folders are looked for again
    while await next_hint(watch) != EVERYTHING:
        pass
    put("capabilities/tools/greet.lua", "-- after")
    assert "capabilities/tools/greet.lua" in await until(watch, ["capabilities/tools/greet.lua"])
    assert (watch.health.ok, watch.health.word, watch.health.how) == (True, "", NATIVE)
    assert "capabilities/tools/greet.lua" in look(workspace, ["capabilities"])


async def test_a_save_is_told_by_its_relative_path(watch: Watch, put: Put, workspace: Path) -> None:
    put("capabilities/tools/greet.lua", "-- in place")
    told = await until(watch, ["capabilities/tools/greet.lua"])
    assert told == {"capabilities/tools/greet.lua"}
    put("schemas/new.json.tmp", "{}")
    os.replace(workspace / "schemas/new.json.tmp", workspace / "schemas/new.json")
    assert await until(watch, ["schemas/new.json"]) - told == {"schemas/new.json"}  # one save may be told in two parts
    (workspace / "capabilities/greet.yaml").unlink()
    told.add("schemas/new.json")
    assert await until(watch, ["capabilities/greet.yaml"]) - told == {"capabilities/greet.yaml"}
    assert (watch.health.ok, watch.health.word, watch.health.how) == (True, "", NATIVE)


async def test_a_file_replaced_again_and_again_is_told_each_time(watch: Watch, workspace: Path) -> None:
    path = workspace / "capabilities/tools/greet.lua"
    for turn in range(3):
        path.with_suffix(".tmp").write_text(f"-- {turn}")
        os.replace(path.with_suffix(".tmp"), path)
        await until(watch, ["capabilities/tools/greet.lua"])


async def named(watch: Watch, put: Put, folder: str) -> None:
    """Saves in ``folder`` until one is told by its name, and not only covered by a look at everything."""
    for number in itertools.count():
        path = f"{folder}/{number}.json"
        put(path, "{}")
        hint = await next_hint(watch)
        while hint and path not in hint:
            hint = await next_hint(watch)
        if hint:
            return


async def everything(watch: Watch) -> None:
    while await next_hint(watch) != EVERYTHING:
        pass


async def test_a_new_folder_is_watched_too(watch: Watch, put: Put) -> None:
    put("capabilities/new/deep/a.yaml", "id: a")
    await everything(watch)
    await named(watch, put, "capabilities/new/deep")


async def test_a_link_does_not_lead_the_watch_out(workspace: Path, put: Put, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (workspace / "capabilities" / "machine").symlink_to("/")
    (workspace / "capabilities" / "out").symlink_to(tmp_path / "out")
    (workspace / "capabilities" / "round").symlink_to("..")
    put("shared/deep/a.yaml", "id: a")
    (workspace / "capabilities" / "shared").symlink_to("../shared")
    watching = Watch(open_layout(workspace))
    assert await next_hint(watching) == EVERYTHING
    (tmp_path / "out" / "x.yaml").write_text("x")
    put("shared/deep/a.yaml", "id: b")
    assert await until(watching, ["shared/deep/a.yaml"]) == {"shared/deep/a.yaml"}
    assert watching.health.ok
    await watching.close()


async def test_what_is_nobodys_capability_is_not_told(watch: Watch, put: Put) -> None:
    for path in (".eva/state.db", "notes.txt", "capabilities/.git/index", "capabilities/.greet.yaml.swp"):
        put(path, "x")
    put("capabilities/4913", "x")
    put("capabilities/last.yaml", "x")
    seen = await until(watch, ["capabilities/last.yaml"])
    assert seen == {"capabilities/last.yaml"}


async def test_the_state_folder_is_not_told_wherever_it_lies(workspace: Path, put: Put) -> None:
    put("capabilities/state/x", "")
    watching = Watch(open_layout(workspace, workspace / "capabilities" / "state"))
    assert await next_hint(watching) == EVERYTHING
    put("capabilities/state/audit.jsonl", "x")
    put("capabilities/last.yaml", "x")
    assert await until(watching, ["capabilities/last.yaml"]) == {"capabilities/last.yaml"}
    await watching.close()


async def test_eva_yaml_is_told(watch: Watch, put: Put) -> None:
    put("eva.yaml", "version: 1")
    assert await until(watch, ["eva.yaml"]) == {"eva.yaml"}


async def test_a_folder_that_appears_is_watched_from_then_on(root: Path, put: Put) -> None:
    watching = Watch(open_layout(root))
    assert await next_hint(watching) == EVERYTHING
    put("capabilities/a.yaml", "id: a")
    assert await next_hint(watching) == EVERYTHING
    await named(watching, put, "capabilities")
    await watching.close()


async def test_a_folder_made_anew_is_watched_again(watch: Watch, workspace: Path, put: Put) -> None:
    shutil.rmtree(workspace / "schemas")
    put("schemas/again.json", "{}")
    await everything(watch)
    await named(watch, put, "schemas")
    assert watch.health.ok


async def test_a_workspace_that_goes_and_comes_back_is_watched_again(watch: Watch, workspace: Path, put: Put) -> None:
    os.rename(workspace, workspace.with_name("gone"))
    await everything(watch)
    assert not watch.health.ok
    assert watch.health.word == "blind"
    assert watch.health.why == "the workspace folder is gone"
    os.rename(workspace.with_name("gone"), workspace)
    await everything(watch)
    await named(watch, put, "capabilities")
    assert watch.health.ok


async def test_a_flood_asks_to_look_at_everything(watch: Watch, workspace: Path) -> None:
    for number in range(1200):
        (workspace / "schemas" / f"{number}.json").touch()
    await everything(watch)


async def test_a_look_at_everything_comes_by_the_clock(workspace: Path, put: Put) -> None:
    put("eva.yaml", "watch: {rescan_s: 1}\n")
    watching = Watch(open_layout(workspace))
    assert [await next_hint(watching), await next_hint(watching)] == [EVERYTHING, EVERYTHING]
    await watching.close()


async def test_polling_tells_the_same(workspace: Path, put: Put) -> None:
    put("eva.yaml", "watch: {polling: true}\n")
    watching = Watch(open_layout(workspace))
    assert await next_hint(watching) == EVERYTHING
    assert (watching.health.ok, watching.health.word) == (True, "polling")
    assert watching.health.detail.startswith("eva.yaml asks for it; polling, ")
    put("capabilities/tools/greet.lua", "-- polled")
    await until(watching, ["capabilities/tools/greet.lua"])
    (workspace / "capabilities/greet.yaml").unlink()
    await until(watching, ["capabilities/greet.yaml"])
    await watching.close()


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="there is no other user to be")
@pytest.mark.parametrize("polling", ["auto", "true"])
async def test_an_unreadable_folder_does_not_end_the_watch(open_to_all: Path, polling: str) -> None:
    (open_to_all / "eva.yaml").write_text(f"watch: {{polling: {polling}}}\n")
    (open_to_all / "capabilities").chmod(0o777)
    layout = open_layout(open_to_all)
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        watching = Watch(layout)
        assert await next_hint(watching) == EVERYTHING
        (open_to_all / "capabilities" / "b.yaml").write_text("id: b")
        await until(watching, ["capabilities/b.yaml"])
        await watching.close()
    finally:
        os.seteuid(os.getuid())


async def test_closing_ends_the_iteration_and_the_thread(workspace: Path) -> None:
    watching = Watch(open_layout(workspace))
    await next_hint(watching)
    waiting = asyncio.ensure_future(anext(watching, None))
    await asyncio.sleep(0)
    await watching.close()
    assert await waiting is None
    assert await anext(watching, None) is None
    await watching.close()


async def test_a_cancelled_wait_loses_no_hint(watch: Watch, put: Put) -> None:
    waiting = asyncio.ensure_future(anext(watch))
    await asyncio.sleep(0)
    waiting.cancel()
    put("capabilities/b.yaml", "x")
    await until(watch, ["capabilities/b.yaml"])


def test_a_loop_that_ends_without_closing_takes_the_thread_with_it(workspace: Path, put: Put) -> None:
    async def leave() -> Watch:
        watching = Watch(open_layout(workspace))
        await next_hint(watching)
        return watching

    watching = asyncio.run(leave())
    put("capabilities/b.yaml", "x")
    watching._lookout.join(60)
    assert not watching._lookout.is_alive()


WITHOUT_NOTICES = """
    import asyncio, ctypes, os, sys
    from pathlib import Path
    from evatui.kernel.workspace.layout import open_layout
    from evatui.kernel.workspace.watch import Watch

    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000):
        sys.exit(77)
    try:
        Path("/proc/sys/user/max_inotify_instances").write_text("0")
    except OSError:
        sys.exit(77)

    async def main(root):
        watch = Watch(open_layout(root))
        assert await anext(watch) == frozenset()
        print(watch.health.ok, watch.health.word, watch.health.detail)
        (root / "capabilities/b.yaml").write_text("x")
        print(sorted(await anext(watch)))
        await watch.close()

    asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a user namespace")
def test_without_the_systems_notices_files_are_polled_and_the_health_says_so(workspace: Path) -> None:
    """In a user namespace that may open no inotify instance."""
    command = [sys.executable, "-c", textwrap.dedent(WITHOUT_NOTICES), str(workspace)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    if ran.returncode == 77:
        pytest.skip("this machine lets nobody make a user namespace")
    assert ran.returncode == 0, ran.stderr
    health, hint = ran.stdout.splitlines()
    assert health.startswith("False polling ")
    assert "fs.inotify" in health
    assert hint == "['capabilities/b.yaml']"


def test_polling_sees_a_change_that_keeps_size_and_time(layout_root: Path) -> None:
    path = layout_root / "capabilities" / "greet.yaml"
    before = look(layout_root, ["capabilities"])
    stamp = path.stat()
    path.write_bytes(path.read_bytes().swapcase())
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert changed(before, look(layout_root, ["capabilities"])) == {"capabilities/greet.yaml"}


@pytest.fixture
def layout_root(workspace: Path) -> Path:
    return workspace


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("greet.yaml", False),
        (".greet.yaml.swp", True),
        (".greet.yaml.swx", True),
        ("greet.yaml~", True),
        ("4913", True),
        ("#greet.yaml#", True),
        (".#greet.yaml", True),
        ("greet.yaml___jb_tmp___", True),
        ("greet.yaml.tmp", True),
        ("..data", False),
        ("tmp.yaml", False),
    ],
)
def test_editor_files_are_known_by_name(name: str, left: bool) -> None:
    assert is_editor_file(name) is left


@pytest.mark.skipif(sys.platform != "linux", reason="reads the mount table of Linux")
def test_a_local_folder_is_on_no_network_file_system(tmp_path: Path) -> None:
    assert network_filesystem(tmp_path) is None
