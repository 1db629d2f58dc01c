"""What the examination finds wrong with a machine and a workspace, and what it says to do about it."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from evatui.control.doctor.check import Check
from evatui.control.doctor.local import examine_here
from evatui.control.doctor.machine import check_libraries, check_limits
from evatui.control.doctor.places import check_clock, check_disk, check_lock, check_permissions, permissions
from evatui.control.doctor.sandbox import check_sandbox
from evatui.kernel.workspace.layout import Layout, open_layout

FACTS = {"process": True, "rlimits": True, "landlock_abi": 7, "seccomp": True, "missing": [], "os_sandbox": True}
STARTED = {"started": True, "ms": 20.0, "error": None}


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / "capabilities").mkdir()
    return open_layout(tmp_path)


def failed(*checks: Check) -> list[str]:
    """The names of those that failed; each of them says what to do."""
    assert all(check.fix for check in checks if not check.ok)
    assert not any(check.fix for check in checks if check.ok)
    return [check.name for check in checks if not check.ok]


async def test_without_a_workspace_the_machine_is_looked_at() -> None:
    found = await examine_here(None)
    names = [check["name"] for check in found["checks"]]
    assert "libraries" in names
    assert "worker processes" in names
    assert "lock" not in names
    assert (found["permissions"], found["disk"], found["lock"]) == (None, None, None)
    assert found["libraries"]["lupa"]["wanted"] == "==2.8"


@pytest.mark.parametrize(
    ("there", "wanted", "fails"),
    [("2.8", "==2.8", False), ("2.9", "==2.8", True), (None, ">=1", True), ("3", ">=1", False)],
)
def test_a_pinned_library_is_there_at_its_version_or_named(there: str | None, wanted: str, fails: bool) -> None:
    check = check_libraries({"lupa": {"version": there, "wanted": wanted}})
    assert failed(check) == (["libraries"] if fails else [])
    assert ("lupa is" in check.detail) is fails


def test_limits_that_are_too_low_are_named() -> None:
    low = {"open_files": {"soft": 256, "hard": -1}, "inotify": {"watches": 100, "instances": 10}}
    assert failed(*check_limits(low)) == ["open files", "file watching"]
    assert failed(*check_limits({"open_files": {"soft": -1, "hard": -1}, "inotify": None})) == []


@pytest.mark.skipif(os.name != "posix", reason="modes are Unix's")
def test_a_state_folder_that_others_may_enter_is_named(layout: Layout) -> None:
    assert failed(*check_permissions(layout, permissions(layout))) == []
    layout.state_dir.mkdir(mode=0o700)
    assert failed(*check_permissions(layout, permissions(layout))) == []
    layout.state_dir.chmod(0o755)
    (state,) = [check for check in check_permissions(layout, permissions(layout)) if not check.ok]
    assert (state.name, state.fix) == ("state folder", "chmod 700 .eva")


def test_a_folder_that_is_not_ones_own_is_named(layout: Layout) -> None:
    able = {"exists": True, "readable": True, "writable": True, "mode": "0700", "mine": True}
    no, none = {**able, "readable": False}, {**able, "writable": False}
    absent = {"exists": False, "readable": False, "writable": False, "mode": None, "mine": None}
    assert failed(*check_permissions(layout, {"workspace": no, "state": able})) == ["workspace"]
    assert failed(*check_permissions(layout, {"workspace": able, "state": none})) == ["state folder"]
    assert failed(*check_permissions(layout, {"workspace": none, "state": absent})) == ["state folder"]
    elsewhere = replace(layout, state_dir=Path("/elsewhere/kept"))
    told = check_permissions(elsewhere, {"workspace": able, "state": none})
    assert not any("elsewhere" in check.detail + check.fix for check in told)


def test_a_full_disk_is_named() -> None:
    assert failed(check_disk({"free_bytes": 1 << 20, "audit_bytes": 1 << 27})) == ["disk"]
    assert failed(check_disk({"free_bytes": 1 << 28, "audit_bytes": 1 << 27})) == []


def test_a_lock_of_another_machine_is_named() -> None:
    assert failed(check_lock(None), check_lock({"pid": 1, "host": socket.gethostname(), "listens": True})) == []
    assert failed(check_lock({"pid": 1, "host": "not-this-one", "listens": True})) == ["lock"]


def test_a_clock_that_went_back_is_told_by_what_was_written_before(layout: Layout) -> None:
    (layout.state_dir / "audit").mkdir(parents=True)
    log = layout.state_dir / "audit/audit-1.jsonl"
    log.touch()
    assert failed(check_clock(layout)) == []
    os.utime(log, (time.time() + 3600, time.time() + 3600))
    assert failed(check_clock(layout)) == ["clock"]


def test_what_is_missing_from_the_sandbox_is_named() -> None:
    assert failed(*check_sandbox({**FACTS, "worker": STARTED})) == []
    assert check_sandbox({**FACTS, "worker": STARTED})[1].detail == "resource limits, Landlock ABI 7, seccomp"
    old = check_sandbox({**FACTS, "landlock_abi": 0, "worker": STARTED})[1]
    assert (old.ok, old.detail) == (True, "resource limits, no Landlock, seccomp")
    bare = {**FACTS, "seccomp": False, "os_sandbox": False, "missing": ["seccomp"], "worker": STARTED}
    assert failed(*check_sandbox(bare)) == ["OS sandbox"]
    assert failed(*check_sandbox({**FACTS, "worker": {**STARTED, "started": False, "error": "no"}})) == [
        "worker processes"
    ]
    nothing = {**FACTS, "process": False, "os_sandbox": False, "missing": ["worker processes"], "worker": None}
    assert failed(*check_sandbox(nothing)) == ["worker processes"]
