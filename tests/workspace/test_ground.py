"""Layouts of files as they are in the world, and the watch on them."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from evatui.kernel.workspace.layout import open_layout
from evatui.kernel.workspace.lookout import Lookout
from evatui.kernel.workspace.notices import Batch, Notices
from evatui.kernel.workspace.watch import Watch
from evatui.kernel.workspace.watchfiles_notices import Watchfiles
from tests.support.waiting import until

from .conftest import Put

EVERYTHING: frozenset[str] = frozenset()
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux")


async def heard(watch: Watch, *wanted: str) -> None:
    """Waits until each of ``wanted`` was told by name, or all was to be looked at, since the last change."""
    missing = set(wanted)
    while missing:
        hint = await asyncio.wait_for(anext(watch), 60)
        missing = missing - hint if hint else set()


async def named(watch: Watch, *wanted: str) -> None:
    """Waits until each of ``wanted`` was told by name."""
    missing = set(wanted)
    while missing:
        missing -= await asyncio.wait_for(anext(watch), 60)


async def everything(watch: Watch) -> None:
    while await asyncio.wait_for(anext(watch), 60) != EVERYTHING:
        pass


@pytest.fixture
async def watching() -> AsyncIterator[Callable[[Path], asyncio.Future[Watch]]]:
    opened: list[Watch] = []

    async def start(root: Path) -> Watch:
        opened.append(Watch(open_layout(root)))
        await everything(opened[-1])
        return opened[-1]

    yield start
    for watch in opened:
        await watch.close()


def mount(root: Path, number: int) -> None:
    """A volume of Kubernetes: files and folders are links through ``..data``, which is swapped by a rename."""
    stamped = root / f"..2026_11_30_08_00_0{number}.123"
    for name, text in {"greet.yaml": f"id: greet{number}", "tools/greet.lua": f"-- {number}"}.items():
        (stamped / "capabilities" / name).parent.mkdir(parents=True, exist_ok=True)
        (stamped / "capabilities" / name).write_text(text)
    before = os.path.realpath(root / "..data")
    (root / "..data_tmp").symlink_to(stamped.name)
    os.replace(root / "..data_tmp", root / "..data")
    if not (root / "capabilities").is_symlink():
        (root / "capabilities").symlink_to("..data/capabilities")
    elif os.path.basename(before) != "..data":
        shutil.rmtree(before)


async def test_a_volume_of_kubernetes_is_followed_from_swap_to_swap(watching, root: Path) -> None:
    mount(root, 1)
    watch = await watching(root)
    for number in (2, 3, 4):
        mount(root, number)
        await everything(watch)
    (root / "capabilities/tools/greet.lua").write_text("-- by hand")
    real = (root / "capabilities/tools/greet.lua").resolve().relative_to(root).as_posix()
    await named(watch, real)
    assert watch.health.ok


async def test_single_files_linked_through_a_swapped_folder_are_followed(watching, root: Path, put: Put) -> None:
    put("capabilities/..one/greet.yaml", "id: one")
    (root / "capabilities/..data").symlink_to("..one")
    (root / "capabilities/greet.yaml").symlink_to("..data/greet.yaml")
    watch = await watching(root)
    for name in ("two", "three"):
        put(f"capabilities/..{name}/greet.yaml", f"id: {name}")
        await everything(watch)
        (root / "capabilities/..new").symlink_to(f"..{name}")
        os.replace(root / "capabilities/..new", root / "capabilities/..data")
        await heard(watch, "capabilities/..data")


async def test_a_chain_of_links_is_watched_link_by_link(watching, root: Path, put: Put) -> None:
    """None of the links but the first lies in a folder that holds capabilities."""
    put("releases/1/tools/a.lua", "-- 1")
    put("releases/2/tools/a.lua", "-- 2")
    (root / "releases/current").symlink_to("1")
    (root / "live").symlink_to("releases/current")
    put("capabilities/x.yaml", "id: x")
    (root / "capabilities/tools").symlink_to("../live/tools")
    watch = await watching(root)
    (root / "releases/next").symlink_to("2")
    os.replace(root / "releases/next", root / "releases/current")
    await everything(watch)
    put("releases/2/tools/a.lua", "-- again")
    await named(watch, "releases/2/tools/a.lua")


async def test_folders_that_come_one_after_the_other_are_waited_for_where_the_next_will_be(
    watching, root: Path, put: Put
) -> None:
    put("eva.yaml", "layout: {manifests: [a/b/c], scripts: [a/b/c], schemas: [a/b/s], policies: [a/b/p]}")
    watch = await watching(root)
    for folder in ("a", "a/b", "a/b/c"):
        (root / folder).mkdir()
        await everything(watch)
    put("a/b/c/x.yaml", "id: x")
    await named(watch, "a/b/c/x.yaml")


async def test_a_workspace_below_deleted_folders_is_found_again(watching, tmp_path: Path) -> None:
    root = tmp_path / "deep/er/ws"
    (root / "capabilities").mkdir(parents=True)
    watch = await watching(root)
    shutil.rmtree(tmp_path / "deep")
    await until(lambda: not watch.health.ok)
    assert watch.health.how == ""
    assert "nothing is seen since 20" in watch.health.detail
    (root / "capabilities").mkdir(parents=True)
    await everything(watch)
    await until(lambda: watch.health.blind_since is None)
    (root / "capabilities/a.yaml").write_text("id: a")
    await heard(watch, "capabilities/a.yaml")
    assert watch.health.ok


@LINUX
async def test_a_name_that_is_no_text_stops_nothing(watching, workspace: Path, put: Put) -> None:
    watch = await watching(workspace)
    (workspace / "capabilities" / os.fsdecode(b"\xff.yaml")).touch()
    put("capabilities/tools/greet.lua", "-- after")
    await named(watch, "capabilities/tools/greet.lua")
    assert (watch.health.ok, watch.health.how) == (True, "inotify")


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="there is no other user to be")
async def test_an_unreadable_folder_is_named_and_watched_once_it_can_be(watching, open_to_all: Path, as_nobody) -> None:
    watch = await watching(open_to_all)
    assert watch.health.unreadable == ("capabilities/locked",)
    assert "not readable: capabilities/locked" in watch.health.detail
    if os.getuid() == 0:
        os.seteuid(0)
    (open_to_all / "capabilities/locked").chmod(0o755)
    if os.getuid() == 0:
        os.seteuid(65534)
    await heard(watch, "capabilities/locked/hidden.yaml")
    assert watch.health.unreadable == ()


async def test_folders_that_come_and_go_without_end_do_not_keep_the_watch_from_telling(workspace: Path) -> None:
    done = threading.Event()
    made = 0

    def make() -> None:
        nonlocal made
        while not done.is_set():
            (workspace / "capabilities" / f"f{made % 50}").mkdir()
            made += 1
            if made >= 50:
                (workspace / "capabilities" / f"f{made % 50}").rmdir()

    maker = asyncio.get_running_loop().run_in_executor(None, make)
    watch = Watch(open_layout(workspace))
    try:
        await everything(watch)
        before = made
        await everything(watch)
        assert made > before
    finally:
        done.set()
        await maker
    await asyncio.to_thread((workspace / "capabilities" / "last.yaml").touch)
    await heard(watch, "capabilities/last.yaml")
    await watch.close()


# -- what the system drops --------------------------------------------------------------------


class Held:
    """Takes what a lookout reports, and holds it in there for as long as it is told to."""

    def __init__(self) -> None:
        self.told: list[frozenset[str]] = []
        self.come = threading.Semaphore(0)
        self.go = threading.Semaphore(0)

    def __call__(self, hints: frozenset[str]) -> None:
        self.told.append(hints)
        self.come.release()
        assert self.go.acquire(timeout=60)

    def next(self) -> frozenset[str]:
        assert self.come.acquire(timeout=60)
        return self.told[-1]


@pytest.fixture
def held(workspace: Path) -> Iterator[tuple[Held, Lookout]]:
    report = Held()
    lookout = Lookout(open_layout(workspace), 50, report)
    lookout.start()
    yield report, lookout
    lookout.stop()
    report.go.release(1000)
    lookout.join(60)
    assert not lookout.is_alive()


@LINUX
def test_an_overflow_is_counted_and_all_is_looked_at(held: tuple[Held, Lookout], workspace: Path) -> None:
    """The thread is held in its report while the queue of the kernel runs over."""
    queue = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if queue > 100_000:
        pytest.skip("the queue is too long here")
    report, lookout = held
    assert report.next() == EVERYTHING
    one, other = workspace / "capabilities/greet.yaml", workspace / "capabilities/tools/greet.lua"
    for turn in range(queue // 2 + 1):
        os.utime(one, (turn, turn))
        os.utime(other, (turn, turn))
    report.go.release()
    while report.next() != EVERYTHING:
        report.go.release()
    assert lookout.health.overflows == 1
    assert (lookout.health.word, lookout.health.ok) == ("1 overflow", True)
    report.go.release()
    other.write_text("-- after")
    assert "capabilities/tools/greet.lua" in report.next()


@LINUX
def test_a_limit_of_folders_is_named_by_its_setting(workspace: Path) -> None:
    """In a user namespace that may watch two folders."""
    ran = subprocess.run(
        [sys.executable, "-c", FEW_WATCHES, str(workspace)], capture_output=True, text=True, timeout=100, check=False
    )
    if ran.returncode == 77:
        pytest.skip("this machine lets nobody make a user namespace")
    assert ran.returncode == 0, ran.stderr
    assert "fs.inotify.max_user_watches" in ran.stdout
    assert "polling, " in ran.stdout


FEW_WATCHES = """
import asyncio, ctypes, sys
from pathlib import Path
from evatui.kernel.workspace.layout import open_layout
from evatui.kernel.workspace.watch import Watch

if ctypes.CDLL(None, use_errno=True).unshare(0x10000000):
    sys.exit(77)
try:
    Path("/proc/sys/user/max_inotify_watches").write_text("2")
except OSError:
    sys.exit(77)

async def main(root):
    watch = Watch(open_layout(root))
    assert await anext(watch) == frozenset()
    print(watch.health.detail)
    (root / "capabilities/b.yaml").write_text("x")
    assert await anext(watch) == {"capabilities/b.yaml"}
    await watch.close()

asyncio.run(main(Path(sys.argv[1])))
"""


async def test_what_is_written_without_a_notice_makes_the_watch_poll(workspace: Path, put: Put, tmp_path: Path) -> None:
    """Through another name, in a folder that is nobody's: only looking can tell."""
    put("eva.yaml", "watch: {rescan_s: 1}\n")
    script = workspace / "capabilities/tools/greet.lua"
    os.link(script, tmp_path / "elsewhere.lua")
    watch = Watch(open_layout(workspace))
    await everything(watch)
    (tmp_path / "elsewhere.lua").write_text("-- new")
    await until(lambda: watch.health.how == "polling")
    assert watch.health.detail.startswith("capabilities/tools/greet.lua changed without a notice; polling, ")
    (tmp_path / "elsewhere.lua").write_text("-- newer")
    await named(watch, "capabilities/tools/greet.lua")
    await watch.close()


# -- what belongs together --------------------------------------------------------------------


def git(root: Path, *words: str) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    who = ["-c", "user.name=ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=one"]
    subprocess.run(["git", "-C", str(root), *who, *words], check=True, capture_output=True, env=environment)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
async def test_a_checkout_of_hundreds_of_files_is_one_set(watching, root: Path, put: Put) -> None:
    paths = [f"capabilities/tools/t{number}.lua" for number in range(300)]
    git(root, "init", "--quiet")
    for branch in ("one", "two"):
        git(root, "checkout", "--quiet", "-B", branch)
        for path in paths:
            put(path, f"-- {branch}")
        git(root, "add", "-A")
        git(root, "commit", "--quiet", "-m", branch)
    watch = await watching(root)
    await asyncio.to_thread(git, root, "checkout", "--quiet", "one")
    assert await asyncio.wait_for(anext(watch), 60) == set(paths)


@pytest.mark.parametrize("place", [".git", "../.git", "pointer"])
async def test_what_git_changes_is_told_when_it_is_done(watching, workspace: Path, put: Put, place: str) -> None:
    """Also where the repository begins above the workspace, and in a worktree."""
    root = workspace
    folder = root / "elsewhere" if place == "pointer" else root / place
    folder.mkdir()
    if place == "pointer":
        put(".git", f"gitdir: {folder}\n")
    lock = folder / "index.lock"
    watch = await watching(root)
    lock.touch()
    put("capabilities/tools/greet.lua", "-- new")
    await until(lambda: watch._lookout.holding)
    put("capabilities/modules/kit.lua", "-- new")
    lock.unlink()
    assert await asyncio.wait_for(anext(watch), 60) == {"capabilities/tools/greet.lua", "capabilities/modules/kit.lua"}


async def test_a_file_written_in_pieces_is_told_when_it_is_closed(workspace: Path) -> None:
    watch = Watch(open_layout(workspace), debounce_ms=100_000)
    await everything(watch)
    with open(workspace / "capabilities/tools/greet.lua", "wb", buffering=0) as script:  # noqa: ASYNC230
        script.write(b"-- one")
        await until(lambda: watch._lookout.holding)
        script.write(b"-- two")
    assert await asyncio.wait_for(anext(watch), 60) == {"capabilities/tools/greet.lua"}
    await watch.close()


async def test_a_file_that_is_written_without_end_is_told_all_the_same(watching, workspace: Path) -> None:
    watch = await watching(workspace)
    done = threading.Event()

    def write() -> None:
        with open(workspace / "capabilities/tools/greet.lua", "wb", buffering=0) as script:
            while not done.wait(0.001):
                script.write(b"-")

    writer = asyncio.get_running_loop().run_in_executor(None, write)
    try:
        await named(watch, "capabilities/tools/greet.lua")
        await named(watch, "capabilities/tools/greet.lua")
    finally:
        done.set()
        await writer


# -- where watchfiles gives the notices -------------------------------------------------------


def heard_by(notices: Notices, path: Path) -> Batch:
    gathered = Batch()
    for _ in range(1200):
        gathered.add(notices.wait(0.05) or Batch())
        if str(path) in gathered.paths or gathered.reshaped:
            return gathered
    raise AssertionError(f"never heard of {path}")


def test_watchfiles_gives_the_same_notices(workspace: Path) -> None:
    notices = Watchfiles()
    try:
        folder = workspace / "capabilities"
        notices.watch([str(folder)], [str(workspace)])
        (folder / "greet.yaml").write_text("id: other")
        assert not heard_by(notices, folder / "greet.yaml").folders
        (folder / "more").mkdir()
        assert heard_by(notices, folder / "more").folders == {str(folder / "more")}
        notices.watch([str(folder), str(folder / "more")], [str(workspace)])
        shutil.rmtree(folder / "more")
        assert heard_by(notices, folder / "more").reshaped
        notices.wake()
        while notices.wait(60) is not None:  # what is left of the removal
            pass
    finally:
        notices.close()
