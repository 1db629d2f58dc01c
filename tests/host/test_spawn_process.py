"""Starting commands: which, with what, and that nothing is left of them."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.model.permissions import Files, Permissions, Shell
from tests.host.ground import Ground

DENIED = ErrorKind.POLICY_DENIED
INVALID = ErrorKind.INVALID_INPUT
FAMILY = "sleep {0} & setsid sleep {0} & (setsid sh -c 'sleep {0} & sleep {0}' &) ; "
"""A child in the group, one that left it, and grandchildren that left their parent too."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="commands are started on Unix only")


def commands(*prefixes: Sequence[str]) -> Permissions:
    return Permissions(shell=Shell(tuple(map(tuple, prefixes))))


@pytest.fixture
def lab(ground: Ground) -> Ground:
    ground.permissions = commands(["sh", "-c"])
    return ground


@pytest.fixture
def nap() -> str:
    """A number of seconds that no other process sleeps."""
    return f"9{secrets.randbelow(10**8):08}"


def sleepers(nap: str) -> list[psutil.Process]:
    return [process for process in psutil.process_iter(["cmdline"]) if nap in " ".join(process.info["cmdline"] or ())]


async def run(ground: Ground, *argv: str, **more: Any) -> Any:
    return await ground.ask("spawn_process", {"argv": list(argv), **more})


async def refused(ground: Ground, *argv: Any, **more: Any) -> tuple[ErrorKind, str]:
    return await ground.refusal("spawn_process", {"argv": list(argv), **more})


async def test_a_command_is_run_in_the_workspace_and_answers(lab: Ground) -> None:
    found = await run(lab, "sh", "-c", 'cat; echo "é" "$0" "$@" >&2; pwd; exit 3', "a b", "$HOME;*", stdin="häh\n")
    assert found == {"code": 3, "stdout": f"häh\n{lab.root}\n", "stderr": "é a b $HOME;*\n"}


async def test_what_is_no_text_comes_back_as_a_sign(lab: Ground) -> None:
    assert (await run(lab, "sh", "-c", r"printf 'a\377b'"))["stdout"] == "a\ufffdb"


async def test_a_signal_is_a_code_as_shells_count_it(lab: Ground) -> None:
    assert (await run(lab, "sh", "-c", "kill -15 $$"))["code"] == 128 + 15


async def test_the_environment_is_clean_and_nothing_is_open(lab: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    monkeypatch.setenv("LD_PRELOAD", "")
    lab.permissions = commands(["env"], ["ls"])
    found = (await run(lab, "env"))["stdout"].split()
    assert sorted(line for line in found if not line.startswith("GIT_CONFIG_")) == [
        "LANG=C.UTF-8",
        "PATH=/usr/local/bin:/usr/bin:/bin",
    ]
    if Path("/proc/self/fd").exists():
        assert (await run(lab, "ls", "/proc/self/fd"))["stdout"].split() == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    "argv",
    [
        ["git"],
        ["git", "statusx"],
        ["git", "-c", "core.pager=sh", "status"],
        ["git status"],
        ["git", " status"],
        ["/usr/bin/git", "status"],
        ["./git", "status"],
        ["GIT", "status"],
        ["sh", "-c", "git status"],
        ["git", "Status"],
        ["git\u200b", "status"],
    ],
)
async def test_only_a_granted_beginning_is_run(ground: Ground, argv: list[str]) -> None:
    ground.permissions = commands(["git", "status"], [])
    kind, message = await refused(ground, *argv)
    assert kind is DENIED
    assert message.endswith("with these words is not granted: shell.commands does not cover it")
    assert ground.audit.tail(9) == []


async def test_without_a_grant_nothing_is_run(ground: Ground) -> None:
    assert (await refused(ground, "true"))[0] is DENIED


@pytest.mark.parametrize(
    ("argv", "kind", "message"),
    [
        ([], INVALID, "argv must be 1 to 256 texts"),
        (["sh", 1], INVALID, "argv must be a list of texts"),
        (["x"] * 257, INVALID, "argv must be 1 to 256 texts"),
        (["x" * 70_000], INVALID, "at most 65536 characters together"),
        (["sh", "a\0b"], INVALID, "no word of argv may hold a zero byte"),
        (["no-such-program"], ErrorKind.NOT_FOUND, "there is no program no-such-program"),
        (["bin/tool"], ErrorKind.NOT_FOUND, "there is no program bin/tool"),
        (["/etc/passwd"], ErrorKind.NOT_FOUND, "there is no program /etc/passwd"),
        (["/"], ErrorKind.NOT_FOUND, "there is no program /"),
        ([""], ErrorKind.NOT_FOUND, "there is no program"),
    ],
    ids=range(10),
)
async def test_what_cannot_be_run_is_a_clear_error(
    ground: Ground, argv: list[Any], kind: ErrorKind, message: str
) -> None:
    ground.permissions = commands(*[word[:1] for word in (argv,) if word and isinstance(word[0], str)])
    found, said = await refused(ground, *argv)
    assert (found, message in said) == (kind, True), said


async def test_a_program_of_the_workspace_is_refused(ground: Ground, tmp_path: Path) -> None:
    tool = ground.write("tool", "#!/bin/sh\necho made by a handler\n")
    tool.chmod(0o755)
    link = tmp_path / "link"
    link.symlink_to(tool)
    for path in (str(tool), str(link), f"{ground.root}/../project/tool"):
        ground.permissions = commands([path])
        with pytest.raises(CallFailed, match="is refused: it lies in the workspace"):
            await run(ground, path)


@pytest.mark.skipif(shutil.which("git", path="/usr/local/bin:/usr/bin:/bin") is None, reason="there is no git")
async def test_files_that_look_like_a_bare_repository_make_git_run_nothing(ground: Ground) -> None:
    ground.permissions = replace(commands(["git", "status"]), fs=Files(write=("workspace",)))
    settings = ("repositoryformatversion = 0", "bare = false", f"worktree = {ground.root}", 'fsmonitor = "touch made"')
    planted = {
        "HEAD": "ref: refs/heads/main\n",
        "config": "[core]\n" + "\n".join(settings),
    }
    for folder in ("refs", "objects"):
        (ground.root / folder).mkdir()
    for path, text in planted.items():
        await ground.ask("fs_write_text", {"path": path, "text": text})
    found = await run(ground, "git", "status")
    assert found["code"] == 128
    assert not (ground.root / "made").exists()


async def test_what_is_no_program_cannot_be_started(ground: Ground, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    ground.permissions = commands([str(broken)])
    kind, message = await refused(ground, str(broken))
    assert kind is ErrorKind.UNAVAILABLE
    assert "cannot be started: no such file or directory" in message


@pytest.mark.parametrize("script", ["yes", "yes >&2", "setsid yes & sleep 900"])
async def test_an_output_past_its_limit_ends_the_command(lab: Ground, nap: str, script: str) -> None:
    kind, message = await refused(lab, "sh", "-c", FAMILY.format(nap) + script)
    assert kind is ErrorKind.INPUT_TOO_LARGE
    assert "more than 1,048,576 bytes, and was ended" in message
    assert sleepers(nap) == []


async def test_a_command_need_not_read_what_it_is_given(lab: Ground) -> None:
    assert (await run(lab, "sh", "-c", "exec 0<&-; echo done", stdin="x" * 1_000_000))["stdout"] == "done\n"
    assert (await refused(lab, "sh", "-c", "cat", stdin="x" * 1_048_577))[0] is INVALID


async def test_nothing_outlives_the_command_that_started_it(lab: Ground, nap: str) -> None:
    found = await run(lab, "sh", "-c", FAMILY.format(nap) + "echo over")
    assert found == {"code": 0, "stdout": "over\n", "stderr": ""}
    assert sleepers(nap) == []


async def test_time_that_runs_out_ends_all_that_was_started(lab: Ground, nap: str) -> None:
    kind, message = await refused(lab, "sh", "-c", f"trap '' TERM; {FAMILY.format(nap)} sleep {nap}", timeout_ms=300)
    assert (kind, message) == (ErrorKind.TIMEOUT, "sh was ended: it took more than 300 ms")
    assert sleepers(nap) == []


async def test_what_stops_its_keeper_is_ended_all_the_same(lab: Ground, nap: str) -> None:
    script = f"(while :; do kill -STOP $PPID; sleep 0.05; done) & sleep {nap}"
    kind, _ = await refused(lab, "sh", "-c", f"{FAMILY.format(nap)} {script}", timeout_ms=300)
    assert kind is ErrorKind.TIMEOUT
    assert sleepers(nap) == []


@pytest.mark.skipif(sys.platform != "linux", reason="what outlives its keeper is found on Linux only")
@pytest.mark.parametrize("ending", ["kill -KILL $PPID; sleep {0}", "setsid sh -c 'kill -KILL '$PPID'; sleep {0}'"])
async def test_what_kills_its_keeper_is_ended_all_the_same(lab: Ground, nap: str, ending: str) -> None:
    bystander = subprocess.Popen(["sleep", "1000"])  # noqa: ASYNC220
    kind, message = await refused(lab, "sh", "-c", FAMILY.format(nap) + ending.format(nap))
    assert (kind, message) == (ErrorKind.HOST_ERROR, "sh was lost: nobody knows how it ended")
    assert sleepers(nap) == []
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


async def test_a_cancelled_command_is_ended_before_the_cancel_comes_back(lab: Ground, nap: str) -> None:
    bound = lab.bind()
    task = asyncio.ensure_future(bound("spawn_process", {"argv": ["sh", "-c", FAMILY.format(nap) + f"sleep {nap}"]}))
    while len(sleepers(nap)) < 6:
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sleepers(nap) == []
    assert bound.calls[0]["outcome"] == "Cancelled"


async def test_commands_that_are_cancelled_at_any_moment_leave_nothing_behind(lab: Ground, nap: str) -> None:
    argv = ["sh", "-c", FAMILY.format(nap) + f"sleep {nap}"]

    async def cancelled_after(seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await lab.bind()("spawn_process", {"argv": argv, "stdin": "x" * 200_000})

    await cancelled_after(0.01)
    opened = psutil.Process().num_fds()
    await asyncio.gather(*(cancelled_after(step / 50) for step in range(10)))
    assert sleepers(nap) == []
    assert psutil.Process().num_fds() <= opened


def test_a_command_does_not_outlive_the_runtime(tmp_path: Path, nap: str) -> None:
    source = (
        "import asyncio, pathlib, sys\n"
        "from evatui.adapters.process import Processes\n"
        "from evatui.kernel.host.ports import Command\n"
        "asyncio.run(Processes().run(Command(('sh', '-c', sys.argv[1]), b'', pathlib.Path(sys.argv[2]), 99)))\n"
    )
    argv = [sys.executable, "-c", source, FAMILY.format(nap) + f"sleep {nap}", str(tmp_path)]
    runtime = subprocess.Popen(argv, cwd=Path(__file__).parents[2])
    while len(sleepers(nap)) < 7:
        time.sleep(0.02)
    runtime.send_signal(signal.SIGKILL)
    runtime.wait()
    while sleepers(nap):
        time.sleep(0.02)


async def test_it_is_announced_before_it_runs_and_not_run_where_that_fails(lab: Ground) -> None:
    await run(lab, "sh", "-c", "true", "a b")
    (intent,) = lab.audit.tail(9)
    assert intent["host_calls"][0]["target"] == "sh -c true 'a b'"
    bound = lab.bind()
    lab.audit.close()
    with pytest.raises(CallFailed) as caught:
        await bound("spawn_process", {"argv": ["sh", "-c", "touch made"]})
    assert caught.value.error.kind is ErrorKind.AUDIT_UNAVAILABLE
    assert not (lab.root / "made").exists()


async def test_a_health_check_starts_nothing(lab: Ground) -> None:
    with pytest.raises(CallFailed, match="a health check may not change anything"):
        await lab.bind(effects=False)("spawn_process", {"argv": ["sh", "-c", "touch made"]})
    assert not (lab.root / "made").exists()
