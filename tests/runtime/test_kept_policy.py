"""A policy file that breaks lifts nothing: not while the runtime runs, and not at its next start."""

from __future__ import annotations

from pathlib import Path

import pytest

from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.lifecycle import State
from evatui.kernel.workspace.home import OperatorHome
from evatui.runtime import Runtime
from tests.runtime.conftest import call
from tests.support.workspaces import EVERYTHING, tool, write

OK = "function invoke(ctx, request) return {ok = true, result = {}} end"
DENIES = "version: 1\ndeny: {ids: [denied]}\nceilings: {timeout_ms: 40000}\n"
BROKEN = "grnts: []\n"
MINE, THEIRS = "capabilities/policies/mine.yaml", "capabilities/policies/theirs.yaml"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    write(root, {**tool("denied", OK), **tool("slow", OK, limits="{timeout_ms: 50000}"), **tool("free", OK)})
    return root


def state(runtime: Runtime, name: str) -> State:
    return runtime.registry.capabilities[name].state


async def once(root: Path, home: OperatorHome | None = None) -> None:
    await (await Runtime.open(root, home=home)).close()


@pytest.mark.parametrize("broken", [MINE, THEIRS])
async def test_what_was_denied_is_denied_at_the_next_start_too(start, workspace: Path, broken: str) -> None:
    """Also by a sound file, whose neighbour is the one that broke."""
    write(workspace, {MINE: DENIES, THEIRS: EVERYTHING})
    await once(workspace)
    with (workspace / broken).open("a") as file:
        file.write(BROKEN)
    runtime = await start()
    assert [state(runtime, name) for name in ("denied", "slow", "free")] == [
        State.REJECTED,
        State.REJECTED,
        State.ACTIVE,
    ]
    assert (await call(runtime, "test.denied", {})).response.error.kind is ErrorKind.NOT_FOUND


async def test_a_policy_that_was_repaired_is_the_one_of_the_disk(start, workspace: Path) -> None:
    write(workspace, {MINE: DENIES, THEIRS: EVERYTHING})
    await once(workspace)
    write(workspace, {MINE: DENIES.replace("denied", "free")})
    runtime = await start()
    assert (state(runtime, "denied"), state(runtime, "free")) == (State.ACTIVE, State.REJECTED)


async def test_the_policy_of_the_operator_is_kept_in_the_same_way(start, workspace: Path, tmp_path: Path) -> None:
    home = OperatorHome(tmp_path / "home")
    write(home.folder, {"policy.yaml": DENIES + "grants: [{match: {ids: ['*']}}]\n"})
    write(workspace, {MINE: EVERYTHING})
    await once(workspace, home)
    write(home.folder, {"policy.yaml": BROKEN})
    runtime = await start(home=home)
    assert state(runtime, "denied") is State.REJECTED
