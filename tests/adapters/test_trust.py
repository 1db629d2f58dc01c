"""What leads out waits for a person, and for the next start where it leads elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from evatui.kernel.workspace.home import OperatorHome
from evatui.runtime import Runtime
from tests.adapters.ground import ANN, Start, adapter, called, echoing, error, home
from tests.support.workspaces import save, write

__all__ = ["home"]

FILE = "capabilities/adapters/prog.yaml"


def text(command: str, more: str = "", names: str = "[test.out]", **fields: str) -> str:
    [found] = adapter("prog", "stdio", f"{{command: {command}{more}}}", names, **fields).values()
    return found


@pytest.fixture
def command(tmp_path: Path) -> str:
    return echoing(tmp_path, "'one'")


async def again(runtime: Runtime, workspace: Path, content: str) -> None:
    save(workspace, FILE, content)
    await runtime.reloader.run(actor=ANN, explicit=True)


async def test_an_adapter_is_held_until_the_workspace_is_trusted_with_it(
    start: Start, workspace: Path, home: OperatorHome, command: str
) -> None:
    write(workspace, {FILE: text(command)})
    runtime = await start(home=home)
    kind, message = error(await called(runtime))
    assert (kind, "EVA-707 the workspace is not trusted with the adapter prog" in message) == ("NotFound", True)
    assert [problem.code for problem in runtime.problems] == ["EVA-707"]
    [part] = [part for part in runtime.approvals.trusted()["parts"] if part["name"] == "adapter prog"]
    assert (part["status"], part["power"]["shell"]["commands"][0][-1]) == ("held", str(Path(command.split('"')[-2])))
    assert list(part["files"]) == [FILE]
    await runtime.approvals.trust(ANN)
    assert (await called(runtime)).response.result == "one"
    await runtime.approvals.distrust(ANN)
    assert error(await called(runtime))[0] == "NotFound"


async def test_another_command_waits_for_the_next_start_and_the_old_one_serves(
    start: Start, workspace: Path, tmp_path: Path, home: OperatorHome, command: str
) -> None:
    write(workspace, {FILE: text(command)})
    runtime = await start(home=home)
    await runtime.approvals.trust(ANN)
    deep = tmp_path / ("a" * 200)  # what changed is in sight all the same
    deep.mkdir()
    other = echoing(deep, "'two'", "other.py")
    await again(runtime, workspace, text(other))
    [problem] = runtime.problems
    assert (problem.code, problem.reason) == ("EVA-708", "restart_required")
    assert any("other.py" in note for note in problem.notes)
    assert (await called(runtime)).response.result == "one"
    (workspace / FILE).unlink()
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert error(await called(runtime))[0] == "NotFound"
    await again(runtime, workspace, text(other))  # to go and come back is no way round
    assert error(await called(runtime))[1].startswith("prog provides test.out, and does not serve: EVA-708")
    await runtime.approvals.trust(ANN)
    assert [held.waits_for for held in runtime.providers.held.values()] == ["restart"]
    await runtime.close()
    assert (await called(await start(home=home))).response.result == "two"


async def test_less_is_done_at_once_and_more_waits_for_trust(
    start: Start, workspace: Path, home: OperatorHome, command: str
) -> None:
    write(workspace, {FILE: text(command, names="[test.out, test.more]")})
    runtime = await start(home=home)
    await runtime.approvals.trust(ANN)
    await again(runtime, workspace, text(command, priority="70", limits="{concurrency: 1}"))
    assert runtime.problems == ()
    assert runtime.providers.serving["prog"].adapter.priority == 70
    assert error(await called(runtime, "test.more"))[0] == "NotFound"
    await again(runtime, workspace, text(command, names="[test.out, test.new]"))
    assert [problem.code for problem in runtime.problems] == ["EVA-707"]
    assert error(await called(runtime, "test.new"))[0] == "NotFound"
    assert (await called(runtime)).response.result == "one"
    await runtime.approvals.trust(ANN)
    assert (await called(runtime, "test.new")).response.result == "one"


async def test_a_secret_that_the_policy_gives_later_is_another_thing_to_trust(
    start: Start, workspace: Path, home: OperatorHome, command: str
) -> None:
    write(workspace, {FILE: text(command, ", env: [TOKEN]")})
    runtime = await start(home=home)
    await runtime.approvals.trust(ANN)
    assert "no credential TOKEN" in error(await called(runtime))[1]
    policy = workspace / "capabilities/policies/default.yaml"
    policy.write_text(policy.read_text() + "credentials: {TOKEN: {from: env, hosts: []}}\n")
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert [problem.code for problem in runtime.problems] == ["EVA-707"]
    assert error(await called(runtime))[0] == "NotFound"


async def test_deny_beats_trust(start: Start, workspace: Path, command: str) -> None:
    write(workspace, {FILE: text(command)})
    policy = workspace / "capabilities/policies/default.yaml"
    granted = policy.read_text()
    policy.write_text(granted + "deny: {ids: [prog]}\n")
    runtime = await start()
    assert "EVA-709" in error(await called(runtime))[1]
    policy.write_text(granted + "deny: {capabilities: [test.*]}\n")
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert error(await called(runtime)) == ("PolicyDenied", "the policy denies test.out")
    policy.write_text(granted)
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert (await called(runtime)).response.result == "one"


async def test_an_id_of_a_capability_is_none_for_an_adapter(start: Start, workspace: Path, command: str) -> None:
    write(workspace, {FILE: text(command).replace("id: prog", "id: Ask")})
    runtime = await start()
    assert [problem.code for problem in runtime.problems] == ["EVA-705"]


async def test_no_program_of_the_workspace_itself_is_started_and_no_secret_changes_what_runs(
    start: Start, workspace: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    inside = workspace / "bin.sh"
    inside.write_text("#!/bin/sh\n")
    inside.chmod(0o755)
    write(workspace, {FILE: text(f"[{inside}]")})
    runtime = await start()
    assert "it lies in the workspace" in error(await called(runtime))[1]
    await runtime.close()
    monkeypatch.setenv("LD_PRELOAD_X", "x")
    policy = workspace / "capabilities/policies/default.yaml"
    policy.write_text(policy.read_text() + "credentials: {LD_PRELOAD_X: {from: env, hosts: []}}\n")
    write(workspace, {FILE: text(command, ", env: [LD_PRELOAD_X]")})
    assert "it would change what runs" in error(await called(await start()))[1]
