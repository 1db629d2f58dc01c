"""When a set of changes is complete, also where the thread that gathers it is kept from running."""

from __future__ import annotations

import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from evatui.kernel.workspace.gathering import Gathering
from evatui.kernel.workspace.git import GitLock
from evatui.kernel.workspace.notices import Batch

if sys.platform != "linux":
    pytest.skip("asks the kernel of Linux", allow_module_level=True)

from evatui.kernel.workspace.inotify import Inotify


class Starved(Inotify):
    """After a wait that told nothing, the thread gets no core until git has written its last file and let go."""

    def __init__(self, folder: Path, lock: Path) -> None:
        super().__init__()
        self._folder = folder
        self._lock = lock

    def wait(self, timeout_s: float) -> Batch | None:
        batch = super().wait(timeout_s)
        if batch is None and self._lock.exists():
            (self._folder / "last.lua").write_text("-- last")
            self._lock.unlink()
        return batch


def test_what_git_did_last_belongs_to_the_set(tmp_path: Path) -> None:
    folder, lock = tmp_path / "capabilities", tmp_path / ".git/index.lock"
    folder.mkdir()
    lock.parent.mkdir()
    with closing(Starved(folder, lock)) as notices:
        notices.watch([str(folder)], [str(tmp_path)])
        lock.touch()
        (folder / "first.lua").write_text("-- first")
        gathering = Gathering(GitLock(tmp_path), 0.25, threading.Event())
        batch = gathering.next(notices, 10, lambda path: path.endswith(".lua"))
    assert batch is not None
    assert batch.paths == {str(folder / "first.lua"), str(folder / "last.lua")}
