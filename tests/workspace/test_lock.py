"""The lock of a workspace: whoever has locked the file that is on disk now holds it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from evatui.kernel.workspace import lock as locks
from evatui.kernel.workspace.lock import WorkspaceHeld, WorkspaceLock, holder_of


@pytest.fixture(autouse=True, params=["of the kernel", "of SQLite"])
def _kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "of SQLite":
        monkeypatch.setattr(locks, "fcntl", None)


def test_the_holder_is_named_until_it_lets_go(tmp_path: Path) -> None:
    with WorkspaceLock(tmp_path) as lock:
        lock.announce("unix:there", "secret")
        holder = holder_of(tmp_path)
        assert holder is not None
        assert (holder.address, holder.token, holder.listens) == ("unix:there", "secret", True)
        assert lock.look()
        with pytest.raises(WorkspaceHeld, match="pid"):
            WorkspaceLock(tmp_path)
    assert holder_of(tmp_path) is None


@pytest.mark.parametrize("put_another", [False, True])
def test_a_lock_file_that_went_away_is_taken_anew_with_what_it_said(tmp_path: Path, put_another: bool) -> None:
    state = tmp_path / "state"
    with WorkspaceLock(state) as lock:
        lock.announce("unix:there")
        shutil.rmtree(state)
        if put_another:
            state.mkdir()
            (state / "lock").write_text("")
        assert not lock.look()
        assert lock.look()
        holder = holder_of(state)
        assert holder is not None
        assert holder.address == "unix:there"
        with pytest.raises(WorkspaceHeld):
            WorkspaceLock(state)


def test_only_the_text_went_away(tmp_path: Path) -> None:
    with WorkspaceLock(tmp_path) as lock:
        (tmp_path / "lock").unlink()
        assert not lock.look()
        assert holder_of(tmp_path) is not None
        with pytest.raises(WorkspaceHeld):
            WorkspaceLock(tmp_path)


def test_a_lock_ends_with_the_process_that_held_it(tmp_path: Path) -> None:
    process = os.fork()
    if process == 0:
        WorkspaceLock(tmp_path)
        os._exit(0)
    os.waitpid(process, 0)
    assert holder_of(tmp_path) is None
    with WorkspaceLock(tmp_path):
        assert holder_of(tmp_path) is not None


def test_a_holder_whose_workspace_another_one_took_is_told(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with WorkspaceLock(state) as first:
        state.rename(tmp_path / "moved")
        with WorkspaceLock(state) as second:
            with pytest.raises(WorkspaceHeld):
                first.look()
            assert second.look()
        assert not first.look()


def test_a_pipe_in_its_place_is_waited_for_by_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lock")
    assert holder_of(tmp_path) is None
    with pytest.raises(OSError, match="seek"):
        WorkspaceLock(tmp_path)
