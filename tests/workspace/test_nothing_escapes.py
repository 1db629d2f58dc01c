"""Whoever reads again only what was told, knows in the end what is on disk."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from evatui.kernel.workspace.files import Signature
from evatui.kernel.workspace.ground import look
from evatui.kernel.workspace.layout import Layout, open_layout
from evatui.kernel.workspace.watch import Watch

FOLDERS = ["capabilities", "capabilities/a", "capabilities/a/b", "schemas", "real/one", "real/two", "real/two/deep"]
LINKS = {"capabilities/link": ["../real/one", "../real/now", "../real/two"], "real/now": ["one", "two", "nowhere"]}
TURNS = 120


class Disk:
    """Changes what is below ``root`` at random, also in ways that come to nothing."""

    def __init__(self, root: Path, seed: int) -> None:
        self._root = root
        self._random = random.Random(seed)
        self._count = 0

    def change(self) -> None:
        how: list[Callable[[Path], None]] = [
            self._write,
            self._write,
            self._replace,
            self._remove,
            self._move,
            self._swap,
        ]
        folder = self._root / self._random.choice(FOLDERS)
        try:
            self._random.choice(how)(folder)
        except OSError:
            return

    def _write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._count += 1
        (folder / self._random.choice("xyz")).write_text(str(self._count))

    def _replace(self, folder: Path) -> None:
        self._write(folder)
        self._count += 1
        (folder / "new.tmp").write_text(str(self._count))
        os.replace(folder / "new.tmp", folder / self._random.choice("xyz"))

    def _remove(self, folder: Path) -> None:
        if self._random.random() < 0.3:
            shutil.rmtree(folder)
        else:
            (folder / self._random.choice("xyz")).unlink()

    def _move(self, folder: Path) -> None:
        os.rename(folder, self._root / self._random.choice([*FOLDERS, "away"]))

    def _swap(self, _: Path) -> None:
        link = self._root / self._random.choice([*LINKS])
        beside = link.with_name("link.tmp")
        beside.unlink(missing_ok=True)
        beside.symlink_to(self._random.choice(LINKS[link.relative_to(self._root).as_posix()]))
        os.replace(beside, link)


def files(layout: Layout) -> dict[str, Signature]:
    found = look(layout.root, ("capabilities", "schemas"), follow=False)
    return {path: signature for path, signature in found.items() if not path.endswith(".tmp")}


@pytest.mark.parametrize("seed", range(4))
async def test_what_was_told_and_read_again_is_all_that_changed(workspace: Path, seed: int) -> None:
    layout, disk = open_layout(workspace), Disk(workspace, seed)
    watch = Watch(layout)
    known: dict[str, Signature] = {}

    async def follow() -> None:
        async for hints in watch:
            now = files(layout)
            for path in hints or known.keys() | now.keys():
                known.pop(path, None)
                if path in now:
                    known[path] = now[path]

    following = asyncio.create_task(follow())
    for _ in range(TURNS):
        await asyncio.to_thread(disk.change)
    try:
        async with asyncio.timeout(60):
            while known != files(layout):
                await asyncio.sleep(0.005)
    except TimeoutError:
        now = files(layout)
        pytest.fail(f"never told: {sorted(p for p in known.keys() | now.keys() if known.get(p) != now.get(p))}")
    finally:
        await watch.close()
        await following
