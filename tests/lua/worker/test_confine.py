"""Each wall around a worker holds something back by itself, and all together leave it nothing to reach with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evatui.kernel.lua.worker.facts import sandbox_facts
from evatui.kernel.lua.worker.seccomp import program
from evatui.kernel.lua.worker.syscalls import ALLOWED, FATAL, MACHINES

if sys.platform != "linux":
    pytest.skip("these walls are Linux's", allow_module_level=True)

ATTEMPTS = Path(__file__).parent / "attempts.py"
HARMLESS = {"use memory", "ask for the time"}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """By wall and attempt: ``done``, or what became of it."""
    folder = tmp_path_factory.mktemp("attempts")
    command = [sys.executable, ATTEMPTS, folder / "written", folder / "deleted"]
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(command, env={"PYTHONPATH": paths}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, str]] = json.loads(done.stdout)
    return found


def done(outcomes: dict[str, str]) -> set[str]:
    return {attempt for attempt, outcome in outcomes.items() if outcome == "done"}


def test_everything_can_be_done_without_walls(outcomes: dict[str, dict[str, str]]) -> None:
    """So what is held back below is held back by a wall."""
    assert set(outcomes["none"]) - done(outcomes["none"]) <= {"trace", "take a new user namespace"}  # in a container


def test_limits_leave_no_descriptors_and_little_memory(outcomes: dict[str, dict[str, str]]) -> None:
    held = outcomes["limits"]
    assert {held[name] for name in ("read a file", "open a socket", "make a file of memory")} == {"EMFILE"}
    assert held["take a gigabyte"] == "ENOMEM"
    assert done(held) >= HARMLESS


@pytest.mark.skipif(sandbox_facts().landlock_abi == 0, reason="this kernel has no Landlock")
def test_landlock_leaves_no_files(outcomes: dict[str, dict[str, str]]) -> None:
    held = outcomes["landlock"]
    names = ("read a file", "write a file", "list a folder", "start a program")
    assert {held[name] for name in names} == {"EACCES"}
    if sandbox_facts().landlock_abi >= 6:
        assert held["signal its parent"] == "EPERM"
    assert done(held) >= HARMLESS


@pytest.mark.skipif(not sandbox_facts().seccomp, reason="this machine has no seccomp")
def test_seccomp_leaves_nothing_but_memory_and_time(outcomes: dict[str, dict[str, str]]) -> None:
    held = outcomes["seccomp"]
    assert done(held) == {*HARMLESS, "take a gigabyte"}
    fatal = ("open a socket", "start a program", "fork", "trace", "signal its parent", "signal itself")
    assert {held[name] for name in fatal} == {"SIGSYS"}
    assert {held[name] for name in ("read a file", "map executable memory", "make memory executable")} == {"EPERM"}


@pytest.mark.skipif(not sandbox_facts().os_sandbox, reason="this machine has no OS sandbox")
def test_all_walls_together_leave_only_what_is_harmless(outcomes: dict[str, dict[str, str]]) -> None:
    assert done(outcomes["all"]) == HARMLESS


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_each_machine_has_a_number_for_every_call_that_matters(name: str) -> None:
    machine = MACHINES[name]
    old = {"time", "fork", "vfork"}  # newer machines never had them
    assert {*ALLOWED, *FATAL} - set(machine.numbers) <= (old if name == "aarch64" else set())
    assert len(set(machine.numbers.values())) == len(machine.numbers)
    assert not set(machine.named(ALLOWED)) & set(machine.named(FATAL))
    assert len(program(machine)) % 8 == 0
    assert len(program(machine)) // 8 < 256  # jumps are a byte
