"""What a plugin reaches: its own folders, and a network only where its manifest asks for one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from evatui.adapters.plugin_work import confining
from evatui.kernel.lua.worker.facts import sandbox_facts
from tests.runtime.test_plugins import Start, answer
from tests.support.plugins import plugin

REACHING = """\
#!/usr/bin/env python3
import json, os, socket, sys
said, found = json.load(sys.stdin), {}

def tried(name, work):
    try:
        work()
        found[name] = "reached"
    except OSError as error:
        found[name] = "refused"

tried("tcp", lambda: socket.create_connection(("127.0.0.1", said["port"]), 30))
tried("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", said["port"])))
tried("bound", lambda: socket.socket().bind(("127.0.0.1", 0)))
tried("packets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
tried("socket", lambda: socket.socket(socket.AF_UNIX).connect(said["socket"]))
tried("pair", socket.socketpair)
tried("environment", lambda: open("/proc/%d/environ" % said["pid"]).read())
tried("memory", lambda: open("/proc/%d/mem" % said["pid"], "rb"))
tried("signal", lambda: os.kill(said["pid"], 0))
tried("device", lambda: os.mknod("device", 0o60600, os.makedev(1, 0)))
tried("terminal", lambda: open("/dev/tty"))
tried("another user", lambda: os.setuid(os.getuid() + 1000))
open_now = sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1]
print(json.dumps({"output": json.dumps([found, open_now, os.getcwd(), os.getsid(0) == os.getpid()])}))
"""
NO_NEW_PRIVILEGES = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""As the keeper of each command sees to."""
ALWAYS = ("packets", "socket", "environment", "memory", "signal", "device", "terminal", "another user")
NETWORK = ("tcp", "udp", "bound")
FACTS = sandbox_facts()


@pytest.mark.skipif(not FACTS.seccomp or FACTS.landlock_abi < 6, reason="this kernel has fewer walls to offer")
@pytest.mark.parametrize("network", [False, True], ids=["closed", "open"])
async def test_what_is_not_its_own_is_out_of_reach(
    start: Start, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: bool
) -> None:
    plugin(workspace, "wild", REACHING, requires_network=network)
    runtime = await start()
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket(socket.AF_UNIX) as serving:
        serving.bind("control")  # a long path would not fit
        serving.listen()
        place = {"port": listening.getsockname()[1], "socket": f"{tmp_path}/control", "pid": os.getpid()}
        done = await answer(runtime, "plugin.wild.go", place)
    found, descriptors, folder, leads = json.loads(done["output"])
    assert {name for name in ALWAYS if found[name] == "reached"} == set()
    assert {name for name in NETWORK if found[name] == "reached"} == (set(NETWORK) if network else set())
    assert found["pair"] == "reached"
    assert descriptors == [0, 1, 2]
    assert folder == str(workspace.resolve() / done["work_dir"])
    assert leads


@pytest.mark.skipif(FACTS.landlock_abi < 4, reason="this kernel's Landlock knows no network")
@pytest.mark.parametrize("network", [False, True], ids=["closed", "open"])
def test_landlock_closes_the_network_by_itself(tmp_path: Path, network: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        reach = f"import socket; socket.create_connection(('127.0.0.1', {listening.getsockname()[1]}), 30)"
        environ = {"PATH": os.environ["PATH"]}
        begin = confining(sys.executable, tmp_path, tmp_path, environ, tmp_path / "ws", network=network)
        alone = {**json.loads(begin[4]), "filter": ""}
        program = [*begin[:4], json.dumps(alone), *begin[5:], sys.executable, "-I", "-S", "-c", reach]
        argv = [sys.executable, "-I", "-S", "-c", NO_NEW_PRIVILEGES, *program]
        ran = subprocess.run(argv, capture_output=True, text=True)
    assert (ran.returncode == 0, "PermissionError" in ran.stderr) == (network, not network), ran.stderr


@pytest.mark.skipif(not FACTS.landlock_abi, reason="this kernel has no Landlock")
async def test_a_plugin_writes_and_reads_nowhere_but_in_its_own_folders(start: Start, workspace: Path) -> None:
    (workspace / "secret.txt").write_text("untouched")
    source = (
        f'cat {workspace}/secret.txt; echo x > {workspace}/secret.txt; echo x > "$(dirname $0)/more"; echo x > own; ls'
    )
    plugin(workspace, "wild", source)
    runtime = await start()
    found = await answer(runtime, "plugin.wild.go")
    assert found["output"].startswith("own\n")
    assert "untouched" not in found["output"]
    assert (workspace / "secret.txt").read_text() == "untouched"
    (copy,) = (workspace / ".eva/verified").iterdir()
    assert sorted(one.name for one in copy.iterdir()) == ["manifest.json", "wild"]
